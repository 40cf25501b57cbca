package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Rotate gives a host a new key. The old key must sign the message.
type Rotate struct {
	Host    protocol.Name
	Old     string
	Next    protocol.Rotation // with its proof; Overlap sets its Until
	Overlap time.Duration     // how long the old key still counts
	Last    []protocol.RunEnd // the last messages of the old key that count; see Chains.Heads
}

func (c Rotate) decide(s *State, now time.Time) ([]Draft, error) {
	h, joined := s.Keys().Host(c.Host)
	switch {
	case !joined || h.Key != c.Old:
		return nil, refuse(Forbidden, "", "the key of %s cannot be changed: it is not the one that this node signs with", c.Host)
	case h.Out():
		return nil, refuse(Forbidden, joinAnew, "the key of %s cannot be changed: it is revoked", c.Host)
	case h.Has(c.Next.Key):
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: the new key was its key before", c.Host)
	}
	r := c.Next
	r.Until, r.Last = now.Add(c.Overlap).Truncate(time.Millisecond), c.Last
	if err := r.Check(s.anchor.RecordID, c.Old); err != nil {
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: %v", c.Host, err)
	}
	return []Draft{s.hostDraft(protocol.ActHostRotate, r)}, nil
}
