package keys

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// HumanKey is a key with which a human of a host signs decisions (R35). The words about it are the
// host's own, in the order in which the host wrote them. The key can have signed what the host
// wrote between the first and the last of these words.
type HumanKey struct {
	Key   string // public nkey
	Open  bool   // it is kept without a passphrase
	Since *File  // the word that told it
	Until *File  // the word that told the next key; nil: this is the last
	Ended *File  // the word that revoked it; nil if none did
	first *File  // the word that told the first key of the row to which this key belongs
}

// last reports whether the human still signs with it.
func (k HumanKey) last() bool { return k.Until == nil && k.Ended == nil }

// HumanKeys are the keys that a human of the host had, the first key first.
func (h *Host) HumanKeys(human string) []HumanKey { return h.orNone().humanKeys[human] }

// HumanKeyNow is the key with which a human of the host signs what they write next. `ok` is false
// if no key counts, because all are revoked or two contradict each other. `had` says that the human
// has had a key.
func (h *Host) HumanKeyNow(human string) (key HumanKey, ok, had bool) {
	all := h.HumanKeys(human)
	for _, k := range all {
		if k.last() {
			key, ok = k, true
		}
	}
	if !ok && len(all) > 0 {
		key = all[len(all)-1]
	}
	return key, ok && h.Contested(human) == nil, len(all) > 0
}

// Contested are the keys of a human if a host has told two first keys, each without knowing of the
// other. Then the host's key is used in two places, and nothing says which key is the human's. No
// key counts until only one is left that is not revoked. It is nil if nothing is contested.
func (h *Host) Contested(human string) (public []string) {
	for _, k := range h.HumanKeys(human) {
		if k.last() {
			public = append(public, k.Key)
		}
	}
	if len(public) < 2 {
		return nil
	}
	return public
}

// HumanKeyFor is the key with which a human of the host could have signed a file that the host
// wrote. `ok` is false if the human had no key then, if their keys are contested, or if the key was
// revoked and the file is not among those that still count.
func (h *History) HumanKeyFor(host *Host, human string, it *File) (key HumanKey, ok bool) {
	return h.pasts.humanKey(host, human, it, false)
}

func (ps *pasts) humanKey(host *Host, human string, it *File, ring bool) (key HumanKey, ok bool) {
	contested := host.Contested(human) != nil
	for _, k := range host.HumanKeys(human) {
		switch {
		case ByPath(k.Since, it) >= 0:
		case k.Ended != nil:
			if _, counts := slices.BinarySearch(k.Ended.Word.(protocol.HumanEnd).Counts, it.Hash); counts {
				return k, true
			}
		case contested, k.Until != nil && !ps.led(it, k.Until, ring):
		default:
			return k, true
		}
	}
	return HumanKey{}, false
}

// Had says whether a human had a key when their host wrote a file.
type Had int

// The answers. They say what the host's word in the human's name is worth.
const (
	HadNone Had = iota // the human had none: what the host says in their name counts
	HadKey             // the human had one: a file without its signature is no decision of theirs
	// HadLater is the answer for a file that is dated before the human's first key. But as far as
	// the files between them are here, the host did not write it before the word that told of that
	// key.
	HadLater
)

// HadKey says whether a human of the host had a key when the host wrote a file, even if that key
// was revoked.
func (h *History) HadKey(host *Host, human string, it *File) Had {
	all := host.HumanKeys(human)
	switch {
	case len(all) == 0:
		return HadNone
	case ByPath(all[0].Since, it) < 0:
		return HadKey
	case slices.ContainsFunc(all, func(k HumanKey) bool { return k.first == k.Since && !h.pasts.led(it, k.Since, false) }):
		return HadLater
	}
	return HadNone
}

// humans takes in the keys of a host's humans. The first key of a human stays: each next key needs
// the agreement of the last one. So whoever has the host's key does not have a human's key. If the
// last key is revoked, the next one is a first key again.
//
// A first key is believed if the host has written no first key before it. If there are two first
// keys that do not know of each other, neither counts: one of them may be a thief's, who can date
// it at will.
func (h *historian) humans(host *Host) {
	host.humanKeys = map[string][]HumanKey{}
	for _, it := range h.words.humans[host.Alias] {
		switch says := it.Word.(type) {
		case protocol.HumanKey:
			all := host.humanKeys[says.Human.String()]
			next := HumanKey{Key: says.Key, Open: says.Open, Since: it, first: it}
			before := slices.IndexFunc(all, func(k HumanKey) bool { return k.Key == says.After && k.last() })
			goesOn := func(k HumanKey) bool { // one that led to a key which still counts
				return slices.ContainsFunc(all, func(l HumanKey) bool { return l.first == k.first && l.last() })
			}
			switch {
			case host.judge(it) != Genuine, !host.everHuman[says.Human.String()]:
				continue
			case slices.ContainsFunc(all, func(k HumanKey) bool { return k.Key == says.Key }):
				continue // otherwise what was once signed with it would count again
			case says.After != "" && before < 0:
				continue
			case says.After != "":
				all[before].Until, next.first = it, all[before].first
			case slices.ContainsFunc(all, func(k HumanKey) bool { return goesOn(k) && h.pasts.led(k.Since, it, true) }):
				continue
			}
			host.humanKeys[says.Human.String()] = append(all, next)
		case protocol.HumanEnd:
			h.endHuman(host, it, says)
		}
	}
}

// endHuman takes in that a key of a human is revoked: by that key itself, or by the key of a human
// of the founder.
func (h *historian) endHuman(host *Host, it *File, says protocol.HumanEnd) {
	all := host.humanKeys[says.Human.String()]
	at := slices.IndexFunc(all, func(k HumanKey) bool { return k.Key == says.Key })
	if at < 0 || all[at].Ended != nil {
		return
	}
	own := says.By == says.Key && says.Host == host.Alias && host.judge(it) == Genuine
	if own || h.byFounder(it, says.By) {
		all[at].Ended = it
	}
}

// byFounder reports whether the founder wrote the word, and whether `key` is a key of one of its
// humans that counts for it.
func (h *historian) byFounder(it *File, key string) bool {
	if len(h.ring.ranked) == 0 {
		return false
	}
	founder := h.ring.ranked[0]
	if it.Host != founder.Alias || founder.judge(it) != Genuine {
		return false
	}
	_, humans := h.ring.Founder()
	return slices.ContainsFunc(humans, func(human protocol.Name) bool {
		k, ok := h.pasts.humanKey(founder, human.String(), it, true)
		return ok && k.Key == key
	})
}
