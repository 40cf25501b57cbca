package fleet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Why says why a message is refused, "" where it is not.
func (s *State) Why(it *Item) string {
	switch s.ring.judge(it) {
	case foreign:
		h := s.ring.hosts[it.Host]
		switch it.Act {
		case protocol.ActHostJoin:
			return fmt.Sprintf("it joins as %s with the key %s, but %s has the key %s", it.Host, it.Key, it.Host, h.Key)
		case protocol.ActHostRotate:
			return fmt.Sprintf("it gives %s a new key but is signed with %s, which is no key of %s", it.Host, it.Key, it.Host)
		}
		return fmt.Sprintf("it is signed with another key than that of the host %s", it.Host)
	case overdue:
		return fmt.Sprintf("it is signed with an old key of the host %s, after the time of that key was over", it.Host)
	case cancelled:
		return fmt.Sprintf("it is signed with a revoked key of the host %s, and is not among what the key signed before", it.Host)
	}
	return ""
}

// Admits says of examined files that came together which would be refused for the key
// that signed them, and why; nil for those that would not. A revoked key's message
// counts where others of them that do go back to it.
func (s *State) Admits(all []Examined) []error {
	refused := make([]error, len(all))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return all[j].Path.Compare(all[i].Path) }) // the last of a chain first
	led := map[seam]bool{}                                                                 // where those that count go on from
	for _, i := range order {
		it, err := all[i].item, all[i].err
		if err != nil {
			refused[i] = err
			continue
		}
		counts := s.ring.leavesIn(it) || led[seam{it.Hash, it.Run, signer{it.Host, it.Key}}]
		if why := s.Why(it); why != "" && !(counts && s.ring.judge(it) == cancelled) {
			refused[i] = errors.New(why)
		} else if counts && it.Seq != 1 {
			led[seam{it.Prev, it.Run, signer{it.Host, it.Key}}] = true
		}
	}
	return refused
}

// seam is where a message goes on from another of its run and key, by the other's hash.
type seam struct {
	hash, run string
	by        signer
}

// Original is the message whose bytes are those with that hash: the one that a file
// at another path was copied from.
func (s *State) Original(hash string) (protocol.Path, bool) {
	for _, it := range hashed.find(s, hash) {
		return it.Path, true
	}
	return protocol.Path{}, false
}

// Kind is a stable word for why a message is refused, "" where it is not.
func (s *State) Kind(it *Item) FlagKind {
	switch s.ring.judge(it) {
	case foreign:
		if it.Act == protocol.ActHostJoin {
			return FlagLostJoin
		}
		return FlagOtherKey
	case overdue:
		return FlagOldKey
	case cancelled:
		return FlagRevoked
	}
	return ""
}
