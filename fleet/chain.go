package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Chains is the messages of each host in the order of its chain: each message names the hash of the
// one before it (prev). Chains finds what this node lacks of a chain, what it can give to another
// node, where a chain ends, and where it forks.
type Chains struct {
	ledger *Ledger
	keys   *keys.History
}

// Knows reports whether there is a file with that hash, even if the file has lost its path to
// another one.
func (c *Chains) Knows(hash string) bool { return c.ledger.knows(hash) }

// GapBefore is the gap before a signed message: the message that it follows, if that one is not
// here.
func (c *Chains) GapBefore(it *Item) (keys.Gap, bool) {
	if !it.Sealed || !protocol.IsHash(it.Prev) || c.keys.Ring().Judge(&it.File).Refused() || c.Knows(it.Prev) {
		return keys.Gap{}, false
	}
	return keys.Gap{Host: it.Host, Hash: it.Prev, Path: it.Path, Run: it.Run, Seq: it.Seq}, true
}

// On returns messages of a host in their order, at most `most` of them. They follow the message with
// the hash `after`. They end before the first hole, or with the message that has the hash `until`.
func (c *Chains) On(host protocol.Name, after, until string, most int) (chain []*Item) {
	for len(chain) < most && after != until {
		next := ofHost(host, following.find(c.ledger, after))
		if next == nil {
			break
		}
		chain, after = append(chain, next), next.Hash
	}
	return chain
}

// Back returns the last messages of a host's chain up to the one with the given hash, in their
// order, at most `most` of them. It stops at a hole, and at the path `after`.
func (c *Chains) Back(host protocol.Name, hash string, after protocol.Path, most int) (chain []*Item) {
	for len(chain) < most && hash != "" {
		last := ofHost(host, hashed.find(c.ledger, hash))
		if last == nil || last.Path.Compare(after) <= 0 {
			break
		}
		chain, hash = append(chain, last), last.Prev
	}
	slices.Reverse(chain)
	return chain
}

// ofHost is the message that the host signed, nil if there is none. There are several only if the
// host's key is used twice; then it is the first by path.
func ofHost(host protocol.Name, items []*Item) (first *Item) {
	for _, it := range items {
		if it.Host == host && it.Sealed && (first == nil || keys.ByPath(&it.File, &first.File) < 0) {
			first = it
		}
	}
	return first
}

// LastOf is the last message of a host in the order of its own chain: the message with the greatest
// path of those that its keys signed while they counted.
func (c *Chains) LastOf(host protocol.Name) (*keys.File, bool) { return c.keys.Last(host) }

// Awaited are messages that still count after a revocation of their key, but that are not here, at
// most `most` of each host. Until they are here, the messages before them do not count.
func (c *Chains) Awaited(most int) []keys.Gap { return c.keys.Awaited(most) }
