package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// GiveReceipt leaves a receipt for a message. If there is nothing to acknowledge, because a receipt
// is there already or the message is not for this participant, it gives neither a message nor a
// refusal.
type GiveReceipt struct {
	As Who
	Of protocol.Path
}

func (c GiveReceipt) decide(s *State, _ time.Time) ([]Draft, error) {
	it := s.Ledger.at(c.Of)
	if it == nil {
		return nil, refuse(Unknown, "", "there is no message %s", c.Of)
	}
	drafts := s.receiptFor(it, c.As)
	if len(drafts) > 0 && !s.Talk.Answerable(it) {
		return nil, unanswerable(it)
	}
	return drafts, nil
}

// receiptFor is the receipt that `who` leaves for the message: one to its author, never to all, and
// none for a receipt (Crosstalk, "Message types").
func (s *State) receiptFor(it *Item, who Who) []Draft {
	if !s.Talk.Reaches(it, who) || s.Talk.isRead(it, who) {
		return nil
	}
	return []Draft{{
		Message: protocol.Message{
			From: who.Name,
			To:   []protocol.Address{s.receiptTo(it)},
			Type: protocol.TypeRead,
			Act:  protocol.ActRead,
			Ref:  it.Path.Rel(),
		},
		Channel: it.Path.Channel(),
	}}
}

// receiptTo is the address of a receipt: the author's bare name, if that can be written.
func (s *State) receiptTo(it *Item) protocol.Address {
	if bare := (protocol.Address{Name: it.Author().Name}); protocol.CheckAddress(bare) == nil {
		return bare
	}
	return s.Talk.AuthorOf(it, "")
}
