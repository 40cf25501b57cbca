package keys

import (
	"cmp"
	"iter"
	"maps"

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
	stale    bool             // words have come together that the ring does not know
	last     map[Signer]*File // the greatest path that each signed
	signed   map[Signer]int   // how many files each signed
	refused  tally

	judged, shaken int                   // see Turns
	epochs         map[protocol.Name]int // under "" how often anything may have changed whom hosts declare
}

// Files is what a history asks of the files that it has been told of.
type Files interface {
	// Signed is the sealed file with that hash, whether it stands at its path or has
	// lost it to another; nil if there is none.
	Signed(hash string) *File
	// Files yields all of them, in no order.
	Files() iter.Seq[*File]
}

// New is the history of a record before its first file.
func New(anchor Anchor, files Files) *History {
	h := &History{
		anchor: anchor, files: files, words: newWords(), lineages: newLineages(files.Signed), pasts: newPasts(files.Signed),
		last: map[Signer]*File{}, signed: map[Signer]int{}, epochs: map[protocol.Name]int{},
	}
	h.ring = h.historian().makeRing()
	return h
}

// Kept is what a history is made of again: the rest follows from it.
type Kept struct {
	Words  []*File          // what hosts said of hosts, whichever files won their paths
	Last   map[Signer]*File // the greatest path that each signed
	Signed map[Signer]int   // how many files each signed
}

// Keep is what Restore needs.
func (h *History) Keep() Kept { return Kept{h.words.all(), maps.Clone(h.last), maps.Clone(h.signed)} }

// Restore puts what was kept of a history into one that has learned nothing yet.
func (h *History) Restore(kept Kept) {
	maps.Copy(h.last, kept.Last)
	maps.Copy(h.signed, kept.Signed)
	for _, f := range kept.Words {
		if f.Word != nil {
			h.words.add(f)
		}
	}
	h.ring = h.historian().makeRing()
	h.ring.version++
}

// Ring is who may sign for whom as far as the files tell that have come. It holds until
// the next file comes.
func (h *History) Ring() *Ring { return h.ring }

func (h *History) historian() historian {
	return historian{anchor: h.anchor, words: &h.words, ring: h.ring, left: h.lineages.leftBy, pasts: h.pasts, witnessed: map[protocol.Name][]string{}}
}

// Learn notes a signed file with its signer and takes in what it says of hosts. It
// reports whether messages are judged otherwise than before. What came together is told
// so, and looked at once, by Settle.
func (h *History) Learn(f *File, together bool) (turned bool) {
	if !f.Sealed {
		return false
	}
	who := f.Signer()
	h.last[who] = Later(h.last[who], f)
	h.signed[who]++
	if f.Word == nil {
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
		return false // it counts for nothing, until the key comes to be the host's
	}
	return h.relearnAll()
}

// isFounder reports whether the host is the one whose humans may end the keys of others'.
func (h *History) isFounder(alias protocol.Name) bool {
	founder, _ := h.ring.Founder()
	return alias == founder
}

// Arrived notes that Files has a file that was learned of.
func (h *History) Arrived(f *File) {
	h.lineages.arrived(f.Hash)
	h.pasts.arrived(f.Hash)
	if h.refused.valid {
		h.refused.add(h.ring.Judge(f))
	}
}

// Settle takes in what has come together, and what revocations leave in of the files
// that have arrived. It reports whether messages are judged otherwise than before.
func (h *History) Settle() (turned bool) {
	of, word := h.lineages.extend()
	for _, host := range of {
		h.epochs[host]++
	}
	if turned = len(of) > 0; turned {
		h.ring.version++
		h.judged++
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

// Moved notes that the word of a host stands elsewhere in the order of the record, so
// that its host may have declared others since another place.
func (h *History) Moved() { h.epochs[""]++ }

// Forked notes that a message has come to stand beside another in its host's chain, or stands
// there no more. That may contest what a human of the host decided.
func (h *History) Forked(host protocol.Name) { h.epochs[host]++ }

// unsettles reports whether a join changes more than what is known of its own host. It does if it
// says who the founder is and who its humans are, with which key a host begins, or that a host is
// there for which others have vouched.
func (h *History) unsettles(f *File) bool {
	made := h.historian()
	alias, key, _ := made.founder()
	enrolled := h.words.named[f.Host] && len(h.words.joins[f.Host]) == 1
	return enrolled || f.Host == alias || len(h.ring.ranked) == 0 || h.ring.ranked[0].Alias != alias || h.ring.ranked[0].keys[0].key != key ||
		len(h.words.rotated[protocol.HostKey{Host: f.Host, Key: f.Key}]) > 0
}

// precedes reports whether a rotation, signed by whatever key, may say which key a
// host had before one that it is known by (see historian.origin).
func (h *History) precedes(f *File) bool {
	r, rotates := f.Word.(protocol.Rotation)
	host := h.ring.hosts[f.Host]
	return rotates && host != nil && host.keyAt(r.Key) >= 0
}

// relearn makes the host of that alias anew. Its words change nothing but what is
// known of itself.
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
			h.epochs[alias]++ // what only the founder can decide
		}
		h.epochs[was]++
	}
	return turned
}

// shift counts what it means for receipts that a host is known otherwise than
// before, and reports whether messages are judged otherwise.
func (h *History) shift(before, after *Host) (turned bool) {
	h.judged++
	turned = !before.Joined() || !after.Joined() || !sameKeys(before.keys, after.keys)
	if turned {
		h.ring.version++
		h.refused.valid = h.refused.valid && !h.suspect(before) && !h.suspect(after)
	}
	if alias := cmp.Or(before, after).Alias; turned || !maps.Equal(before.declarations(), after.declarations()) || !maps.Equal(before.humansEver(), after.humansEver()) || !sameHumanKeys(before, after) {
		h.epochs[alias]++
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

// Turns are how often it may have changed whose receipts count, and how often those of
// somebody that counted may count no more.
func (h *History) Turns() (judged, shaken int) { return h.judged, h.shaken }

// Epoch rises whenever what a host has said comes to be judged otherwise: its keys have
// changed, or whom it has declared. Two looks at one epoch of all hosts that a look
// concerned have seen the same. That of "" rises whenever whom hosts declare, and since
// which place, may have changed.
func (h *History) Epoch(host protocol.Name) int { return h.epochs[host] }

// Epochs is the sum of all epochs: two looks at one sum have seen the same of all hosts.
func (h *History) Epochs() (sum int) {
	for _, epoch := range h.epochs {
		sum += epoch
	}
	return sum
}

// Last is the last message of a host in the order of its own chain: the one
// with the greatest path that its keys signed while they counted.
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

// Awaited are messages that revocations leave in and that are not here, up to most of
// each host. Until they are here, what stands before them does not count.
func (h *History) Awaited(most int) []Gap { return h.lineages.missing(most) }
