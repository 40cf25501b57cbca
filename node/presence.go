package node

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/protocol"
)

// greetGap is the least time between telling that this host is there and telling it
// again because another one has come or asks for it: one host's letters must not have
// all the others speak to all again and again.
const greetGap = 250 * time.Millisecond

// presence tells the other hosts that this one is there, takes in what they say of
// themselves, and ranks those that push for each other. What is known of them is in live.
type presence struct {
	host    protocol.Name
	version string
	started time.Time
	start   uint64 // rises with every start
	now     func() time.Time
	log     zerolog.Logger
	greet   chan struct{} // holds a token when a host came: announce this one soon

	bus     func() *bus.Bus // nil where there is none
	live    *live
	lookout *lookout
	twins   *twins
	roster  *agents.Roster
	record  courier
	asker   *asker

	answerTwin func(context.Context) // writes a message, by which another node of this name learns of this one
}

// courier is the record as far as it matters to the other hosts: who can push does so
// for all of them, in turn.
type courier interface {
	CanPush() bool
	SetPlace(int)
}

// announceAlways tells the other hosts every few seconds, and whenever one has
// come, that this one is live.
func (pr *presence) announceAlways(ctx context.Context) {
	tick := time.NewTicker(presenceEvery)
	defer tick.Stop()
	for {
		pr.announce()
		spoke := time.Now()
		pr.takePlace() // hosts that were not heard of for a while are gone
		pr.twins.lookAway()
		select {
		case <-tick.C:
		case <-pr.greet:
			wait.Sleep(ctx, greetGap-time.Since(spoke))
		case <-pr.twins.answer:
			pr.answerTwin(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (pr *presence) announce() { pr.announceAs(true) }

func (pr *presence) leave() { pr.announceAs(false) }

func (pr *presence) announceAs(live bool) {
	b := pr.bus()
	if b == nil {
		return
	}
	p := bus.Presence{
		Host: pr.host, Live: live, Since: pr.started, Version: pr.version, Agents: []string{},
		Pushes: pr.record.CanPush(), Run: pr.twins.run, Machine: whereabouts.Hostname(), Start: pr.start,
		Wants: pr.live.takeMissing(), Lost: pr.live.takeLost(),
	}
	for _, name := range pr.roster.Names() {
		p.Agents = append(p.Agents, name.String())
	}
	if err := b.Announce(p); err != nil {
		pr.log.Debug().Err(err).Msg("cannot announce this host")
	}
}

// sawHost is the bus's news of a host that came, is there or leaves.
func (pr *presence) sawHost(p bus.Presence) {
	if p.Host == pr.host {
		if pr.twins.met(p) {
			pr.announce()
		}
		return
	}
	if p.Live {
		pr.lookout.answered.happened()
	}
	if pr.live.believes(p) {
		pr.takePresence(p)
	} else {
		pr.confirm(p)
	}
}

func (pr *presence) takePresence(p bus.Presence) {
	pr.wanted(p)
	pr.lostBehind(p)
	if pr.live.see(p) {
		wait.Nudge(pr.greet) // it does not know of this host yet
	}
	pr.takePlace()
}

// takePlace ranks this host among those that push for each other: who can push and
// is connected, by alias. Who cannot push comes after them; who is alone pushes
// for itself.
func (pr *presence) takePlace() {
	present := pr.live.present()
	if len(present) == 0 || !pr.hasLink() {
		pr.record.SetPlace(0)
		return
	}
	pr.record.SetPlace(courierPlace(pr.host, pr.record.CanPush(), present))
}

// hasLink reports whether this host has any link to others. Without one nobody can
// hear what it has stored, though some count as connected for a while.
func (pr *presence) hasLink() bool {
	b := pr.bus()
	return b != nil && b.Linked()
}

// pusher is the host that pushes for all, where this one has a place among those that
// do; "" where each pushes for itself.
func (pr *presence) pusher(place int) (first protocol.Name) {
	if place == 0 {
		return ""
	}
	if pr.record.CanPush() {
		first = pr.host
	}
	for _, p := range pr.live.present() {
		if p.Pushes && (first == "" || p.Host < first) {
			first = p.Host
		}
	}
	return first
}

func courierPlace(me protocol.Name, able bool, others []bus.Presence) int {
	place, couriers := 1, 0
	for _, p := range others {
		if !p.Pushes {
			continue
		}
		couriers++
		if !able || p.Host < me {
			place++
		}
	}
	if !able && couriers == 0 {
		return 0
	}
	return place
}
