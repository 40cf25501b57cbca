package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Several files can claim one path. One of them stands there, the same on every host;
// the others are kept, because the keys decide, and those can come later.

func (s *State) isRival(it *Item) bool {
	return slices.ContainsFunc(s.rivals[it.Path], func(r *Item) bool { return r.Hash == it.Hash })
}

// lose keeps a file whose path another has.
func (s *State) lose(it *Item) {
	s.rivals[it.Path] = append(s.rivals[it.Path], it)
	s.lost[it.Hash] = append(s.lost[it.Hash], it)
}

// elect decides which of the files that claim p stays there.
func (s *State) elect(p protocol.Path) {
	old := s.at(p)
	best := old
	for _, r := range s.rivals[p] {
		if s.beats(r, best) {
			best = r
		}
	}
	if best == old {
		return
	}
	old = s.own(old)
	s.rivals[p] = without(s.rivals[p], best)
	drop(s.lost, best.Hash, best)
	s.lose(old)
	s.remove(old)
	s.add(best)
}

// electAll decides every contested path anew after messages came to be judged
// otherwise.
func (s *State) electAll() {
	for p := range s.rivals {
		s.elect(p)
	}
}

// Prefer reports whether a, rather than b, is the message at p: what is signed
// by the key of its host beats what is not, then the lower hash wins.
func (s *State) Prefer(p protocol.Path, a, b []byte) bool {
	x, errX := s.read(p, a)
	y, errY := s.read(p, b)
	if errX != nil || errY != nil {
		return errX == nil || errY != nil && protocol.Hash(a) < protocol.Hash(b)
	}
	return s.beats(x, y)
}

func (s *State) beats(a, b *Item) bool {
	if ra, rb := s.rank(a), s.rank(b); ra != rb {
		return ra > rb
	}
	return a.Hash < b.Hash
}

// rank orders files that claim one path: signed by the key of the host, not
// known to be or not to be, signed by a key that does not count.
func (s *State) rank(it *Item) int {
	switch v := s.Keys().Judge(&it.File); {
	case v == keys.Genuine:
		return 2
	case v.Refused():
		return 0
	}
	return 1
}
