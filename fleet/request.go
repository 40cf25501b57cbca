package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// RequestFor is how long after a message the request that led to it is known: one
// that is repeated within that time is not carried out again.
const RequestFor = 24 * time.Hour

// Requested is a command that came in a request with an id. The first message that
// it leads to bears the id.
type Requested struct {
	Command
	ID string
}

func (c Requested) decide(s *State) ([]Draft, error) {
	if err := protocol.CheckRequest(c.ID); err != nil {
		return nil, refuse(Senseless, "", "the request %q is refused: %v", c.ID, err)
	}
	drafts, err := c.Command.decide(s)
	if len(drafts) > 0 {
		drafts[0].Message.Request = c.ID
	}
	return drafts, err
}

// Requested is the message that a request to a host led to, if that was at most
// RequestFor ago. Only what the host signed counts.
func (s *State) Requested(host protocol.Name, id string, now time.Time) (*Item, bool) {
	for _, it := range s.requested(id) {
		if it.Host == host && s.rank(it) == 2 && now.Sub(it.Timestamp) <= RequestFor {
			return it, true
		}
	}
	return nil, false
}
