package keys

import (
	"slices"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Anchor identifies a record and says where the history of its keys begins.
type Anchor struct {
	RecordID string
	// Founder is the host that began the record, its key, and the humans who may have keys revoked,
	// from the record's first commit. It is zero if that commit does not say so. Then the founder
	// is the host with the earliest join.
	Founder protocol.HostState
}

// historian makes a ring of what hosts have said. The rules, which any
// implementation must share (docs/explanation/keys.md):
//
//   - The founder's first key is that of the anchor.
//   - A host that has joined is ranked once a ranked host has vouched for a key of it.
//     The founder is the most senior; then come the hosts in the order in which the most senior ones
//     vouched for them. The first key so named is the host's, and so is every key that
//     it says it has followed, in the proof of a rotation, up to one that has joined.
//   - A host that nobody ranked has vouched for has the key of its earliest join, by
//     timestamp. What it says of other hosts counts for nothing.
//   - A key is followed by the one that it named in a rotation: of several the one
//     that the most senior host vouched for, which must be senior to the host itself,
//     else the first by path.
//   - A key is revoked by a later one of its host, by itself where it is the last, or
//     by the founder in the name of one of its humans. A message counts that all of
//     these revocations leave in, and none where there are more than MaxRevocations of
//     the host or of the founder.
type historian struct {
	anchor Anchor
	words  *words
	ring   *Ring
	// left gives the messages that a revocation leaves in, or those that led to a rotation.
	left  func(word *File) *lineage
	pasts *pasts // what hosts wrote before their words

	witnessed map[protocol.Name][]string // keys for which hosts senior to the host vouched, in order
}

func (h historian) makeRing() *Ring {
	h.ring = &Ring{
		anchor: h.anchor, hosts: map[protocol.Name]*Host{}, aliases: map[string][]protocol.Name{},
		revoked: map[protocol.HostKey][]revocation{}, vouched: map[protocol.HostKey]vouch{},
	}
	if alias, key, ok := h.founder(); ok {
		h.enrol(alias, key)
	}
	for i := 0; i < len(h.ring.ranked); i++ {
		host := h.ring.ranked[i]
		h.complete(host)
		if i == 0 {
			h.founderRevokes(host)
		}
		h.vouches(host)
	}
	for alias := range h.words.joins {
		if h.ring.hosts[alias] == nil {
			h.provisional(alias)
		}
	}
	return h.ring
}

// MaxRevocations bounds the revocations of one key by its host, and those by the founder. If there
// are more, no message of the key is left in. A second revocation can only narrow what the first
// leaves in, and each costs room. If only the surplus were ignored, a thief who has the key could
// crowd out the revocation that is meant for him.
const MaxRevocations = 4

// revoking adds a revocation to those of a key. `said` is how many the same side has said of the
// key before.
func (h *historian) revoking(all []revocation, said int, it *File) []revocation {
	switch {
	case said > MaxRevocations:
		return all
	case said == MaxRevocations:
		return append(all, revocation{it, &lineage{by: it}})
	}
	return append(all, revocation{it, h.left(it)})
}

// founder is the host on which everything rests.
func (h *historian) founder() (alias protocol.Name, key string, ok bool) {
	if f := h.anchor.Founder; f.Key != "" {
		return f.Host, f.Key, true
	}
	var first *File
	for _, joins := range h.words.joins {
		if first == nil || byTimestamp(joins[0], first) < 0 {
			first = joins[0]
		}
	}
	if first == nil {
		return "", "", false
	}
	return first.Host, first.Key, true
}

func (h *historian) enrol(alias protocol.Name, key string) {
	host := &Host{Alias: alias, rank: len(h.ring.ranked), keys: []heldKey{{key: key}}}
	h.ring.hosts[alias] = host
	h.ring.ranked = append(h.ring.ranked, host)
}

// origin is the first of the keys that led to a key, as far as the proofs of the later keys say so.
// So a vouch for a later key also serves for the first one, if the vouch for the first one comes
// late. A key with which the host has joined is a first key. Otherwise its thief could put a key of
// his own before it, and the revocation of the stolen key would leave that one in.
func (h *historian) origin(of protocol.HostKey) string {
	for seen := map[string]bool{}; !seen[of.Key] && !h.joined(of); {
		seen[of.Key] = true
		if before := h.words.rotated[of]; len(before) > 0 {
			of.Key = before[0].Key
		}
	}
	return of.Key
}

func (h *historian) joined(of protocol.HostKey) bool {
	return slices.ContainsFunc(h.words.joins[of.Host], func(it *File) bool { return it.Key == of.Key })
}

// provisional is the history of a host that nobody has vouched for.
func (h *historian) provisional(alias protocol.Name) {
	host := &Host{Alias: alias, rank: unranked, keys: []heldKey{{key: h.words.joins[alias][0].Key}}}
	h.ring.hosts[alias] = host
	h.complete(host)
}

// complete follows the host's keys to the last one and says what is revoked.
func (h *historian) complete(host *Host) {
	had := map[string]bool{} // searching for each key would make long histories slow
	for {
		last := &host.keys[len(host.keys)-1]
		had[last.key] = true
		last.revoked = slices.Clone(h.ring.revoked[protocol.HostKey{Host: host.Alias, Key: last.key}])
		h.ring.hold(last.key, host.Alias)
		next := h.next(host, last, had)
		if next == nil {
			break
		}
		r := next.Word.(protocol.Rotation)
		last.until = r.Until
		if at := next.signedAt(); at.After(r.Until) {
			last.until = at // the rotation itself counts, and so does what came before it
		}
		if len(r.Last) > 0 {
			last.wrote = h.left(next)
		}
		host.keys = append(host.keys, heldKey{key: r.Key, by: next})
	}
	h.ownRevocations(host)
	h.fold(host)
}

func (k *Ring) hold(key string, alias protocol.Name) {
	i, found := slices.BinarySearch(k.aliases[key], alias)
	if !found {
		k.aliases[key] = slices.Insert(k.aliases[key], i, alias)
	}
}

// next is the rotation that counts, of those that a key signed to a key that the host has not had
// yet. It is nil if there is none.
func (h *historian) next(host *Host, last *heldKey, had map[string]bool) *File {
	who := Signer{host.Alias, last.key}
	var open []*File
	for _, it := range h.words.rotations[who] {
		if last.allows(it) && (last.by == nil || ByPath(last.by, it) < 0) && !had[it.Word.(protocol.Rotation).Key] {
			open = append(open, it)
		}
	}
	for _, key := range h.witnessed[host.Alias] {
		for _, it := range open {
			if it.Word.(protocol.Rotation).Key == key {
				return it
			}
		}
	}
	given := heldKey{key: last.key}
	for _, it := range h.words.revocations[who] {
		if it.Word.(protocol.Revocation).Revokes == (protocol.HostKey{Host: host.Alias, Key: last.key}) && last.allows(it) {
			given.revoked = h.revoking(given.revoked, len(given.revoked), it)
		}
	}
	return each.Find(open, given.allows)
}

// ownRevocations takes in what the host itself revoked: the last key revokes itself, and a later
// key revokes an earlier one. The later keys come first, because their revocations can leave out
// what the earlier keys say.
func (h *historian) ownRevocations(host *Host) {
	last := len(host.keys) - 1
	given := host.keys[last] // with the founder's revocations only: the key's own need not leave each other in
	own := map[int]int{}     // how many own revocations a key has already
	take := func(by int, counts func(at int, it *File) bool) {
		for _, it := range h.words.revocations[Signer{host.Alias, host.keys[by].key}] {
			r := it.Word.(protocol.Revocation)
			if at := host.keyAt(r.Revokes.Key); r.Revokes.Host == host.Alias && at >= 0 && counts(at, it) {
				host.keys[at].revoked = h.revoking(host.keys[at].revoked, own[at], it)
				own[at]++
			}
		}
	}
	take(last, func(at int, it *File) bool { return at == last && given.allows(it) })
	for by := last; by > 0; by-- {
		take(by, func(at int, it *File) bool { return at < by && host.judge(it) == Genuine })
	}
}

func (h *historian) founderRevokes(founder *Host) {
	humans := h.anchor.Founder.Humans
	if h.anchor.Founder.Key == "" && founder.first != nil {
		humans = founder.first.Humans
	}
	for _, held := range founder.keys {
		for _, it := range h.words.revocations[Signer{founder.Alias, held.key}] {
			r := it.Word.(protocol.Revocation)
			if r.Revokes.Host != founder.Alias && founder.judge(it) == Genuine && slices.Contains(humans, protocol.Name(it.Human)) {
				said := h.ring.revoked[r.Revokes]
				h.ring.revoked[r.Revokes] = h.revoking(said, len(said), it)
			}
		}
	}
}

func (h *historian) vouches(host *Host) {
	var all []*File
	for _, held := range host.keys {
		for _, it := range h.words.vouches[Signer{host.Alias, held.key}] {
			if host.judge(it) == Genuine {
				all = append(all, it)
			}
		}
	}
	slices.SortFunc(all, ByPath)
	for _, it := range all {
		for _, k := range it.Word.(protocol.Vouch).Knows {
			known := h.ring.hosts[k.Host]
			switch {
			case len(h.words.joins[k.Host]) == 0 || known != nil && known.rank <= host.rank:
				continue
			case known == nil:
				h.enrol(k.Host, h.origin(k))
			}
			h.witnessed[k.Host] = append(h.witnessed[k.Host], k.Key)
			if _, before := h.ring.vouched[k]; !before {
				h.ring.vouched[k] = vouch{host.rank, it}
			}
		}
	}
}

// fold makes what is known of a host from its other words: its first join, and what it has said
// later about whom it serves.
func (h *historian) fold(host *Host) {
	host.Key = host.keys[len(host.keys)-1].key
	host.declared = map[string]*File{}
	var first *File
	for _, it := range h.words.joins[host.Alias] {
		if host.keyAt(it.Key) < 0 {
			continue
		}
		says := it.Word.(protocol.HostState)
		counts := host.judge(it) == Genuine
		if counts || first == nil { // a join that somebody else dates before it takes nothing from it
			host.first, first = &says, it
		}
		if counts {
			host.take(it, says)
			break
		}
	}
	host.joined = first // it bounds what is judged from now on
	for _, it := range h.words.agents[host.Alias] {
		if host.judge(it) == Genuine {
			host.take(it, it.Word.(protocol.HostState))
		}
	}
	h.humans(host)
}
