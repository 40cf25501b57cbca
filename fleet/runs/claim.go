package runs

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Claim says that one of several hosts that serve the agent has claimed the work (R7).
type Claim struct {
	affair.Position
	Time  time.Time
	Host  protocol.Name // who has it
	From  protocol.Name // whose work it was; Host if it was no other host's
	Epoch int
}

// Take records that `host` has claimed an agent's work on a message, in that epoch: it got the
// claim at the remote. If that is recorded already, it writes nothing.
func Take(host protocol.Name, p protocol.Path, agent string, epoch int, from protocol.Name) affair.Command {
	return Kind().Command(Name(p, agent), func(r Run, _ time.Time) ([]affair.Draft, error) {
		switch {
		case r.Retries != epoch:
			return nil, refusal.New(refusal.Forbidden, "", "somebody had %s tried again by another host meanwhile", p)
		case r.Dead != nil:
			return nil, refusal.New(refusal.Forbidden, "", "%s has given %s up already", agent, p)
		case r.Claim != nil && r.Claim.Host == host:
			return nil, nil
		case r.Claim != nil:
			return nil, refusal.New(refusal.Forbidden, "", "%s has claimed %s for %s already", r.Claim.Host, p, agent)
		}
		return []affair.Draft{{Channel: p.Channel(), Message: protocol.Message{
			From: agent, To: []protocol.Address{{Name: from.String()}}, Type: protocol.TypeText, Act: protocol.ActRunClaim,
			Body: protocol.RunClaim.Format(protocol.RunClaimed{Of: p, Agent: agent, Epoch: epoch, From: from}),
		}}}, nil
	})
}

// claim takes in that a host says that it has the claim. The ref at the remote has settled who has
// it. So if two hosts say so, one of them is not honest, and the first is believed.
func (r Run) claim(d affair.Deed) (Run, error) {
	c, err := protocol.RunClaim.Parse(d.Body)
	switch {
	case err != nil:
		return r, err
	case d.Standing != affair.Signed || d.Author().Name != r.Agent:
		return r, errors.New("only a host that serves the agent can say this")
	case c.Epoch != r.Retries:
		return r, errors.New("somebody had it tried again, which ended that claim")
	case r.Claim != nil:
		return r, errors.New("another host has claimed it")
	case r.Dead != nil:
		return r, errors.New("it was given up before")
	}
	r.Claim = &Claim{Position: d.Position, Time: d.Timestamp, Host: d.Host, From: c.From, Epoch: c.Epoch}
	return r, nil
}
