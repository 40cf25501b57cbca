package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// greetGap is the least time between telling that this host is there and telling it
// again because another one has come or asks for it: one host's letters must not have
// all the others speak to all again and again.
const greetGap = 250 * time.Millisecond

// announceAlways tells the other hosts every few seconds, and whenever one has
// come, that this one is live.
func (n *Node) announceAlways(ctx context.Context) {
	tick := time.NewTicker(presenceEvery)
	defer tick.Stop()
	for {
		n.announce()
		spoke := time.Now()
		n.takePlace() // hosts that were not heard of for a while are gone
		n.twins.lookAway()
		select {
		case <-tick.C:
		case <-n.greet:
			sleep(ctx, greetGap-time.Since(spoke))
		case <-n.twins.answer:
			n.answerTwin(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// answerTwin writes a message, by which the other node of this name learns of this one.
func (n *Node) answerTwin(ctx context.Context) {
	if _, err := n.act(ctx, fleet.Join{Host: n.hostState(), Again: true}, protocol.Path{}); err != nil {
		n.log.Warn().Err(err).Msg("cannot tell the other node of this name to stay out")
	}
}

func (n *Node) announce() { n.announceAs(true) }

func (n *Node) leave() { n.announceAs(false) }

func (n *Node) announceAs(live bool) {
	b := n.currentBus()
	if b == nil {
		return
	}
	p := bus.Presence{
		Host: n.cfg.Alias, Live: live, Since: n.started, Version: n.version, Agents: []string{},
		Pushes: n.record.CanPush(), Run: n.twins.run, Machine: hostname(), Start: n.start,
		Wants: n.live.takeMissing(), Lost: n.live.takeLost(),
	}
	for _, name := range n.roster.names() {
		p.Agents = append(p.Agents, name.String())
	}
	if err := b.Announce(p); err != nil {
		n.log.Debug().Err(err).Msg("cannot announce this host")
	}
}

// sawHost is the bus's news of a host that came, is there or leaves.
func (n *Node) sawHost(p bus.Presence) {
	if p.Host == n.cfg.Alias {
		if n.twins.met(p) {
			n.announce()
		}
		return
	}
	if p.Live {
		n.lookout.answered.happened()
	}
	if n.live.believes(p) {
		n.takePresence(p)
	} else {
		n.confirm(p)
	}
}

func (n *Node) takePresence(p bus.Presence) {
	n.wanted(p)
	n.lostBehind(p)
	if n.live.see(p) {
		nudge(n.greet) // it does not know of this host yet
	}
	n.takePlace()
}

// takePlace ranks this host among those that push for each other: who can push and
// is connected, by alias. Who cannot push comes after them; who is alone pushes
// for itself.
func (n *Node) takePlace() {
	present := n.live.present()
	if len(present) == 0 || !n.hasLink() {
		n.record.SetPlace(0)
		return
	}
	n.record.SetPlace(courierPlace(n.cfg.Alias, n.record.CanPush(), present))
}

// hasLink reports whether this host has any link to others. Without one nobody can
// hear what it has stored, though some count as connected for a while.
func (n *Node) hasLink() bool {
	b := n.currentBus()
	return b != nil && b.Linked()
}

// pusher is the host that pushes for all, where this one has a place among those that
// do; "" where each pushes for itself.
func (n *Node) pusher(place int) (first protocol.Name) {
	if place == 0 {
		return ""
	}
	if n.record.CanPush() {
		first = n.cfg.Alias
	}
	for _, p := range n.live.present() {
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
