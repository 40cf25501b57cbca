package node

import (
	"errors"
	"log"
	"net"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/metrics"
)

// mostUnread is up to how many messages in an inbox are counted.
const mostUnread = 1000

type watched struct{ n *Node }

// serveMetrics serves metrics and health at the address that the operator set. It ends after all
// other parts but the control socket, so that a node can be watched while it drains.
func (n *Node) serveMetrics(down *teardown) error {
	if n.steps.Metrics == nil {
		return nil
	}
	l, err := net.Listen("tcp", n.cfg.Metrics)
	if err != nil {
		hint := "see metrics in " + n.home.Config()
		if try := homes.ListenHint(err, "metrics: "); try != "" {
			hint = try + "; " + hint
		}
		return control.Errorf(control.KindFailed, hint, "cannot serve metrics: %v", err)
	}
	n.metricsAt = "http://" + l.Addr().String() + "/metrics"
	down.push(n.steps.Metrics.Serve(l, log.New(n.log.With().Str("part", "metrics").Logger(), "", 0)))
	return nil
}

// Look implements metrics.Source.
func (w watched) Look() metrics.Snapshot {
	n := w.n
	r := n.record.Status()
	s := metrics.Snapshot{
		Refused: n.flaws.CountRefused(), Warnings: len(n.warnings()), Halted: len(w.halted()) > 0,
		Record: metrics.Record{
			Unrecorded: r.Unrecorded, Unpushed: r.Unpushed, StoreFails: r.StoreError != nil, CommitFails: r.CommitError != "",
			HasRemote: r.Remote != "", RemoteFails: r.Trouble.Kind != gitsync.KindNone, Pushes: r.Pushes, Rejected: r.Rejected,
			LastFetch: r.LastFetch, LastPush: r.LastPush, JournalBytes: r.JournalBytes, Packs: r.Packs,
		},
		Bus: w.bus(),
	}
	if !r.WaitingSince.IsZero() {
		s.Record.Lag = time.Since(r.WaitingSince)
	}
	s.Commands.Running, s.Commands.Waiting, s.Commands.Most = n.serving.Usage()
	s.Hosts = w.hosts()
	s.Agents = each.Of(n.roster.All(), w.agent)
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Messages = n.state.Ledger.Len()
	return s
}

func (w watched) bus() (s metrics.Bus) {
	s.Held, s.HeldDropped = w.n.held.Counts()
	s.Gaps, s.GapsClosed, s.GapsLeft = w.n.mender.Counts()
	b := w.n.currentBus()
	if b == nil {
		return s
	}
	offences := b.Offences()
	s.Dropped, s.Malformed, s.Refused = b.Dropped(), offences.Malformed, offences.Refused
	for _, l := range b.Links() {
		s.Links++
		if l.Up {
			s.LinksUp++
		}
	}
	return s
}

func (w watched) hosts() (all []metrics.Host) {
	n := w.n
	n.mu.Lock()
	for _, h := range n.state.Keys().Hosts() {
		if h.Alias != n.cfg.Alias {
			all = append(all, metrics.Host{Alias: h.Alias})
		}
	}
	n.mu.Unlock()
	linked := map[string]time.Duration{}
	if b := n.currentBus(); b != nil {
		for _, l := range b.Links() {
			if l.Up {
				linked[l.Host.String()] = l.RTT
			}
		}
	}
	for i := range all {
		h := &all[i]
		_, h.Live = n.live.PresenceOf(h.Alias)
		h.RTT, h.Linked = linked[h.Alias.String()]
	}
	return all
}

// agent returns what waits for an agent. It holds the state for one agent at a time.
func (w watched) agent(a configs.Agent) metrics.Agent {
	n := w.n
	s := metrics.Agent{Name: a.Name, Paused: a.Paused}
	var first time.Time
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Queued, s.Running, first = n.serving.Counts(a.Name)
	if a.Door == configs.DoorInbox {
		for it := range n.state.Talk.Inbox(fleet.Who{Name: a.Name.String(), Host: n.cfg.Alias}, false) {
			if s.Queued == 0 {
				first = it.Path.Time()
			}
			if s.Queued++; s.Queued == mostUnread {
				break
			}
		}
	}
	if !first.IsZero() {
		s.Oldest = max(0, n.now().Sub(first))
	}
	return s
}

// halted says why no agent is run; nil if agents are run.
func (w watched) halted() []string {
	why := w.n.halts.Reasons()
	switch {
	case w.n.lookout.Out.Load():
		why = append(why, "this host is to stay out of the fleet")
	case !w.n.lookout.MayRun():
		why = append(why, "it is looked whether another node has the name of this host")
	}
	return why
}

// Health implements metrics.Source. A node is down if it runs no agent or cannot store messages. It
// is degraded by failures that other hosts can make up for.
func (w watched) Health() (h metrics.Health) {
	r := w.n.record.Status()
	for _, why := range w.halted() {
		h.Down = append(h.Down, "no agent is run: "+why)
	}
	switch {
	case errors.Is(r.StoreError, syscall.ENOSPC):
		h.Down = append(h.Down, "messages cannot be stored: the disk is full")
	case r.StoreError != nil:
		h.Down = append(h.Down, "messages cannot be stored")
	}
	if r.CommitError != "" {
		h.Degraded = append(h.Degraded, "messages cannot be committed")
	}
	if r.Trouble.Kind != gitsync.KindNone {
		h.Degraded = append(h.Degraded, "the remote fails ("+string(r.Trouble.Kind)+")")
	}
	if b := w.bus(); b.Links > 0 && b.LinksUp == 0 {
		h.Degraded = append(h.Degraded, "no link to another host works")
	}
	return h
}
