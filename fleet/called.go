package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Called is a command with what the node knows of the program that gave it.
type Called struct {
	Command
	// Because is the message for which the agent runs that gave it; zero for none. What
	// it writes then is so many hops further (R13): an answer has those of the message
	// that it answers anyway, but an agent can also write to somebody on its own.
	Because protocol.Path
	// Unattended says that nobody can tell who gave it (R37).
	Unattended bool
}

func (c Called) decide(s *State, now time.Time) ([]Draft, error) {
	drafts, err := c.Command.decide(s, now)
	cause := s.Ledger.at(c.Because)
	for i := range drafts {
		drafts[i].Message.Unattended = c.Unattended
		if cause != nil && drafts[i].Message.Type == protocol.TypeText {
			drafts[i].because(s, cause)
		}
	}
	return drafts, err
}

// because notes that an agent writes the draft because of a message. Where there are
// two, the greater hops stay.
func (d *Draft) because(s *State, cause *Item) {
	d.Message.Because = protocol.Refer(d.Channel, cause.Path)
	d.Message.Hops = max(d.Message.Hops, s.Talk.Hops(cause)+1)
}
