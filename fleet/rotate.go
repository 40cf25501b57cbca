package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Rotate gives a host a new key. The message is to be signed by the old one.
type Rotate struct {
	Host    protocol.Name
	Old     string
	Next    protocol.Rotation // proved; its Until is set by Overlap
	Overlap time.Duration     // how long the old key counts still
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
	r.Until = now.Add(c.Overlap).Truncate(time.Millisecond)
	if err := r.Check(s.anchor.RecordID, c.Old); err != nil {
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: %v", c.Host, err)
	}
	return []Draft{s.hostDraft(protocol.ActHostRotate, r)}, nil
}
