package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// hostParts are the parts of a node that are about hosts and their keys.
type hostParts struct {
	directory  *directory
	reporter   *reporter
	questioner *questioner
	rotator    *rotator
	revoker    *revoker
	remover    *remover
}

// newHostParts gives each of them what it needs.
func (n *Node) newHostParts() (p hostParts) {
	p.directory = &directory{
		host: n.cfg.Alias, version: n.version, started: n.started, now: n.now, folded: n.folded, live: n.live, roster: &n.roster,
		bus: n.currentBus, meet: n.cfg.Bus.URL != "", served: func() []control.Agent { return n.serving.Views("") },
		waiting: func(s *fleet.State) map[string]int { return n.gatesWaiting(s) },
	}
	n.tracer = &tracer{
		host: n.cfg.Alias, folded: n.folded, now: n.now, log: n.log, views: n.views, record: n.record, directory: p.directory, asker: n.asker,
		trail: n.steps.trail, serving: n.serving,
	}
	p.reporter = &reporter{
		host: n.cfg.Alias, version: n.version, started: n.started, now: n.now, record: n.record, folded: n.folded, roster: &n.roster,
		bus: n.currentBus, resend: n.resender.resend, trace: n.tracer.answer,
	}
	p.questioner = &questioner{
		host: n.cfg.Alias, fleet: n.cfg.Fleet, version: n.version, now: n.now, folded: n.folded, directory: p.directory, hubs: n.hubs, asker: n.asker,
		bus: n.currentBus, natsBus: &n.natsBus, report: p.reporter.report,
	}
	p.revoker = &revoker{
		host: n.cfg.Alias, human: n.cfg.Human, limit: n.cfg.MessageLimit, folded: n.folded, views: n.views, own: n.own, act: n.decider.act,
	}
	p.remover = &remover{
		revoker: p.revoker, remote: n.cfg.Remote, record: n.record, folded: n.folded, live: n.live, lookout: n.lookout, own: n.own, log: n.log,
		act: n.decider.act, serving: n.serving,
	}
	p.rotator = &rotator{
		host: n.cfg.Alias, home: n.home, recordID: n.record.ID(), limit: n.cfg.MessageLimit, now: n.now, log: n.log, folded: n.folded, signsWith: &n.signsWith,
		own: n.own, presence: n.presence, notices: n.notices, bus: n.currentBus,
		write: func(ctx context.Context, draft fleet.Draft, next *homes.Key) ([]written, error) {
			return n.writer.rotate(ctx, draft, next)
		},
	}
	return p
}
