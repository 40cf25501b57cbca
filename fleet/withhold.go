package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Withhold has a host say that no host is to push some of its messages.
type Withhold struct {
	Host  protocol.Name
	Paths []protocol.Path
}

func (c Withhold) decide(s *State, _ time.Time) ([]Draft, error) {
	return []Draft{s.hostDraft(protocol.ActHostWithhold, protocol.Withholding{Host: c.Host, Paths: c.Paths})}, nil
}
