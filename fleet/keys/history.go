package keys

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// History takes in what hosts sign, and keeps the ring that follows from it. It is for
// one goroutine at a time.
type History struct {
	anchor   Anchor
	files    Files
	words    words
	lineages lineages
	pasts    *pasts
	ring     *Ring
	stale    bool             // words have come together, and the ring does not know them yet
	last     map[Signer]*File // the greatest path that each signer has signed
	first    map[Signer]*File // the smallest one
	signed   map[Signer]int   // how many files each signer has signed
	refused  tally

	judged, shaken int                   // see Turns
	epochs         map[protocol.Name]int // under "", how often anything may have changed whom hosts declare
}

// Files gives a history the files of which it was told.
type Files interface {
	// Signed is the sealed file with that hash, whether it stands at its path or has lost the path
	// to another file. It is nil if there is none.
	Signed(hash string) *File
	// Files yields all of them, in no order.
	Files() iter.Seq[*File]
}

// New is the history of a record before its first file.
func New(anchor Anchor, files Files) *History {
	h := &History{
		anchor: anchor, files: files, words: newWords(), lineages: newLineages(files.Signed), pasts: newPasts(files.Signed),
		last: map[Signer]*File{}, first: map[Signer]*File{}, signed: map[Signer]int{}, epochs: map[protocol.Name]int{},
	}
	h.ring = h.historian().makeRing()
	return h
}

// Kept is what a history is restored from: everything else follows from it.
type Kept struct {
	Words  []*File          // what hosts said of hosts, whether their files won their paths or not
	Last   map[Signer]*File // the greatest path that each signer has signed
	First  map[Signer]*File // the smallest one
	Signed map[Signer]int   // how many files each signer has signed
}

// Keep returns what Restore needs.
func (h *History) Keep() Kept {
	return Kept{h.words.all(), maps.Clone(h.last), maps.Clone(h.first), maps.Clone(h.signed)}
}

// Restore puts what was kept into a history that has learned nothing yet.
func (h *History) Restore(kept Kept) {
	maps.Copy(h.last, kept.Last)
	maps.Copy(h.first, kept.First)
	maps.Copy(h.signed, kept.Signed)
	for _, f := range kept.Words {
		if f.Word != nil {
			h.words.add(f)
		}
	}
	h.ring = h.historian().makeRing()
	h.ring.version++
}

// Ring says who may sign for whom, as far as the files say that have come. It is valid until the
// next file comes.
func (h *History) Ring() *Ring { return h.ring }

func (h *History) historian() historian {
	return historian{anchor: h.anchor, words: &h.words, ring: h.ring, left: h.lineages.leftBy, pasts: h.pasts, witnessed: map[protocol.Name][]string{}}
}

// Learn notes a signed file with its signer, and takes in what it says of hosts. It reports whether
// messages are judged differently than before. If `together` is true, more files come with it: then
// Settle looks at all of them at once, and reports it.
func (h *History) Learn(f *File, together bool) (turned bool) {
	if !f.Sealed {
		return false
	}
	who := f.Signer()
	h.last[who] = Later(h.last[who], f)
	h.first[who] = Earlier(h.first[who], f)
	h.signed[who]++
	if f.Word == nil || f.Act == protocol.ActHostWithhold { // that says nothing of keys
		return false
	}
	h.words.add(f)
	switch {
	case together:
		h.stale = true
		return false
	case f.Act == protocol.ActHostAgents, f.Act == protocol.ActHumanKey && !h.isFounder(f.Host):
		return h.relearn(f.Host)
	case f.Act == protocol.ActHostJoin && !h.unsettles(f):
		return h.relearn(f.Host)
	case f.Act == protocol.ActHostJoin || h.precedes(f):
		return h.relearnAll()
	case h.ring.hosts[f.Host] == nil || h.ring.hosts[f.Host].keyAt(f.Key) < 0:
		return false // it counts for nothing until the key becomes the host's
	}
	return h.relearnAll()
}

// isFounder reports whether the host is the one whose humans may end keys of other hosts.
func (h *History) isFounder(alias protocol.Name) bool {
	founder, _ := h.ring.Founder()
	return alias == founder
}

// Arrived notes that Files now has a file of which the history has learned.
func (h *History) Arrived(f *File) {
	h.lineages.arrived(f.Hash)
	h.pasts.arrived(f.Hash)
	if h.refused.valid {
		h.refused.add(h.ring.Judge(f))
	}
}

// Settle takes in what has come together. It also takes in what revocations leave in of the files
// that have arrived. It reports whether messages are judged differently than before.
func (h *History) Settle() (turned bool) {
	of, word, narrowed := h.lineages.extend()
	for _, host := range of {
		h.epochs[host]++
	}
	if turned = len(of) > 0; turned {
		h.ring.version++
		h.judged++
		if narrowed {
			h.shaken++
		}
		h.refused.valid = false
	}
	decided, anew := h.pasts.extend()
	for _, host := range decided {
		h.epochs[host]++
	}
	if h.stale || word || anew {
		h.stale = false
		turned = h.relearnAll() || turned
	}
	return turned
}

// Moved notes that the word of a host has another place in the order of the record. So the place
// since which its host declares others may have changed.
func (h *History) Moved() { h.epochs[""]++ }

// Forked notes that a message has come to stand beside another in its host's chain, or no longer
// does. This may contest what a human of the host decided.
func (h *History) Forked(host protocol.Name) { h.epochs[host]++ }

// unsettles reports whether a join changes more than what is known of its own host. It does if it
// says who the founder is and who its humans are, or with which key a host begins. It also does if
// others have vouched for the host and this is its first join, or may be the one before which the
// host said nothing.
func (h *History) unsettles(f *File) bool {
	made := h.historian()
	alias, key, _ := made.founder()
	enrolled := h.words.named[f.Host] && len(h.words.joins[f.Host]) == 1
	host := h.ring.hosts[f.Host]
	bounds := host.Joined() && host.rank != unranked && host.keyAt(f.Key) >= 0
	return enrolled || bounds || f.Host == alias || len(h.ring.ranked) == 0 || h.ring.ranked[0].Alias != alias || h.ring.ranked[0].keys[0].key != key ||
		len(h.words.rotated[protocol.HostKey{Host: f.Host, Key: f.Key}]) > 0
}

// precedes reports whether a rotation, whatever key signed it, may say which key a host had before
// one of its known keys (see historian.origin).
func (h *History) precedes(f *File) bool {
	r, rotates := f.Word.(protocol.Rotation)
	host := h.ring.hosts[f.Host]
	return rotates && host != nil && host.keyAt(r.Key) >= 0
}

// relearn makes the host with that alias anew. It is for words that change only what is known of
// that host.
func (h *History) relearn(alias protocol.Name) (turned bool) {
	before := h.ring.hosts[alias]
	made := h.historian()
	switch {
	case before != nil && before.rank != unranked:
		host := &Host{Alias: alias, rank: before.rank, keys: before.keys}
		made.fold(host)
		h.ring.hosts[alias] = host
		h.ring.ranked[host.rank] = host
	case len(h.words.joins[alias]) > 0:
		made.provisional(alias)
	default:
		return false
	}
	return h.shift(before, h.ring.hosts[alias])
}

// relearnAll makes the history of all hosts anew.
func (h *History) relearnAll() (turned bool) {
	before := h.ring
	h.lineages.keep(func() { h.ring = h.historian().makeRing() })
	h.ring.version = before.version
	for alias, host := range h.ring.hosts {
		turned = h.shift(before.hosts[alias], host) || turned
	}
	for alias, host := range before.hosts {
		if h.ring.hosts[alias] == nil {
			turned = h.shift(host, nil) || turned
		}
	}
	was, _ := before.Founder()
	if is, _ := h.ring.Founder(); was != is {
		for alias := range h.ring.hosts {
			h.epochs[alias]++ // for decisions that only the founder can take
		}
		h.epochs[was]++
	}
	return turned
}

// shift counts what it means for receipts that a host has changed from `before` to `after`, and
// reports whether messages are judged differently.
func (h *History) shift(before, after *Host) (turned bool) {
	h.judged++
	turned = !before.Joined() || !after.Joined() || !sameKeys(before.keys, after.keys) || !sameFile(before.joined, after.joined)
	if turned {
		h.ring.version++
		h.refused.valid = h.refused.valid && !h.suspect(before) && !h.suspect(after)
	}
	before, after = before.orNone(), after.orNone()
	if turned || !maps.Equal(before.declared, after.declared) || !maps.Equal(before.everHuman, after.everHuman) || !maps.EqualFunc(before.humanKeys, after.humanKeys, slices.Equal[[]HumanKey]) {
		h.epochs[cmp.Or(before.Alias, after.Alias)]++
		h.epochs[""]++
	}
	if before.Joined() && (turned || !includes(after.declared, before.declared)) {
		h.shaken++
	}
	return turned
}

func includes(all, some map[string]*File) bool {
	for name := range some {
		if all[name] == nil {
			return false
		}
	}
	return true
}

// Turns returns two counts: how often it may have changed whose receipts count, and how often
// receipts that counted may have stopped to count.
func (h *History) Turns() (judged, shaken int) { return h.judged, h.shaken }

// Epoch rises whenever what a host has said is judged differently: its keys have changed, or whom
// it has declared. As long as the epochs of all hosts on which a result depends are the same, the
// result is the same. The epoch of "" rises whenever it may have changed whom hosts declare, or
// since which place.
func (h *History) Epoch(host protocol.Name) int { return h.epochs[host] }

// Epochs is the sum of all epochs. As long as it is the same, nothing has changed for any host.
func (h *History) Epochs() (sum int) {
	for _, epoch := range h.epochs {
		sum += epoch
	}
	return sum
}

// Last is the last message of a host in the order of its own chain: the message with the greatest
// path of those that its keys signed while they counted.
func (h *History) Last(alias protocol.Name) (*File, bool) {
	host, joined := h.ring.Host(alias)
	if !joined {
		return nil, false
	}
	var last *File
	for _, held := range host.keys {
		f := h.last[Signer{alias, held.key}]
		if f != nil && host.judge(f) == Genuine {
			last = Later(last, f)
		}
		if held.by != nil {
			last = Later(last, held.by)
		}
	}
	return last, last != nil
}

// Awaited are messages that revocations leave in but that are not here, at most `most` of each
// host. Until they are here, the messages before them do not count.
func (h *History) Awaited(most int) []Gap { return h.lineages.missing(most) }
