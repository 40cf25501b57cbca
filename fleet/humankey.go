package fleet

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// GiveHumanKey says with which key a human of a host signs decisions (R35).
type GiveHumanKey struct{ protocol.HumanKey }

func (c GiveHumanKey) decide(s *State, _ time.Time) ([]Draft, error) {
	h, joined := s.Keys().Host(c.Host)
	if err := humanOf(h, joined, c.Host, c.Human); err != nil {
		return nil, err
	}
	all := h.HumanKeys(c.Human.String())
	last, follows, _ := h.HumanKeyNow(c.Human.String())
	switch {
	case h.Contested(c.Human.String()) != nil:
		return nil, refuse(Forbidden, "a human of the host that began the record revokes one of the two there: parley gates key revoke --host --key",
			"%s has told of two first keys of %s, %s", c.Host, c.Human, strings.Join(h.Contested(c.Human.String()), " and "))
	case slices.ContainsFunc(all, func(k keys.HumanKey) bool { return k.Key == c.Key }):
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: the new key was theirs before", c.Human)
	case !follows && c.After != "":
		return nil, refuse(Senseless, "give a first one: parley gates key add", "%s has no key that another one could follow", c.Human)
	case follows && c.After == "":
		return nil, refuse(Forbidden, "change it: parley gates key rotate; where its passphrase is lost, a human of the host that began the record revokes it first",
			"%s has a key already", c.Human)
	case follows && c.After != last.Key:
		return nil, refuse(Forbidden, "", "the key of %s cannot be changed: the one that agrees is not the last one", c.Human)
	}
	if err := c.Check(s.anchor.RecordID); err != nil {
		return nil, refuse(Senseless, "", "the key of %s cannot be taken: %v", c.Human, err)
	}
	d := s.hostDraft(protocol.ActHumanKey, c.HumanKey)
	d.Message.Human = c.Human.String()
	return []Draft{d}, nil
}

// humanOf returns a *Refusal if a host has no such human.
func humanOf(h *keys.Host, joined bool, host, human protocol.Name) error {
	switch {
	case !joined:
		return refuse(Unknown, "", "no host is called %q", host)
	case h.Out():
		return refuse(Forbidden, joinAnew, "the host %s is out of the fleet", host)
	case !h.EverHuman(human.String()):
		return refuse(Unknown, "", "%s is no human of %s", human, host)
	}
	return nil
}

// EndHumanKey revokes a key of a human (R35).
type EndHumanKey struct{ protocol.HumanEnd }

func (c EndHumanKey) decide(s *State, _ time.Time) ([]Draft, error) {
	if err := s.MayEndHumanKey(c.HumanEnd); err != nil {
		return nil, err
	}
	if err := c.Check(s.anchor.RecordID); err != nil {
		return nil, refuse(Senseless, "", "the key of %s cannot be revoked: %v", c.Human, err)
	}
	return []Draft{s.hostDraft(protocol.ActHumanRevoke, c.HumanEnd)}, nil
}

// MayEndHumanKey returns a *Refusal if a key of a human cannot be revoked like this. A key may end
// itself, on its own host. The key of a human of the founder may end any.
func (s *State) MayEndHumanKey(e protocol.HumanEnd) error {
	of, joined := s.Keys().Host(e.Of)
	if err := humanOf(of, joined, e.Of, e.Human); err != nil {
		return err
	}
	all := of.HumanKeys(e.Human.String())
	at := slices.IndexFunc(all, func(k keys.HumanKey) bool { return k.Key == e.Key })
	switch {
	case at < 0:
		return refuse(Unknown, "see them: parley gates key list", "%s is no key of %s at %s", e.Key, e.Human, e.Of)
	case all[at].Ended != nil:
		return refuse(Senseless, "", "the key %s of %s is revoked already", e.Key, e.Human)
	case e.By == e.Key && e.Host == e.Of:
		return nil
	}
	founder, humans := s.Keys().Founder()
	if e.Host != founder {
		return refuse(Forbidden, "run it on the host "+founder.String()+", which began the record, or on "+e.Of.String()+" itself, with the key that ends",
			"this host may not revoke a key of %s at %s", e.Human, e.Of)
	}
	h, _ := s.Keys().Host(founder)
	for _, human := range humans {
		if last, ok, _ := h.HumanKeyNow(human.String()); ok && last.Key == e.By {
			return nil
		}
	}
	return refuse(Forbidden, "", "a human with whom the record was begun has to agree, with a key of their own")
}

// SignedBy are the messages that a key of a human of a host has signed, in no order. It takes a
// message that bears a signature and was written while that key was theirs, without checking the
// signature.
func (s *State) SignedBy(host, human protocol.Name, key string) (all []*Item) {
	h, joined := s.Keys().Host(host)
	if !joined {
		return nil
	}
	for it := range s.Ledger.All() {
		if it.Host != host || it.Human != human.String() || it.Hsig == "" {
			continue
		}
		if k, ok := s.keys.HumanKeyFor(h, it.Human, &it.File); ok && k.Key == key {
			all = append(all, it)
		}
	}
	return all
}
