package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// A host's messages are a chain: each names the hash of the one before it (prev).
// What follows finds what a node lacks of a chain, and what another one can give.

// Knows reports whether the state has a file of that hash, be it one that lost its
// path to another.
func (s *State) Knows(hash string) bool {
	return len(s.Ledger.lost[hash]) > 0 || len(hashed.find(s.Ledger, hash)) > 0
}

// GapBefore is the message that a signed one follows on and that is not here.
func (s *State) GapBefore(it *Item) (keys.Gap, bool) {
	if !it.Sealed || !protocol.IsHash(it.Prev) || s.Signature(it) == protocol.SignatureRefused || s.Knows(it.Prev) {
		return keys.Gap{}, false
	}
	return keys.Gap{Host: it.Host, Hash: it.Prev, Path: it.Path, Run: it.Run, Seq: it.Seq}, true
}

// ChainOn are up to most messages of a host that follow on the one with the hash
// after, in their order, as far as they are here without a hole, and no further than
// the one with the hash until.
func (s *State) ChainOn(host protocol.Name, after, until string, most int) (chain []*Item) {
	for len(chain) < most && after != until {
		next := ofHost(host, following.find(s.Ledger, after))
		if next == nil {
			break
		}
		chain, after = append(chain, next), next.Hash
	}
	return chain
}

// ChainBack are up to most messages of a host up to the one with the given hash, in
// their order, as far as they are here without a hole, and none that is not behind
// after.
func (s *State) ChainBack(host protocol.Name, hash string, after protocol.Path, most int) (chain []*Item) {
	for len(chain) < most && hash != "" {
		last := ofHost(host, hashed.find(s.Ledger, hash))
		if last == nil || last.Path.Compare(after) <= 0 {
			break
		}
		chain, hash = append(chain, last), last.Prev
	}
	slices.Reverse(chain)
	return chain
}

// ofHost is the first by path of those messages that the host signed, nil if none
// is: a chain forks only where a host's key is used twice.
func ofHost(host protocol.Name, items []*Item) (first *Item) {
	for _, it := range items {
		if it.Host == host && it.Sealed && (first == nil || keys.ByPath(&it.File, &first.File) < 0) {
			first = it
		}
	}
	return first
}

// LastOf is the last message of a host in the order of its own chain: the one
// with the greatest path that its keys signed while they counted.
func (s *State) LastOf(host protocol.Name) (*keys.File, bool) { return s.keys.Last(host) }

// Awaited are messages that revocations leave in and that are not here, up to most of
// each host. Until they are here, what stands before them does not count.
func (s *State) Awaited(most int) []keys.Gap { return s.keys.Awaited(most) }
