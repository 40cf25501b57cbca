package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// doorPortion is how many messages that queued up on the bus are taken in together:
// enough to share an fsync, and so few that nobody waits long for the state.
const doorPortion = 512

// heardOnBus is the bus's door for messages of other hosts.
func (n *Node) heardOnBus(batch []bus.Incoming) {
	for portion := range slices.Chunk(batch, doorPortion) {
		n.letIn(portion)
	}
}

// letIn takes in what a host signed itself and published where it belongs. A message
// of a key that is not known here is held until the record brings the key; anything
// else is refused and counted. It returns how many messages are new here.
func (n *Node) letIn(batch []bus.Incoming) (count int) {
	var known []bus.Incoming
	var examined []fleet.Examined
	for _, in := range batch {
		n.traceEntry(in.Path, byBus)
		m, e, err := n.judge(in)
		switch {
		case err != nil:
			n.refusals.Add(in.Sender, in.Path, err)
		case !n.hasKey(m.Host, m.Key):
			n.held.Put(in, m.Key)
			n.record.Ring() // its join or rotation may be on the remote
		default:
			known, examined = append(known, in), append(examined, e)
		}
	}
	return n.admit(known, examined)
}

// admit takes in messages of known keys, but for those that are refused because the
// key is revoked or its time was over. It returns how many are new here.
func (n *Node) admit(known []bus.Incoming, examined []fleet.Examined) (count int) {
	if len(known) == 0 {
		return 0
	}
	n.mu.Lock()
	refused := n.state.Admits(examined)
	n.mu.Unlock()
	var letters []gitsync.Letter
	var admitted []fleet.Examined
	for i, in := range known {
		if refused[i] != nil {
			n.refusals.Add(in.Sender, in.Path, refused[i])
			continue
		}
		letters = append(letters, gitsync.Letter{Path: in.Path, Data: in.Data, Peer: true})
		admitted = append(admitted, examined[i])
	}
	if len(letters) == 0 {
		return 0
	}
	return n.receive(letters, admitted, byBus)
}

// judge reads a message that came by the bus, and says why it is refused, if it is:
// it is too large or no message, nobody signed it, its signature does not hold, or it
// came on another subject than its own.
func (n *Node) judge(in bus.Incoming) (*protocol.Message, fleet.Examined, error) {
	if limit := n.cfg.MessageLimit; len(in.Data) > limit {
		return nil, fleet.Examined{}, fmt.Errorf("it has %d bytes; message_limit of this host is %d", len(in.Data), limit)
	}
	e := n.state.Examine(in.Path, in.Data)
	m := e.Signed()
	switch refusal := new(keys.RefusedError); {
	case errors.As(e.Err(), &refusal):
		return nil, e, e.Err()
	case e.Err() != nil:
		return nil, e, fmt.Errorf("it is no message: %w", e.Err())
	case m == nil:
		return nil, e, errors.New("no host signed it")
	}
	if subject := (protocol.Subjects{Fleet: n.cfg.Fleet}).Message(m); subject != in.Subject {
		return nil, e, fmt.Errorf("it came on the subject %s and belongs to %s", in.Subject, subject)
	}
	return m, e, nil
}

// hasKey reports whether a key is in the history of a host's keys.
func (n *Node) hasKey(host protocol.Name, key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.Keys().KnowsKey(host, key)
}

// retryHeld takes in what was held and is signed by a key that is known by now.
func (n *Node) retryHeld() {
	for _, who := range n.held.Signers() {
		if n.hasKey(who.Host, who.Key) {
			n.heardOnBus(n.held.Take(who))
		}
	}
}
