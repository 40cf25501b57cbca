package node

import (
	"context"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A name belongs to one node. Two nodes with one name and key are a home that was
// copied, or a backup that was restored while the first one still runs; two with
// one name and different keys have joined without knowing of each other. In both
// cases the second says so and stays out: both would write the same host's chain.

// sawTwin is news by the bus of another node with this one's name and key: the one
// that was started later stays out.
func (n *Node) sawTwin(p bus.Presence) {
	n.mu.Lock()
	n.twin = n.now()
	n.mu.Unlock()
	if p.Since.Before(n.started) || p.Since.Equal(n.started) && p.Run < n.run {
		n.expel("another node with the name and key of this host runs %ssince %s",
			onMachine(p.Machine), p.Since.Format(shownTime))
		return
	}
	n.notices.wrong(aboutTwinThere, "another node with the name and key of this host was started %sat %s: it is told to stay out; %s",
		onMachine(p.Machine), p.Since.Format(shownTime), twinHint)
	n.announce()
}

const aboutTwinThere = "another node of this host on the bus"

// twinGone notes that a second node of this name is no longer heard.
func (n *Node) twinGone() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now().Sub(n.twin) >= presenceLasts {
		n.notices.mended(aboutTwinThere)
	}
}

const twinHint = "each machine needs a home and a name of its own: parley --home DIR join URL --alias NAME"

func onMachine(name string) string {
	if name == "" {
		return ""
	}
	return "on " + name + " "
}

// lookForTwin notices, by what came from others, that this host's name is used by
// another node: a new message that this node's key signed after its start, or a
// join with another key that was there first. Of two with one key the one whose
// first message is later stays out. The caller holds mu.
func (n *Node) lookForTwin(it *fleet.Item) {
	if it.Act == protocol.ActHostRevoke {
		n.leaveIfOut()
	}
	if it.Host != n.cfg.Alias {
		return
	}
	if h, ok := n.state.Host(n.cfg.Alias); ok && h.Key != n.ownKey().public {
		if n.state.KnowsKey(n.cfg.Alias, n.ownKey().public) {
			n.expel("the host %s has another key by now, %s, which this home does not have: it was changed by another node of this name", n.cfg.Alias, h.Key)
			return
		}
		n.expel("the name %s belongs to another host, which joined first with the key %s", n.cfg.Alias, h.Key)
		return
	}
	if it.Act == protocol.ActHostJoin && it.Key != n.ownKey().public {
		n.notices.happened("another machine joined as %s too, with the key %s: it is not let in; give it an --alias of its own", it.Host, it.Key)
		return
	}
	// By the bus twins tell each other who was first.
	met := !n.twin.IsZero() && n.now().Sub(n.twin) < presenceLasts
	if met || n.runs[it.Run] || n.state.Signature(it) != protocol.SignatureValid {
		return
	}
	n.lookout.noteForeign(it)
	if !it.Path.Time().After(n.started) {
		return
	}
	if theirs := n.firstOfRun(it); n.first.IsZero() || theirs.Compare(n.first) < 0 {
		n.expel("another node with the name and key of this host writes into the record (run %s, since %s)",
			it.Run, theirs.Time().Format(shownTime))
		return
	}
	if n.notices.once("twin "+it.Run, "another node with the name and key of this host writes into the record (run %s): stop it; %s", it.Run, twinHint) {
		nudge(n.answer)
	}
}

// answerTwin writes a message, by which the other node learns of this one.
func (n *Node) answerTwin(ctx context.Context) {
	if _, err := n.act(ctx, fleet.Join{Host: n.hostState(), Again: true}, protocol.Path{}); err != nil {
		n.log.Warn().Err(err).Msg("cannot tell the other node of this name to stay out")
	}
}

// firstOfRun is the first message, as far as it is known, of the run of this host
// that a message is of. All messages are looked at once for a run; what comes later
// is compared with that. The caller holds mu.
func (n *Node) firstOfRun(of *fleet.Item) protocol.Path {
	first, known := n.firsts[of.Run]
	if !known {
		first = of.Path
		for it := range n.state.All() {
			if it.Host == of.Host && it.Run == of.Run && it.Path.Compare(first) < 0 {
				first = it.Path
			}
		}
	}
	if of.Path.Compare(first) < 0 {
		first = of.Path
	}
	n.firsts[of.Run] = first
	return first
}

// wrote notes what this node itself has written.
func (n *Node) wrote(ws []written) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first.IsZero() {
		n.first = ws[0].message.Path
	}
	n.runs[ws[0].message.Run] = true
}

// expel ends the node: it must stay out of the fleet.
func (n *Node) expel(format string, args ...any) {
	n.stayOut(control.Errorf(control.KindConflict, twinHint, "this node stays out of the fleet: "+format, args...))
}

// stayOut ends the node for that reason. It runs no agent any more.
func (n *Node) stayOut(why *control.Error) {
	n.lookout.out.Store(true)
	select {
	case n.expelled <- why:
		n.log.Error().Msg(why.Error())
	default: // it ends already
	}
}
