package keys

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// HumanKey is a key with which a human of a host signs decisions (R35). Its words are the
// host's own, in the order in which the host wrote them: what the host writes between the
// first and the last of them is what the key can have signed.
type HumanKey struct {
	Key   string // public nkey
	Open  bool   // it is kept without a passphrase
	Since *File  // the word that brought it
	Until *File  // the word that brought the next one; nil: it is the last
	Ended *File  // the word that revoked it; nil: none did
}

// counts reports whether what the host wrote in that file can be signed by the key.
func (k HumanKey) counts(it *File) bool {
	switch {
	case ByPath(k.Since, it) >= 0, k.Until != nil && ByPath(it, k.Until) >= 0:
		return false
	case k.Ended == nil:
		return true
	}
	_, counts := slices.BinarySearch(k.Ended.Word.(protocol.HumanEnd).Counts, it.Hash)
	return counts
}

// HumanKeys are the keys that a human of the host had, the first one in front.
func (h *Host) HumanKeys(human string) []HumanKey {
	if h == nil {
		return nil
	}
	return h.humanKeys[human]
}

// HumanKeyNow is the key with which a human of the host signs what it writes next. It is not
// ok where none counts; had says that there was one.
func (h *Host) HumanKeyNow(human string) (key HumanKey, ok, had bool) {
	all := h.HumanKeys(human)
	if len(all) == 0 {
		return HumanKey{}, false, false
	}
	key = all[len(all)-1]
	return key, key.Ended == nil, true
}

// HumanKeyFor is the key with which a human of the host could sign a file that the host
// wrote. It is not ok where the human had none then, or it was revoked and the file is not
// among what counts still.
func (h *Host) HumanKeyFor(human string, it *File) (key HumanKey, ok bool) {
	for _, k := range h.HumanKeys(human) {
		if k.counts(it) {
			return k, true
		}
	}
	return HumanKey{}, false
}

// HadKey reports whether a human of the host had a key when the host wrote a file, be it
// one that was revoked: then what bears no signature of it is no decision of theirs.
func (h *Host) HadKey(human string, it *File) bool {
	all := h.HumanKeys(human)
	return len(all) > 0 && ByPath(all[0].Since, it) < 0
}

// humans takes in the keys of a host's humans. The first key of a human stays: the next
// one is agreed to by the last, so that who has the host's key has no human's. Where the
// last one is revoked, the next is a first one again.
func (h *historian) humans(host *Host) {
	host.humanKeys = map[string][]HumanKey{}
	for _, it := range h.words.humans[host.Alias] {
		switch says := it.Word.(type) {
		case protocol.HumanKey:
			all := host.humanKeys[says.Human.String()]
			last := len(all) - 1
			follows := last >= 0 && all[last].Ended == nil
			switch {
			case host.judge(it) != Genuine, !host.everHuman[says.Human.String()]:
				continue
			case slices.ContainsFunc(all, func(k HumanKey) bool { return k.Key == says.Key }):
				continue // what was signed with it once would count again
			case follows && says.After != all[last].Key, !follows && says.After != "":
				continue
			case follows:
				all[last].Until = it
			}
			host.humanKeys[says.Human.String()] = append(all, HumanKey{Key: says.Key, Open: says.Open, Since: it})
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
		if k, ok := founder.HumanKeyFor(human.String(), it); ok && k.Key == key {
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
