package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/people"
	"github.com/parleyfleet/parley/protocol"
)

// Revoke ends a key of a host: what the key signed counts no more, except the messages in Last and
// those that led to them. It cannot be undone.
type Revoke struct {
	By    protocol.Name // the host that says so
	Human string        // who decided it (invariant 6)
	Of    protocol.HostKey
	Last  []protocol.RunEnd // see Chains.Ends
	// Removed says that the host itself has ended.
	Removed bool
}

func (c Revoke) decide(s *State, _ time.Time) ([]Draft, error) {
	if err := s.MayRevoke(c.By, c.Human, c.Of); err != nil {
		return nil, err
	}
	if said := s.Keys().Revocations(c.By, c.Of); said >= keys.MaxRevocations {
		return nil, refuse(Senseless, "", "the key %s of %s cannot be revoked once more: %d revocations of it by %s count, and no more do", c.Of.Key, c.Of.Host, said, c.By)
	}
	d := s.hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: c.By, Revokes: c.Of, Last: c.Last, Removed: c.Removed})
	d.Message.Human = c.Human
	return []Draft{d}, nil
}

// MayRevoke returns a *Refusal if the host `by` may not revoke a key in the name of `human`. A host
// may revoke its own keys. The founder may revoke those of others, in the name of a human with whom
// the record was begun.
func (s *State) MayRevoke(by protocol.Name, human string, of protocol.HostKey) error {
	h, joined := s.Keys().Host(of.Host)
	switch {
	case !joined:
		return refuse(Unknown, s.People.HostsHint(), "no host is called %q", of.Host)
	case !h.Has(of.Key):
		return refuse(Unknown, "see its keys: parley host show "+of.Host.String(), "%s is no key of the host %s", of.Key, of.Host)
	case of.Host == by:
		return nil
	}
	founder, humans := s.Keys().Founder()
	if by != founder {
		return refuse(Forbidden, "run it on the host "+founder.String()+", which began the record, or on "+of.Host.String()+" itself",
			"this host may not revoke a key of %s", of.Host)
	}
	if !slices.Contains(humans, protocol.Name(human)) {
		return refuse(Forbidden, "they are: "+people.JoinNames(humans),
			"%q may not have a key of %s revoked: only the humans may with whom the record was begun", human, of.Host)
	}
	return nil
}
