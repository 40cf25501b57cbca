package fleet

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Called is a command with what the node knows of the program that gave it.
type Called struct {
	Command
	// Because is the message for which the agent runs that gave the command; zero if there is none.
	// What the agent writes then has one hop more than that message (R13). An answer counts the
	// hops of its question even without Because. Because is for what the agent writes to somebody
	// else.
	Because protocol.Path
	// Unattended says that nobody can tell who gave the command (R37).
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

// because notes in the draft that an agent writes it because of `cause`. If that is noted twice,
// the greater number of hops stays.
func (d *Draft) because(s *State, cause *Item) {
	d.Message.Because = protocol.Refer(d.Channel, cause.Path)
	d.Message.Hops = max(d.Message.Hops, s.Talk.Hops(cause)+1)
}
