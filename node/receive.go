package node

import (
	"context"
	"errors"
	"slices"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// way is how letters of other hosts come in.
type way int

const (
	byBus way = iota // they are fsynced here, then acknowledged
	byGit            // they are in a durable commit already
)

func (w way) String() string {
	if w == byGit {
		return "git"
	}
	return "bus"
}

// Receive is the one way in for what other hosts and plain git wrote. A message
// is known by its path and its bytes; a second arrival is nothing. What is no
// message, or bears a wrong signature, is warned about once and goes no further.
func (n *Node) Receive(letters []gitsync.Letter, by way) {
	for _, l := range letters {
		n.log.Trace().Stringer("path", l.Path).Stringer("by", by).Msg("came in")
	}
	fresh, arrived := n.check(letters, by)
	if by == byBus && len(fresh) > 0 {
		n.storing.RLock()
		defer n.storing.RUnlock()
		if err := n.record.Append(context.Background(), fresh); err != nil {
			n.log.Error().Err(err).Int("messages", len(fresh)).Msg("cannot store what other hosts said; git will bring it again")
			return
		}
	}
	n.takeIn(arrived)
	if by == byBus {
		n.acknowledge(letters)
	}
}

// check keeps the letters that are messages this node does not have, and examines
// them for takeIn. Signatures are checked before the state is locked.
func (n *Node) check(letters []gitsync.Letter, by way) (fresh []gitsync.Letter, arrived []written) {
	examined := make([]fleet.Examined, len(letters))
	for i, l := range letters {
		examined[i] = n.state.Examine(l.Path, l.Data)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, l := range letters {
		err := n.state.Check(examined[i])
		switch {
		case err == nil:
			fresh = append(fresh, l)
			arrived = append(arrived, written{message: &protocol.Message{Path: l.Path}, examined: examined[i], data: l.Data})
		case !errors.Is(err, fleet.ErrKnown):
			n.complain(l.Path, err, by == byGit)
		}
	}
	return fresh, arrived
}

// heardOnBus is the bus's door. A host passes on only what it signed itself; a
// message of a host whose key is unknown waits for git to bring its join.
func (n *Node) heardOnBus(batch []bus.Incoming) {
	var letters []gitsync.Letter
	for _, in := range batch {
		if len(in.Data) > n.cfg.MessageLimit {
			n.log.Warn().Stringer("path", in.Path).Int("bytes", len(in.Data)).Msg("message over the limit ignored on the bus")
			continue
		}
		m, err := protocol.Decode(in.Path, in.Data)
		if err != nil || m.Host != in.Sender || !n.hasKey(m.Host, m.Key) {
			n.log.Debug().Stringer("path", in.Path).Stringer("host", in.Sender).Msg("not signed by a known key: left to git")
			n.record.Ring()
			continue
		}
		letters = append(letters, gitsync.Letter{Path: in.Path, Data: in.Data, Peer: true})
	}
	if len(letters) > 0 {
		n.Receive(letters, byBus)
	}
}

func (n *Node) hasKey(host protocol.Name, key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.state.Host(host)
	return ok && h.Key == key
}

// arrived is git's door.
func (n *Node) arrived(letters []gitsync.Letter) { n.Receive(letters, byGit) }

// publish takes in what the writer has stored and tells the other hosts.
func (n *Node) publish(ws []written) {
	n.wrote(ws)
	for i := range ws {
		ws[i].examined = n.state.Examine(ws[i].message.Path, ws[i].data)
	}
	n.takeIn(ws)
	if b := n.currentBus(); b != nil {
		for _, w := range ws {
			if err := b.Publish(w.message, w.data); errors.Is(err, bus.ErrNotConnected) {
				n.log.Debug().Stringer("path", w.message.Path).Msg("the bus is away; git will carry it")
			} else if err != nil {
				n.log.Warn().Err(err).Stringer("path", w.message.Path).Msg("cannot publish; git will carry it")
			}
		}
	}
}

// takeIn takes durable messages that were examined into the state and brings each to the doors and
// to whoever follows.
func (n *Node) takeIn(ws []written) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range ws {
		it, err := n.state.Take(ws[i].examined)
		for _, turned := range n.state.Turned() {
			n.show(turned, func() (*protocol.Message, error) { return n.loadItem(turned) })
		}
		if err != nil {
			continue // known meanwhile by the other door
		}
		ws[i].item = it
		n.lookForTwin(it)
		n.warnBusyDay(it.Path)
		data := ws[i].data
		n.show(it, func() (*protocol.Message, error) { return protocol.Decode(it.Path, data) })
	}
}

// busyDay is how many messages of one channel and day hosted remotes take well:
// each new one is a new version of that day's list of files.
const busyDay = 3000

// warnBusyDay warns once when a channel's day has got too many messages. The caller
// holds mu.
func (n *Node) warnBusyDay(p protocol.Path) {
	if day := p.DayDir(); n.state.SameDay(p) > busyDay && !n.warned[day] {
		n.warned[day] = true
		n.notice("%s has more than %d messages: hosted remotes become slow there; use sub-channels (parley channel new)", day, busyDay)
	}
}

// show brings a message that is new at its path to the doors, to the search index
// and to whoever follows. The caller holds mu.
func (n *Node) show(it *fleet.Item, load func() (*protocol.Message, error)) {
	n.bring(it)
	n.indexer.add(it, load)
	for f := range n.feeds {
		f.add(it.Path)
	}
}

// acknowledge tells the other hosts what is fsynced here: at once where an
// agent or human of this host is addressed, else together with what comes in
// the next moment.
func (n *Node) acknowledge(letters []gitsync.Letter) {
	var now, later []protocol.Path
	n.mu.Lock()
	for _, l := range letters {
		it, ok := n.state.Item(l.Path)
		if !ok {
			continue
		}
		if n.concerns(it) {
			now = append(now, l.Path)
		} else {
			later = append(later, l.Path)
		}
	}
	n.mu.Unlock()
	n.live.heardLater(later, n.publishHeard)
	n.publishHeard(now)
}

// concerns reports whether someone here is addressed. The caller holds mu.
func (n *Node) concerns(it *fleet.Item) bool {
	if n.state.Reaches(it, n.me(n.cfg.Human.String())) {
		return true
	}
	return slices.ContainsFunc(n.agents, func(a configs.Agent) bool { return n.state.Reaches(it, n.me(a.Name.String())) })
}

func (n *Node) publishHeard(paths []protocol.Path) {
	b := n.currentBus()
	if b == nil || len(paths) == 0 {
		return
	}
	if err := b.PublishHeard(paths); err != nil {
		n.log.Debug().Err(err).Msg("cannot tell that messages were heard")
	}
}

// recorded and pushed are the record's news of messages.
func (n *Node) recorded(paths []protocol.Path) { n.live.changed(paths) }

func (n *Node) pushed(paths []protocol.Path) { n.live.changed(paths) }

// remoteTrouble has the couriers ranked anew, here and on the other hosts: the
// remote can be used, or it cannot.
func (n *Node) remoteTrouble(gitsync.Trouble) {
	n.takePlace()
	n.announce()
}

// recordNotice shows what the record has to say to the operator.
func (n *Node) recordNotice(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.notices, text) {
		n.notice("%s", text)
	}
}

// remoteMoved tells the other hosts that there is something new to fetch.
func (n *Node) remoteMoved() {
	if b := n.currentBus(); b != nil {
		if err := b.Ring(); err != nil {
			n.log.Debug().Err(err).Msg("cannot ring the bell")
		}
	}
}
