package keys

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Host is the host with that alias, if it has joined. It may be out.
func (k *Ring) Host(alias protocol.Name) (*Host, bool) {
	h := k.hosts[alias]
	return h, h.Joined()
}

// Hosts are the joined hosts by alias, without those that are out.
func (k *Ring) Hosts() []*Host {
	return slices.DeleteFunc(k.AllHosts(), (*Host).Out)
}

// ServedBeside reports whether a host of Hosts other than `host` serves an agent.
func (k *Ring) ServedBeside(host protocol.Name, agent string) bool {
	for alias, h := range k.hosts {
		if alias == host || h.first == nil || h.Out() {
			continue
		}
		if _, serves := h.Serves(agent); serves {
			return true
		}
	}
	return false
}

// BySeniority are the hosts of Hosts, the most senior first. Hosts for which nobody has vouched
// come last.
func (k *Ring) BySeniority() []*Host {
	all := k.Hosts()
	slices.SortStableFunc(all, func(a, b *Host) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// AllHosts are the hosts that have ever joined, by alias.
func (k *Ring) AllHosts() []*Host {
	var all []*Host
	for _, h := range k.hosts {
		if h.first != nil {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *Host) int { return cmp.Compare(a.Alias, b.Alias) })
	return all
}

// HostOfKey is the alias of the host that has this key at that time, as its last key or as an older
// one that still counts. If several hosts share the key, it is the first by alias. A revoked key is
// nobody's.
func (k *Ring) HostOfKey(key string, now time.Time) (protocol.Name, bool) {
	for _, alias := range k.aliases[key] {
		if k.HasKey(alias, key, now) {
			return alias, true
		}
	}
	return "", false
}

// RevokedHost is the alias of the host whose key this was until it was revoked. If several hosts
// share the key, it is the first by alias.
func (k *Ring) RevokedHost(key string) (protocol.Name, bool) {
	for _, alias := range k.aliases[key] {
		h, joined := k.Host(alias)
		if joined && slices.ContainsFunc(h.Keys(), func(held HeldKey) bool { return held.Key == key && !held.Revoked.IsZero() }) {
			return alias, true
		}
	}
	return "", false
}

// HasKey reports whether the key is the host's at that time, in the sense of HostOfKey.
func (k *Ring) HasKey(alias protocol.Name, key string, now time.Time) bool {
	h, joined := k.Host(alias)
	return joined && h.counts(key, now) && !h.Out()
}

// NextKeyEnd is the next time at which an old key stops to count, if an old key still counts beside
// the key that has followed it.
func (k *Ring) NextKeyEnd(now time.Time) (next time.Time, ok bool) {
	for _, h := range k.hosts {
		for _, held := range h.keys {
			if held.until.After(now) && (!ok || held.until.Before(next)) {
				next, ok = held.until, true
			}
		}
	}
	return next, ok
}

// Known says since when the record knows a key of a host. `by` is the most senior host that vouches
// for the key, and `since` is the time of its word. If there is none, `since` is what the host says
// itself of the key. `founder` says that the host began the record.
func (k *Ring) Known(alias protocol.Name, key string) (since time.Time, by string, founder bool) {
	h, joined := k.Host(alias)
	if !joined || h.keyAt(key) < 0 {
		return time.Time{}, "", false
	}
	if first := k.vouched[protocol.HostKey{Host: alias, Key: key}]; first.File != nil {
		return first.signedAt(), first.Host.String(), false
	}
	if word := cmp.Or(h.keys[h.keyAt(key)].by, h.joined); word != nil {
		since = word.signedAt()
	}
	return since, "", h.Founder()
}

// KnowsKey reports whether the key is in the host's history, whether it still counts or not.
func (k *Ring) KnowsKey(alias protocol.Name, key string) bool {
	h, joined := k.Host(alias)
	return joined && h.keyAt(key) >= 0
}

// Declared is the first word by which the host with that alias declared a name, even if it was long
// ago. It is nil if the host never did.
func (k *Ring) Declared(alias protocol.Name, name string) *File { return k.hosts[alias].Declared(name) }

// Declarations yields, for each host that ever declared a name, the first word by which it did, in
// no order.
func (k *Ring) Declarations(name string) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for _, h := range k.hosts {
			if word := h.declared[name]; word != nil && !yield(word) {
				return
			}
		}
	}
}

// Bearer is the host that has or had that key, or "".
func (k *Ring) Bearer(key string) protocol.Name {
	for _, h := range k.Hosts() {
		if h.Has(key) {
			return h.Alias
		}
	}
	return ""
}

// Revocations is how many revocations of a key that the host `by` has said count.
func (k *Ring) Revocations(by protocol.Name, of protocol.HostKey) int {
	h := k.hosts[of.Host]
	return each.Count(h.keys[h.keyAt(of.Key)].revoked, func(r revocation) bool { return r.Host == by })
}

// Claim is a key of a host for which somebody has to vouch.
type Claim struct {
	protocol.HostKey
	After string // the key before it; empty for a host's first
}

// Unvouched are the keys of other hosts for which the host `by` has to vouch, by alias: keys for
// which no host has vouched that is at least as senior. It is empty if the host's own word does not
// count, because nobody has vouched for it or its key is revoked.
func (k *Ring) Unvouched(by protocol.Name) []Claim {
	me, joined := k.Host(by)
	if !joined || me.rank == unranked || me.Out() {
		return nil
	}
	var all []Claim
	for _, h := range k.AllHosts() {
		if h.rank <= me.rank || h.Out() {
			continue
		}
		before := ""
		for _, held := range h.keys {
			key := protocol.HostKey{Host: h.Alias, Key: held.key}
			if by, vouched := k.vouched[key]; !vouched || by.rank > me.rank {
				all = append(all, Claim{key, before})
			}
			before = held.key
		}
	}
	return all
}

// Seniors are the hosts that are senior to `of`, the most senior first. If `of` is not ranked, they
// are all ranked hosts. Hosts that are out are left out.
func (k *Ring) Seniors(of protocol.Name) []protocol.Name {
	var all []protocol.Name
	for _, h := range k.ranked {
		if h.Alias == of {
			break
		}
		if !h.Out() {
			all = append(all, h.Alias)
		}
	}
	return all
}

// Founder is the host on which everything rests, and its humans who may have keys of other hosts
// revoked.
func (k *Ring) Founder() (protocol.Name, []protocol.Name) {
	if f := k.anchor.Founder; f.Key != "" {
		return f.Host, f.Humans
	}
	if len(k.ranked) == 0 {
		return "", nil
	}
	f := k.ranked[0]
	if f.first == nil {
		return f.Alias, nil
	}
	return f.Alias, f.first.Humans
}
