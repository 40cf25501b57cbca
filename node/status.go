package node

import (
	"cmp"
	"context"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/record"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Status answers control.ShowStatus.
func (n *Node) Status(_ context.Context, by control.Caller) (control.Status, error) {
	r := n.record.Status()
	s := control.Status{
		Version: n.version, API: control.API, Fleet: n.cfg.Fleet, Host: n.cfg.Alias, Human: n.cfg.Human,
		Home: n.home.Dir, PID: os.Getpid(), Since: n.started, Unwatched: !n.callers.Watches(),
		Record: control.RecordStatus{
			ID: n.record.ID(), Tip: r.Tip, Remote: r.Remote, RemoteError: r.Trouble.Text, Trouble: troubleView(r),
			Courier: r.Place, Pusher: n.presence.Pusher(r.Place),
			Unrecorded: r.Unrecorded, Withheld: append([]protocol.Path{}, r.Withheld...), CommitError: r.CommitError, Unpushed: r.Unpushed, LastFetch: r.LastFetch, LastPush: r.LastPush,
			Pushes: r.Pushes, Rejected: r.Rejected, Arriving: r.Arriving, Arrived: r.Arrived,
		},
		Bus:   n.busStatus(),
		Hosts: n.hosts.Directory.Status(),
	}
	if n.carrying.isCarrier.Load() {
		s.Record.Remote = homes.CarriedBy(n.cfg.Alias)
	}
	s.Commands.Running, s.Commands.Waiting, s.Commands.Most = n.serving.Usage()
	if r.StoreError != nil {
		s.Record.StoreError, s.Record.StoreAdvice = r.StoreError.Error(), writing.DiskHint(r.StoreError)
	}
	s.Causes, s.Metrics = n.warned(), n.metricsAt
	s.Warned = textsOf(s.Causes)
	n.folded(func(state *fleet.State) {
		s.Speaker = n.actors.Speaker(by)
		s.Record.Messages = state.Ledger.Len()
		s.Gates = n.gatesWaiting(state)[n.cfg.Human.String()+"@"+n.cfg.Alias.String()]
		s.Refused = n.flaws.CountRefused()
		s.Flags = record.Flags(state, n.flaws.List())
	})
	s.Agents, s.Passed = n.serving.Views(""), []string{}
	for _, a := range n.roster.All() {
		if len(s.Passed) == 0 {
			s.Passed = agents.Passed(a)
		}
	}
	return s, nil
}

// Whoami answers control.Whoami.
func (n *Node) Whoami(_ context.Context, by control.Caller) (control.Self, error) {
	return control.Self{
		Name: n.actors.Speaker(by), Agent: by.Kind == control.ByAgent, How: by.How, Host: n.cfg.Alias, Human: n.cfg.Human, Fleet: n.cfg.Fleet,
	}, nil
}

// warnings are what an operator should know, each in a sentence.
func (n *Node) warnings() []string { return textsOf(n.warned()) }

// textsOf are warnings as sentences.
func textsOf(all []causes.Found) []string {
	return each.Of(all, func(w causes.Found) string { return cmp.Or(w.Reason, w.Verdict) })
}

// warned are the warnings of a status, as causes.
func (n *Node) warned() (all []causes.Found) {
	add := func(id causes.ID, texts ...string) {
		for _, text := range texts {
			f := causes.Of(id, causes.Facts{Here: n.cfg.Alias, Text: text})
			if f.Reason = text; f.Verdict == text {
				f.Reason = ""
			}
			all = append(all, f)
		}
	}
	add(causes.RecordLost, n.halts.Damage(n.record.Shared())...)
	add(causes.Warned, slices.Concat(n.hosts.Hubs.Unknown(), n.notices.Texts(), n.serving.Warnings())...)
	add(causes.ClocksDiffer, n.live.ClockWarnings()...)
	if open := n.home.OpenToOthers(); open != "" {
		add(causes.HomeOpen, open)
	}
	if gone := n.home.KeyGone(); gone != "" {
		add(causes.KeyMissing, gone)
	}
	cfg, err := configs.Load(n.home.Config())
	cfg.Alias = cmp.Or(cfg.Alias, n.cfg.Alias)
	runs := n.cfg
	n.hosts.Links.Kept(&runs)
	if n.carrying.isCarrier.Load() {
		runs.Remote = homes.CarriedBy(n.cfg.Alias)
	}
	switch {
	case err != nil:
		add(causes.ConfigWrong, "the node could not be started again: "+err.Error())
	case !reflect.DeepEqual(cfg, runs):
		add(causes.ConfigChanged, "config.yaml says something else than what the node runs with; its next start takes that in: parley restart")
	}
	return all
}

// troubleView says what keeps the record from its remote; nil if nothing does.
func troubleView(r gitsync.Status) *control.Trouble {
	if r.Trouble.Kind == gitsync.KindNone {
		return nil
	}
	t := &control.Trouble{
		Kind: string(r.Trouble.Kind), Text: r.Trouble.Text, Pushing: r.Trouble.Pushing,
		Since: r.Trouble.Since, Next: r.Trouble.Next, Waiting: r.Unrecorded + r.Unpushed,
		Advice: r.Trouble.Advice,
	}
	if t.Pushing && t.Waiting == 0 {
		t.Next = time.Time{} // other hosts pushed everything: the next message decides
	}
	return t
}

func (n *Node) busStatus() control.BusStatus {
	b := n.currentBus()
	if b == nil {
		return control.BusStatus{}
	}
	at, offences := b.Addresses(), b.Offences()
	s := control.BusStatus{Clients: at.Clients, Links: at.Links, Advertised: at.Advertised, Dropped: b.Dropped(),
		Unreadable: offences.Malformed, Letters: offences.Refused, Letter: offences.Last, Offended: offences.At, Refused: n.refusals.List()}
	s.Held, s.HeldDropped = n.held.Counts()
	if system := n.natsBus.Load(); system != nil {
		s.URL, s.Context, s.As = redact.URLs(system.URL), system.Context, system.As()
	}
	s.Gaps, _, s.GapsLeft = n.mender.Counts()
	for _, l := range b.Links() {
		s.Peers = append(s.Peers, linkView(l))
	}
	return s
}

func linkView(l bus.Link) control.LinkStatus {
	return control.LinkStatus{
		Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, Connecting: l.Young, RTT: control.Seconds(l.RTT), Problem: l.Problem}
}
