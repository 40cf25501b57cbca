package keys

import "slices"

// tally is how many messages are refused because of when their host's keys counted. All messages
// are looked at once after the keys of a host with such messages have changed. After that, each new
// message is added.
type tally struct {
	valid              bool
	overdue, cancelled int
}

func (t *tally) add(v Verdict) {
	switch v {
	case Overdue:
		t.overdue++
	case Cancelled:
		t.cancelled++
	}
}

// Refused is how many files are signed with an old key of their host after its time, and
// how many are left out by the revocation of their key.
func (h *History) Refused() (overdue, cancelled int) {
	if !h.refused.valid {
		h.refused = tally{valid: true}
		if h.anySuspect() {
			for f := range h.files.Files() {
				h.refused.add(h.ring.Judge(f))
			}
		}
	}
	return h.refused.overdue, h.refused.cancelled
}

// Strangers returns how many joins there are to an alias that another key has, and how many files
// in all are signed with a key that is not their host's.
func (h *History) Strangers() (joins, files int) {
	for alias, all := range h.words.joins {
		for _, f := range all {
			if host := h.ring.hosts[alias]; host.Joined() && !host.Has(f.Key) {
				joins++
			}
		}
	}
	for who, n := range h.signed {
		if host := h.ring.hosts[who.Host]; host.Joined() && !host.Has(who.Key) {
			files += n
		}
	}
	return joins, files
}

func (h *History) anySuspect() bool {
	for _, host := range h.ring.hosts {
		if h.suspect(host) {
			return true
		}
	}
	return false
}

// suspect reports whether any message of a host can be refused because of its time: the host has a
// revoked key, or a key that was used outside of its time.
func (h *History) suspect(host *Host) bool {
	return host.Joined() && slices.ContainsFunc(host.keys, func(held heldKey) bool { return !h.clean(host, &held) })
}

// clean reports whether everything that a key of a host signed counts, without looking at each
// message.
func (h *History) clean(host *Host, held *heldKey) bool {
	who := Signer{host.Alias, held.key}
	first, last := h.first[who], h.last[who]
	switch {
	case len(held.revoked) > 0:
		return false
	case first == nil:
		return true
	case host.judge(first) == Overdue || host.judge(last) == Overdue:
		return false
	}
	return held.wrote == nil || held.wrote.size()+1 >= h.signed[who] // 1 for the rotation itself
}

// CountsAlways reports whether everything that a host's key signed for that author counts. `sure`
// is false if the key has been revoked, or if some of these messages may be outside of its time.
func (h *History) CountsAlways(who Signer, author string) (counts, sure bool) {
	host := h.ring.hosts[who.Host]
	if host == nil {
		return false, true
	}
	at := host.keyAt(who.Key)
	if at < 0 || author != who.Host.String() && host.declared[author] == nil {
		return false, true
	}
	return true, h.clean(host, &host.keys[at])
}
