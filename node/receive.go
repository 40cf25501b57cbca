package node

import (
	"context"
	"errors"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/catchup"
	"github.com/parleyfleet/parley/node/hosts"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/record"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// way is how messages of other hosts come in.
type way int

const (
	byBus   way = iota // they are fsynced here, then acknowledged
	byGit              // they are in a durable commit already
	byIssue            // this node read them in comments on an issue: they are fsynced here
)

func (w way) String() string { return [...]string{"bus", "git", "issue"}[w] }

// Receive is the only way in for what other hosts and plain git wrote. A message is known by its
// path and its bytes. If it comes a second time, nothing happens. A file that is no message, or has
// a wrong signature, is warned about once and goes no further.
func (n *Node) Receive(messages []gitsync.MessageFile, by way) {
	examined := make([]fleet.Examined, len(messages))
	for i, l := range messages {
		n.traceEntry(l.Path, by)
		examined[i] = n.state.Examine(l.Path, l.Data)
	}
	n.receive(messages, examined, by)
}

// traceEntry logs, for measurements, when a message of another host came in.
func (n *Node) traceEntry(p protocol.Path, by way) {
	n.log.Trace().Stringer("path", p).Stringer("by", by).Msg("came in")
}

// receive is Receive for messages that were already examined. Examining takes most of the time, so
// it is done before the state is locked.
func (n *Node) receive(messages []gitsync.MessageFile, examined []fleet.Examined, by way) (count int) {
	fresh, arrived := n.check(messages, examined, by)
	if by != byGit && len(fresh) > 0 {
		n.storing.RLock()
		defer n.storing.RUnlock()
		if err := n.record.Append(context.Background(), fresh); err != nil {
			n.log.Error().Err(err).Int("messages", len(fresh)).Msg("cannot store what others said; it will come again")
			return 0
		}
	}
	n.steps.Came(fresh, metrics.Way(by.String()))
	n.takeIn(arrived)
	switch by {
	case byBus:
		n.hearing.Tell(messages)
	case byGit:
		n.brought.Add(int64(len(fresh)))
	}
	return len(fresh)
}

// mail takes in a message of somebody who has no host, and signs nothing: it is unverified mail.
func (n *Node) mail(m *protocol.Message) error {
	data, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	n.Receive([]gitsync.MessageFile{{Path: m.Path, Data: data}}, byIssue)
	return nil
}

// check returns the files that are messages and that this node does not have yet.
func (n *Node) check(messages []gitsync.MessageFile, examined []fleet.Examined, by way) (fresh []gitsync.MessageFile, arrived []writing.Written) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, l := range messages {
		err := n.state.Check(examined[i])
		switch {
		case err == nil:
			fresh = append(fresh, l)
			arrived = append(arrived, writing.Written{Message: &protocol.Message{Path: l.Path}, Examined: examined[i], Data: l.Data})
		case !errors.Is(err, fleet.ErrKnown):
			n.flaws.Complain(l, err, by == byGit)
		}
	}
	return fresh, arrived
}

func (n *Node) arrived(messages []gitsync.MessageFile) { n.Receive(messages, byGit) }

// arriving has the doors wait while the content of one fetch is taken in, part by part: a later
// part may hold receipts for messages of an earlier one.
func (n *Node) arriving(more bool) {
	n.halts.Comes(more)
	if !more {
		n.goOn()
	}
}

// goOn has everything looked at again that waits while no command may run. It is called whenever
// such a time ends: what came meanwhile was left out, and nothing else tells of it.
func (n *Node) goOn() {
	if n.inquiries == nil {
		return // the record is opened before agents are served
	}
	n.serving.Nudge()
	n.serving.Look()
	n.inquiries.Look()
}

// publish takes in what the writer has stored, and tells the other hosts.
func (n *Node) publish(ws []writing.Written) {
	n.twins.Wrote(ws[0].Message)
	n.steps.Wrote(ws)
	defer n.mender.Wrote()
	n.takeIn(ws)
	if b := n.currentBus(); b != nil {
		for _, w := range ws {
			if err := b.Publish(w.Message, w.Data); errors.Is(err, bus.ErrNotConnected) {
				n.log.Debug().Stringer("path", w.Message.Path).Msg("the bus is away; git will carry it")
			} else if err != nil {
				n.log.Warn().Err(err).Stringer("path", w.Message.Path).Msg("cannot publish; git will carry it")
			}
		}
	}
}

// takeIn takes durable messages that were examined into the state. It brings each of them to the
// doors and to all followers. It asks for what is found missing.
func (n *Node) takeIn(ws []writing.Written) {
	n.mender.Missed(n.takeEach(ws))
}

// takeEach does that for takeIn while it holds mu. It returns what is missing in the chains.
func (n *Node) takeEach(ws []writing.Written) (holes []catchup.Missing) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ends := map[protocol.Name]catchup.End{} // where each chain ended before
	for i := range ws {
		if host := ws[i].Examined.Host(); ends[host].Path.IsZero() {
			ends[host] = catchup.EndOf(n.state, host)
		}
	}
	examined := each.Of(ws, func(w writing.Written) fleet.Examined { return w.Examined })
	version := n.state.Keys().Version()
	taken := n.state.TakeAll(examined)
	if n.state.Keys().Version() != version {
		n.entry.KeysMoved()
	}
	known := map[*fleet.Item]bool{}
	for _, it := range taken {
		known[it] = true
	}
	for _, turned := range n.state.Ledger.Changes().Came {
		if !known[turned] { // a host's key came: this message had lost its path and has won it now
			n.show(turned)
		}
	}
	for i, it := range taken {
		if it == nil {
			continue // it came meanwhile by the other way
		}
		before := ends[it.Host]
		if ends[it.Host].Path.Compare(it.Path) < 0 {
			ends[it.Host] = catchup.EndAt(&it.File)
		}
		ws[i].Item = it
		holes = append(holes, n.taken(it, before)...)
		n.show(it)
	}
	return holes
}

// taken draws the consequences of a new message for this host, and returns what is found missing
// because of it: the gap before it in its host's chain and, after a revocation, messages that the
// revocation leaves in and that are not here. `before` is where the chain of its host ended before
// the message came. The caller holds mu.
func (n *Node) taken(it *fleet.Item, before catchup.End) (holes []catchup.Missing) {
	if it.Act == protocol.ActHostRevoke {
		if why := hosts.OutOfFleet(n.state, n.cfg.Alias); why != nil {
			n.twins.StayOut(why)
		}
	}
	n.twins.Look(it, n.state, n.state.Ledger.All(), n.signsWith.Load().Public)
	n.presence.Missed(it)
	if it.Act == protocol.ActPolicy {
		n.presence.AnnounceSoon() // this host may lack what it names
	}
	if it.Act == protocol.ActRedact {
		n.talk.Redactor.Came()
	}
	record.WarnOfKey(n.state, it, n.notices)
	n.warnBusyDay(it.Path)
	if it.Path.Channel() == n.system {
		n.entry.KeysMoved()
		n.hosts.Moved()
		if it.Host != n.cfg.Alias {
			n.serving.RosterMoved()
		}
		if h, joined := n.state.Keys().Host(it.Host); joined {
			n.books.SayUnread(h)
		}
	}
	if it.Act == protocol.ActHostRevoke {
		holes = n.mender.Awaited(n.state)
	}
	if m, ok := n.mender.GapBefore(n.state, it, before); ok {
		holes = append(holes, m)
	}
	return holes
}

// busyDay is how many messages of one channel and day hosted remotes can take well: each new
// message makes a new version of that day's list of files.
const busyDay = 3000

// warnBusyDay warns once if a channel has got too many messages on a day. The caller holds mu.
func (n *Node) warnBusyDay(p protocol.Path) {
	if day := p.DayDir(); n.state.Ledger.SameDay(p) > busyDay {
		n.notices.Once(day, "%s has more than %d messages: hosted remotes become slow there; use sub-channels (parley channel new)", day, busyDay)
	}
}

// show brings a message that is new at its path to the doors, to the search index, and to all
// followers. The caller holds mu.
func (n *Node) show(it *fleet.Item) {
	n.serving.Bring(n.state, it)
	n.talk.Indexer.Add(it)
	n.messages.Add(it.Path)
	n.events.Came(it.Path)
}
