package fleet

import "slices"

// FlagKind is a stable word for what is the matter with files that count for
// nothing, or of which an operator should know.
type FlagKind string

// The kinds of flags that a fold gives.
const (
	FlagOtherKey FlagKind = "other-key" // signed with a key that is not its host's
	FlagLostJoin FlagKind = "lost-join" // a join to an alias that another key has
	FlagOldKey   FlagKind = "old-key"   // signed with a host's old key after its time
	FlagRevoked  FlagKind = "revoked"   // signed with a revoked key
	FlagFork     FlagKind = "fork"      // two messages at one place of a host's chain
	FlagConflict FlagKind = "conflict"  // another file has won its path
)

// tally is how many messages are refused because of when their host's keys
// counted. It is counted by looking at all of them, once after the keys of a host
// that has such messages have changed; what comes then is added.
type tally struct {
	valid              bool
	overdue, cancelled int
}

// Flags counts what is flagged, by kind. Kinds without any are left out.
func (s *State) Flags() map[FlagKind]int {
	flags := map[FlagKind]int{}
	set := func(kind FlagKind, n int) {
		if n > 0 {
			flags[kind] = n
		}
	}
	lost := 0
	for alias, joins := range s.words.joins {
		for _, it := range joins {
			if h := s.ring.hosts[alias]; h.Joined() && h.keyAt(it.Key) < 0 {
				lost++
			}
		}
	}
	others := 0
	for who, n := range s.signed {
		if h := s.ring.hosts[who.host]; h.Joined() && h.keyAt(who.key) < 0 {
			others += n
		}
	}
	t := s.tallied()
	set(FlagLostJoin, lost)
	set(FlagOtherKey, others-lost)
	set(FlagOldKey, t.overdue)
	set(FlagRevoked, t.cancelled)
	set(FlagFork, s.beside(func(*Item) bool { return true }))
	conflicts := 0
	for _, list := range s.rivals {
		conflicts += len(list)
	}
	set(FlagConflict, conflicts)
	return flags
}

// tallied counts anew where the keys have changed.
func (s *State) tallied() tally {
	if s.refused.valid {
		return s.refused
	}
	s.refused = tally{valid: true}
	if !s.anySuspect() {
		return s.refused
	}
	for it := range s.All() {
		s.refused.add(s.ring.judge(it))
	}
	for _, list := range s.rivals {
		for _, it := range list {
			s.refused.add(s.ring.judge(it))
		}
	}
	return s.refused
}

func (t *tally) add(v verdict) {
	switch v {
	case overdue:
		t.overdue++
	case cancelled:
		t.cancelled++
	}
}

func (s *State) anySuspect() bool {
	for _, h := range s.ring.hosts {
		if s.suspect(h) {
			return true
		}
	}
	return false
}

// suspect reports whether any message of a host can be refused because of its time:
// only where it has a revoked key, or one that was used after its time.
func (s *State) suspect(h *Host) bool {
	return h.Joined() && slices.ContainsFunc(h.keys, func(held heldKey) bool {
		last := s.last[signer{h.Alias, held.key}]
		return len(held.revoked) > 0 || last != nil && h.judge(last) == overdue
	})
}
