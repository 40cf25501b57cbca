package fleet

import (
	"errors"
	"slices"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Admits says, for files that were examined and came together, which would be refused because of
// the key that signed them, and why. It is nil for a file that would not be refused. A message of a
// revoked key counts if a later one of these files counts and leads back to it.
func (s *State) Admits(all []Examined) []error {
	ring, refused := s.Keys(), make([]error, len(all))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return all[j].Path.Compare(all[i].Path) }) // the last of a chain comes first
	led := map[predecessor]bool{}                                                          // where those that count go on from
	for _, i := range order {
		it, err := all[i].item, all[i].err
		if err != nil {
			refused[i] = err
			continue
		}
		counts := ring.LeavesIn(&it.File) || led[predecessor{it.Hash, it.Run, it.Signer()}]
		if why := ring.Why(&it.File); why != "" && !(counts && ring.Judge(&it.File) == keys.Cancelled) {
			refused[i] = errors.New(why)
		} else if counts && it.Seq != 1 {
			led[predecessor{it.Prev, it.Run, it.Signer()}] = true
		}
	}
	return refused
}

// predecessor is the message that another message of the same run and key follows, by its hash.
type predecessor struct {
	hash, run string
	by        keys.Signer
}

// Kind is a stable word for why a message is refused, or "" if it is not.
func (s *State) Kind(it *Item) FlagKind {
	switch s.Keys().Judge(&it.File) {
	case keys.Foreign:
		if it.Act == protocol.ActHostJoin {
			return FlagLostJoin
		}
		return FlagOtherKey
	case keys.Overdue:
		return FlagOldKey
	case keys.Cancelled:
		return FlagRevoked
	}
	return ""
}
