package fleet

import (
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// Revoke ends a key of a host: what it signed outside the named messages counts no
// more. It cannot be undone.
type Revoke struct {
	By    protocol.Name // the host that says so
	Human string        // who decided it (invariant 6)
	Of    protocol.HostKey
	Last  []protocol.RunEnd // see Ends
}

func (c Revoke) decide(s *State) ([]Draft, error) {
	if err := s.MayRevoke(c.By, c.Human, c.Of); err != nil {
		return nil, err
	}
	d := s.hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: c.By, Revokes: c.Of, Last: c.Last})
	d.Message.Human = c.Human
	return []Draft{d}, nil
}

// MayRevoke says why a host may not revoke a key in the name of one of its humans,
// as a *Refusal: it may revoke its own keys, and the founder may revoke those of
// others where the human is one that the record was begun with.
func (s *State) MayRevoke(by protocol.Name, human string, of protocol.HostKey) error {
	h, joined := s.Host(of.Host)
	switch {
	case !joined:
		return refuse(Unknown, s.knownHosts(), "no host is called %q", of.Host)
	case h.keyAt(of.Key) < 0:
		return refuse(Unknown, "see its keys: parley host show "+of.Host.String(), "%s is no key of the host %s", of.Key, of.Host)
	case of.Host == by:
		return nil
	}
	founder, humans := s.Founder()
	if by != founder {
		return refuse(Forbidden, "run it on the host "+founder.String()+", which began the record, or on "+of.Host.String()+" itself",
			"this host may not revoke a key of %s", of.Host)
	}
	if !slices.Contains(humans, protocol.Name(human)) {
		return refuse(Forbidden, "they are: "+joinNames(humans),
			"%q may not have a key of %s revoked: only the humans may with whom the record was begun", human, of.Host)
	}
	return nil
}

// Founder is the host that everything rests on, and the humans who may have keys
// of others revoked there.
func (s *State) Founder() (protocol.Name, []protocol.Name) {
	if f := s.anchor.Founder; f.Key != "" {
		return f.Host, f.Humans
	}
	if len(s.ring.ranked) == 0 {
		return "", nil
	}
	f := s.ring.ranked[0]
	if f.first == nil {
		return f.Alias, nil
	}
	return f.Alias, f.first.Humans
}

// Ends are the last messages of each run that a host's key signed, as far as they
// are known: of all of them or, with after, of those that the host wrote up to that
// message. later is how many of the known ones that leaves out.
func (s *State) Ends(of protocol.HostKey, after protocol.Path) (ends []protocol.RunEnd, later int) {
	last := map[string]*Item{}
	look := func(it *Item) {
		if it.Host != of.Host || it.Key != of.Key || !it.sealed || s.ring.judge(it).refused() {
			return
		}
		if !after.IsZero() && it.Path.Compare(after) > 0 {
			later++
			return
		}
		if l := last[it.Run]; l == nil || it.Seq > l.Seq {
			last[it.Run] = it
		}
	}
	for it := range s.All() {
		look(it)
	}
	for _, list := range s.rivals {
		for _, it := range list {
			look(it)
		}
	}
	for _, run := range slices.Sorted(maps.Keys(last)) {
		ends = append(ends, protocol.RunEnd{Run: run, Seq: last[run].Seq, Hash: last[run].Hash})
	}
	slices.SortFunc(ends, func(a, b protocol.RunEnd) int { return strings.Compare(a.Run, b.Run) })
	return ends, later
}
