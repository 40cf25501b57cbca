package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// keyring is the history of the keys of all hosts: who may sign for which alias,
// from when to when, as the record says. It is made of the hosts' words alone (see
// historian), so it is the same wherever the same words are, in whatever order they
// came.
type keyring struct {
	hosts   map[protocol.Name]*Host
	ranked  []*Host // by seniority, the founder first
	aliases map[string][]protocol.Name
	revoked map[protocol.HostKey][]revocation // what the founder's humans revoked
	vouched map[protocol.HostKey]int          // the rank of the most senior host that vouched for it
}

func newKeyring() *keyring {
	return &keyring{
		hosts: map[protocol.Name]*Host{}, aliases: map[string][]protocol.Name{},
		revoked: map[protocol.HostKey][]revocation{}, vouched: map[protocol.HostKey]int{},
	}
}

// heldKey is a key of a host in its history.
type heldKey struct {
	key     string
	by      *Item        // the rotation that brought it; nil for the first
	until   time.Time    // what it signs later is refused; zero while no other has followed
	revoked []revocation // those of it that count
}

// revocation is a word that ends a key, and what the key signed that it leaves in.
type revocation struct {
	*Item
	left *lineage
}

// verdict is what the keyring says of a message.
type verdict int

const (
	unsigned  verdict = iota // it bears no signature that holds
	unknown                  // nothing is known of its host
	genuine                  // a key signed it that its host had then
	foreign                  // a key signed it that is not its host's
	overdue                  // its host's old key signed it after its time
	cancelled                // its host's key signed it, and its revocation leaves it out
)

// refused reports whether the message counts for nothing.
func (v verdict) refused() bool { return v >= foreign }

// judge says whether the key that signed a message was its host's then. It is the
// one place where that is decided.
func (k *keyring) judge(it *Item) verdict {
	if !it.sealed {
		return unsigned
	}
	h := k.hosts[it.Host]
	if h == nil {
		return unknown
	}
	return h.judge(it)
}

func (h *Host) judge(it *Item) verdict {
	for i := range h.keys {
		held := &h.keys[i]
		switch {
		case held.key != it.Key:
		case !held.until.IsZero() && it.signedAt().After(held.until):
			return overdue
		case !held.allows(it):
			return cancelled
		default:
			return genuine
		}
	}
	return foreign
}

// signedAt is when a message says that it was signed: the time in its path, which
// rises along its host's chain.
func (it *Item) signedAt() time.Time {
	if at := it.Path.Time(); !at.IsZero() {
		return at
	}
	return it.Timestamp
}

// allows reports whether every revocation of the key leaves the message in. The
// revocation itself counts, of course, where the key revoked itself.
func (held *heldKey) allows(it *Item) bool {
	return held.leavesIn(it) || slices.ContainsFunc(held.revoked, func(own revocation) bool { return own.Hash == it.Hash })
}

// leavesIn is allows without that: what a revocation follows need not count.
func (held *heldKey) leavesIn(it *Item) bool {
	return !slices.ContainsFunc(held.revoked, func(r revocation) bool { return !r.left.has(it) })
}

// leavesIn reports whether a message was signed with a key of its host, and every
// revocation of that key leaves it in.
func (k *keyring) leavesIn(it *Item) bool {
	h := k.hosts[it.Host]
	if !it.sealed || h == nil {
		return false
	}
	at := h.keyAt(it.Key)
	return at >= 0 && h.keys[at].leavesIn(it)
}

// counts reports whether the host's key counts at that time: it is the last one, or
// an older one whose time is not over, and it is not revoked.
func (h *Host) counts(key string, now time.Time) bool {
	return slices.ContainsFunc(h.keys, func(held heldKey) bool {
		return held.key == key && len(held.revoked) == 0 && (held.until.IsZero() || !now.After(held.until))
	})
}

func (h *Host) keyAt(key string) int {
	return slices.IndexFunc(h.keys, func(held heldKey) bool { return held.key == key })
}

// sameKeys reports whether two histories judge every message alike.
func sameKeys(a, b []heldKey) bool {
	return slices.EqualFunc(a, b, func(x, y heldKey) bool {
		return x.key == y.key && x.until.Equal(y.until) &&
			slices.EqualFunc(x.revoked, y.revoked, func(r, s revocation) bool { return r.Hash == s.Hash })
	})
}

func (k *keyring) signature(it *Item) protocol.Signature {
	switch v := k.judge(it); {
	case v.refused():
		return protocol.SignatureRefused
	case v != genuine, it.From != it.Host.String() && k.hosts[it.Host].declared[it.From] == nil:
		return protocol.SignatureUnverified
	}
	return protocol.SignatureValid
}
