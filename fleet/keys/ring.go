package keys

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Ring is the history of the keys of all hosts: who may sign for which alias, from when to when, as
// the record says. It is made from the hosts' words alone (see historian). So it is the same
// wherever the same words are, in whatever order they came.
//
// A word that says more about only one host changes the ring; any other word makes a new one.
type Ring struct {
	anchor  Anchor
	version int
	hosts   map[protocol.Name]*Host
	ranked  []*Host // by seniority, the founder first
	aliases map[string][]protocol.Name
	revoked map[protocol.HostKey][]revocation // what the founder's humans revoked
	vouched map[protocol.HostKey]vouch        // by the most senior host that has vouched for the key
}

// Judges is a copy that judges messages as the ring does now. It is for work that goes on while the
// state changes. It can do nothing else.
func (k *Ring) Judges() *Ring { return &Ring{hosts: maps.Clone(k.hosts)} }

// Version is a number that changes whenever messages are judged differently.
func (k *Ring) Version() int { return k.version }

type heldKey struct {
	key     string
	by      *File        // the rotation that brought it; nil for the first
	until   time.Time    // what the key signs later is refused; zero while no key has followed
	wrote   *lineage     // what the host wrote with it before the next one, if the rotation to that one says so
	revoked []revocation // its revocations that count
}

// revocation is a word that ends a key, together with the messages of the key that it leaves in.
type revocation struct {
	*File
	left *lineage
}

// vouch is a host's word that it knows a key of another host.
type vouch struct {
	rank int // of the host
	*File
}

// Verdict is what a ring says about a message.
type Verdict int

// The verdicts.
const (
	Unsigned  Verdict = iota // it bears no signature that holds
	Unknown                  // its host is not known
	Genuine                  // signed with a key that its host had then
	Foreign                  // signed with a key that is not its host's
	Overdue                  // signed with a key of its host, outside of the time of that key
	Cancelled                // signed with a key of its host, and left out by a revocation of that key
)

// Refused reports whether the message counts for nothing.
func (v Verdict) Refused() bool { return v >= Foreign }

// Judge says whether the key that signed a message was its host's then. Only this function decides
// that.
func (k *Ring) Judge(f *File) Verdict {
	if !f.Sealed {
		return Unsigned
	}
	h := k.hosts[f.Host]
	if h == nil {
		return Unknown
	}
	return h.judge(f)
}

func (h *Host) judge(it *File) Verdict {
	for i := range h.keys {
		held := &h.keys[i]
		switch {
		case held.key != it.Key:
		case held.over(it):
			return Overdue
		case !held.allows(it):
			return Cancelled
		case !held.timely(it), i == 0 && h.early(it):
			return Overdue
		default:
			return Genuine
		}
	}
	return Foreign
}

// early reports whether a message of the first key is dated before the host's join, although that
// key was changed since. While it is the host's, an early date shows nothing: the join may have been
// lost with a disk, and said again. What the rotation names is the host's own, too.
func (h *Host) early(it *File) bool {
	first := &h.keys[0]
	return len(h.keys) > 1 && h.joined != nil && h.joined.Key == first.key && ByPath(it, h.joined) < 0 &&
		(first.wrote == nil || !first.wrote.reached(it))
}

func (held *heldKey) over(it *File) bool {
	return !held.until.IsZero() && it.signedAt().After(held.until)
}

// timely reports whether the host can have signed a message after the key before, and before the
// next one. A date alone does not show that: whoever has an old key can write any date.
func (held *heldKey) timely(it *File) bool {
	if held.by != nil && ByPath(it, held.by) <= 0 {
		return false
	}
	return held.wrote == nil || it.Hash == held.wrote.by.Hash || held.wrote.has(it)
}

// allows reports whether every revocation of the key leaves the message in. A revocation by the key
// itself also allows its own message.
func (held *heldKey) allows(it *File) bool {
	return held.leavesIn(it) || slices.ContainsFunc(held.revoked, func(own revocation) bool { return own.Hash == it.Hash })
}

// leavesIn is allows without the last rule. It is for the messages behind a revocation, which need
// not count.
func (held *heldKey) leavesIn(it *File) bool {
	return !slices.ContainsFunc(held.revoked, func(r revocation) bool { return !r.left.has(it) })
}

// LeavesIn reports whether a message was signed with a key of its host, and every
// revocation of that key leaves it in.
func (k *Ring) LeavesIn(it *File) bool {
	h := k.hosts[it.Host]
	if !it.Sealed || h == nil {
		return false
	}
	at := h.keyAt(it.Key)
	return at >= 0 && h.keys[at].leavesIn(it)
}

// counts reports whether the host's key counts at that time: it is the last key or an older one
// whose time is not over, and it is not revoked.
func (h *Host) counts(key string, now time.Time) bool {
	return slices.ContainsFunc(h.keys, func(held heldKey) bool {
		return held.key == key && len(held.revoked) == 0 && (held.until.IsZero() || !now.After(held.until))
	})
}

func (h *Host) keyAt(key string) int {
	return slices.IndexFunc(h.keys, func(held heldKey) bool { return held.key == key })
}

// sameKeys reports whether two histories judge every message the same.
func sameKeys(a, b []heldKey) bool {
	return slices.EqualFunc(a, b, func(x, y heldKey) bool {
		return x.key == y.key && x.until.Equal(y.until) && sameFile(x.by, y.by) &&
			slices.EqualFunc(x.revoked, y.revoked, func(r, s revocation) bool { return r.Hash == s.Hash })
	})
}

func sameFile(a, b *File) bool { return a == b || a != nil && b != nil && a.Hash == b.Hash }

// Signature is the state of a message's signature in this fleet. It is valid if the host's key of
// that time signed it and the host declared its author. It is refused if a key signed it that was
// not the host's, was over, or is revoked and leaves it out. Otherwise it is unverified.
func (k *Ring) Signature(it *File) protocol.Signature {
	switch v := k.Judge(it); {
	case v.Refused():
		return protocol.SignatureRefused
	case v != Genuine, it.From != it.Host.String() && k.hosts[it.Host].declared[it.From] == nil:
		return protocol.SignatureUnverified
	}
	return protocol.SignatureValid
}

// Why says why a message is refused. It is "" if it is not.
func (k *Ring) Why(it *File) string {
	switch k.Judge(it) {
	case Foreign:
		switch it.Act {
		case protocol.ActHostJoin:
			return fmt.Sprintf("it joins as %s with the key %s, but %s has the key %s", it.Host, it.Key, it.Host, k.hosts[it.Host].Key)
		case protocol.ActHostRotate:
			return fmt.Sprintf("it gives %s a new key but is signed with %s, which is no key of %s", it.Host, it.Key, it.Host)
		}
		return fmt.Sprintf("it is signed with another key than that of the host %s", it.Host)
	case Overdue:
		h := k.hosts[it.Host]
		switch held := h.keys[h.keyAt(it.Key)]; {
		case held.over(it):
			return fmt.Sprintf("it is signed with an old key of the host %s, after the time of that key was over", it.Host)
		case held.wrote != nil && (held.by == nil || ByPath(it, held.by) > 0):
			return fmt.Sprintf("it is signed with an old key of the host %s, and is not among what the host wrote with that key before the next one", it.Host)
		}
		return fmt.Sprintf("it is dated before %s had the key that signed it", it.Host)
	case Cancelled:
		return fmt.Sprintf("it is signed with a revoked key of the host %s, and is not among what the key signed before", it.Host)
	}
	return ""
}
