package keys

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// HumanKey is a key with which a human of a host signs decisions (R35). Its words are the
// host's own, in the order in which the host wrote them. What the host writes between the
// first and the last of them is what the key can have signed.
type HumanKey struct {
	Key   string // public nkey
	Open  bool   // it is kept without a passphrase
	Since *File  // the word that brought it
	Until *File  // the word that brought the next one; nil: it is the last
	Ended *File  // the word that revoked it; nil: none did
	first *File  // the word that brought the first of those that led to it
}

// last reports whether the human goes on to sign with it.
func (k HumanKey) last() bool { return k.Until == nil && k.Ended == nil }

// HumanKeys are the keys that a human of the host had, the first one in front.
func (h *Host) HumanKeys(human string) []HumanKey {
	if h == nil {
		return nil
	}
	return h.humanKeys[human]
}

// HumanKeyNow is the key with which a human of the host signs what it writes next. It is not
// ok where none counts, because all are revoked or it is contested which one is theirs; had
// says that there was one.
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

// Contested are the keys of a human where a host has told of two first ones, each without knowing
// of the other. Then the host's key is used in two places, and nothing tells which key is the
// human's. None counts until only one is left that is not revoked. Nil where nothing is
// contested.
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

// HumanKeyFor is the key with which a human of the host could sign a file that the host
// wrote. It is not ok where the human had none then, where it is contested, or where it was
// revoked and the file is not among what counts still.
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

// The answers.
const (
	HadNone Had = iota // what the host said in their name did
	HadKey             // what bears no signature of it is no decision of theirs
	// HadLater is of a file that is dated before the human's first key. But as far as the files
	// that led there are here, the host did not write it before it told of that key.
	HadLater
)

// HadKey says whether a human of the host had a key when the host wrote a file, be it one
// that was revoked.
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

// humans takes in the keys of a host's humans. The first key of a human stays: the next one is
// agreed to by the last, so that who has the host's key has no human's. Where the last one is
// revoked, the next is a first one again. A first key is believed where the host has written none
// before it. Of two first keys that do not know of each other neither counts: one of them may be
// a thief's, who can date it at will.
func (h *historian) humans(host *Host) {
	host.humanKeys = map[string][]HumanKey{}
	for _, it := range h.words.humans[host.Alias] {
		switch says := it.Word.(type) {
		case protocol.HumanKey:
			all := host.humanKeys[says.Human.String()]
			next := HumanKey{Key: says.Key, Open: says.Open, Since: it, first: it}
			before := slices.IndexFunc(all, func(k HumanKey) bool { return k.Key == says.After && k.last() })
			goesOn := func(k HumanKey) bool { // one to which it led
				return slices.ContainsFunc(all, func(l HumanKey) bool { return l.first == k.first && l.last() })
			}
			switch {
			case host.judge(it) != Genuine, !host.everHuman[says.Human.String()]:
				continue
			case slices.ContainsFunc(all, func(k HumanKey) bool { return k.Key == says.Key }):
				continue // what was signed with it once would count again
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

// endHuman takes in that a key of a human is revoked: by the key itself, or by the one that
// a human of the founder's has.
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

// byFounder reports whether the founder wrote a word with which the key of one of its
// humans agrees, which counts.
func (h *historian) byFounder(it *File, key string) bool {
	if len(h.ring.ranked) == 0 {
		return false
	}
	founder := h.ring.ranked[0]
	if it.Host != founder.Alias || founder.judge(it) != Genuine {
		return false
	}
	_, humans := h.ring.Founder()
	for _, human := range humans {
		if k, ok := h.pasts.humanKey(founder, human.String(), it, true); ok && k.Key == key {
			return true
		}
	}
	return false
}

// sameHumanKeys reports whether two looks at a host judge every decision alike.
func sameHumanKeys(before, after *Host) bool {
	return maps.EqualFunc(before.humanKeysAll(), after.humanKeysAll(), func(a, b []HumanKey) bool { return slices.Equal(a, b) })
}

func (h *Host) humanKeysAll() map[string][]HumanKey {
	if h == nil {
		return nil
	}
	return h.humanKeys
}
