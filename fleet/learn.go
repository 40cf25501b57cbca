package fleet

import (
	"cmp"
	"maps"

	"github.com/parleyfleet/parley/protocol"
)

// learn notes a signed file with its signer and takes in what it says of hosts.
// It reports whether messages are judged otherwise than before.
func (s *State) learn(it *Item) (turned bool) {
	if !it.sealed {
		return false
	}
	who := signer{it.Host, it.Key}
	s.last[who] = later(s.last[who], it)
	s.signed[who]++
	if it.word == nil {
		return false
	}
	s.words.add(it)
	switch {
	case s.batch:
		s.stale = true
		return false
	case it.Act == protocol.ActHostAgents:
		return s.relearn(it.Host)
	case it.Act == protocol.ActHostJoin && !s.unsettles(it):
		return s.relearn(it.Host)
	case it.Act == protocol.ActHostJoin || s.precedes(it):
		return s.relearnAll()
	case s.ring.hosts[it.Host] == nil || s.ring.hosts[it.Host].keyAt(it.Key) < 0:
		return false // it counts for nothing, until the key comes to be the host's
	}
	return s.relearnAll()
}

// unsettles reports whether a join says more than what its host is: who the founder is
// and who its humans are, that a key is one with which a host begins, or that there is
// a host that others have vouched for.
func (s *State) unsettles(it *Item) bool {
	h := s.historian()
	alias, key, _ := h.founder()
	enrolled := s.words.named[it.Host] && len(s.words.joins[it.Host]) == 1
	return enrolled || it.Host == alias || len(s.ring.ranked) == 0 || s.ring.ranked[0].Alias != alias || s.ring.ranked[0].keys[0].key != key ||
		len(s.words.rotated[protocol.HostKey{Host: it.Host, Key: it.Key}]) > 0
}

// precedes reports whether a rotation, signed by whatever key, may say which key a
// host had before one that it is known by (see historian.origin).
func (s *State) precedes(it *Item) bool {
	r, rotates := it.word.(protocol.Rotation)
	h := s.ring.hosts[it.Host]
	return rotates && h != nil && h.keyAt(r.Key) >= 0
}

// relearn makes the host of that alias anew. Its words change nothing but what is
// known of itself.
func (s *State) relearn(alias protocol.Name) (turned bool) {
	before := s.ring.hosts[alias]
	h := s.historian()
	switch {
	case before != nil && before.rank != unranked:
		host := &Host{Alias: alias, rank: before.rank, keys: before.keys}
		h.fold(host)
		s.ring.hosts[alias] = host
		s.ring.ranked[host.rank] = host
	case len(s.words.joins[alias]) > 0:
		h.provisional(alias)
	default:
		return false
	}
	return s.shift(before, s.ring.hosts[alias])
}

// relearnAll makes the history of all hosts anew.
func (s *State) relearnAll() (turned bool) {
	before := s.ring
	s.lineages.keep(func() { s.ring = s.historian().keyring() })
	for alias, h := range s.ring.hosts {
		turned = s.shift(before.hosts[alias], h) || turned
	}
	for alias, h := range before.hosts {
		if s.ring.hosts[alias] == nil {
			turned = s.shift(h, nil) || turned
		}
	}
	return turned
}

// shift counts what it means for receipts that a host is known otherwise than
// before, and reports whether messages are judged otherwise.
func (s *State) shift(before, after *Host) (turned bool) {
	s.judged++
	turned = !before.Joined() || !after.Joined() || !sameKeys(before.keys, after.keys)
	if turned {
		s.ringed++
		s.refused.valid = s.refused.valid && !s.suspect(before) && !s.suspect(after)
	}
	if alias := cmp.Or(before, after).Alias; turned || !maps.Equal(before.declarations(), after.declarations()) {
		s.epochs[alias]++
		s.epochs[""]++
	}
	if before.Joined() && (turned || !includes(after.declared, before.declared)) {
		s.shaken++
	}
	return turned
}

func includes(all, some map[string]*Item) bool {
	for name := range some {
		if all[name] == nil {
			return false
		}
	}
	return true
}

// later is the one with the greater path, of items of one signer.
func later(a, b *Item) *Item {
	if a != nil && byPath(a, b) > 0 {
		return a
	}
	return b
}
