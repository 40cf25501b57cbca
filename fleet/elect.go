package fleet

import (
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Several files can claim one path. One of them stands there, the same on every host. The others
// are kept, because keys decide which one stands there, and keys can come later.

// lose keeps a file whose path another has.
func (l *Ledger) lose(it *Item) {
	l.rivals[it.Path] = append(l.rivals[it.Path], it)
	l.lost[it.Hash] = append(l.lost[it.Hash], it)
	l.noteHole(it)
}

func (l *Ledger) elect(p protocol.Path) {
	old := l.at(p)
	best := old
	for _, r := range l.rivals[p] {
		if l.beats(r, best) {
			best = r
		}
	}
	if best == old {
		return
	}
	old = l.own(old)
	l.rivals[p] = without(l.rivals[p], best)
	drop(l.lost, best.Hash, best)
	l.lose(old)
	l.remove(old)
	l.add(best)
}

// electAll decides every contested path anew, after messages have come to be judged differently.
func (l *Ledger) electAll() {
	for p := range l.rivals {
		l.elect(p)
	}
}

// Prefer reports whether `a`, and not `b`, is the message at `p`. A file that its host's key signed
// wins over any other. One that a key signed which does not count loses to any other message, and
// what is no message loses to a message. Among equals the lower hash wins.
func (s *State) Prefer(p protocol.Path, a, b []byte) bool {
	x, errX := s.read(p, a)
	y, errY := s.read(p, b)
	if errX != nil || errY != nil {
		return errX == nil || errY != nil && protocol.Hash(a) < protocol.Hash(b)
	}
	return s.Ledger.beats(x, y)
}

func (l *Ledger) beats(a, b *Item) bool {
	if ra, rb := l.rank(a), l.rank(b); ra != rb {
		return ra > rb
	}
	return a.Hash < b.Hash
}

// rank orders files that claim one path: 2 for a file that its host's key signed, 0 for one that a
// key signed which does not count, 1 for all others.
func (l *Ledger) rank(it *Item) int {
	switch v := l.judge(&it.File); {
	case v == keys.Genuine:
		return 2
	case v.Refused():
		return 0
	}
	return 1
}
