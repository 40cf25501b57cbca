package fleet

// FlagKind is a stable word for a problem of files: files that do not count, or files about which
// an operator should know.
type FlagKind string

// The kinds of flags.
const (
	FlagOtherKey FlagKind = "other-key" // signed with a key that is not its host's
	FlagLostJoin FlagKind = "lost-join" // a join to an alias that another key has
	FlagOldKey   FlagKind = "old-key"   // signed with a host's key outside of the time of that key
	FlagRevoked  FlagKind = "revoked"   // signed with a revoked key
	FlagFork     FlagKind = "fork"      // two messages at one place of a host's chain
	FlagHole     FlagKind = "hole"      // a message of a host's chain that is not here
	FlagConflict FlagKind = "conflict"  // another file has won its path
)

// Flags counts the files with a problem, by kind. A kind without any is left out.
func (s *State) Flags() map[FlagKind]int {
	flags := map[FlagKind]int{}
	set := func(kind FlagKind, n int) {
		if n > 0 {
			flags[kind] = n
		}
	}
	lost, others := s.keys.Strangers()
	old, revoked := s.keys.Refused()
	set(FlagLostJoin, lost)
	set(FlagOtherKey, others-lost)
	set(FlagOldKey, old)
	set(FlagRevoked, revoked)
	set(FlagFork, s.Chains.beside(func(*Item) bool { return true }))
	set(FlagHole, s.Chains.Holes())
	conflicts := 0
	for _, list := range s.Ledger.rivals {
		conflicts += len(list)
	}
	set(FlagConflict, conflicts)
	return flags
}
