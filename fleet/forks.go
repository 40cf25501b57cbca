package fleet

import (
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// slot is a place in a host's chain where only one message can stand: the place behind the message
// with the hash `prev` or, if `prev` is empty, the place with the number `seq` in a run.
type slot struct {
	host      protocol.Name
	prev, run string
	seq       uint64
}

// String is the place by its number in the run, for tables.
func (b slot) String() string { return fmt.Sprintf("%s/%s/%d", b.host, b.run, b.seq) }

// slot is the place of a signed message by its number in the run.
func (it *Item) slot() slot { return slot{host: it.Host, run: it.Run, seq: it.Seq} }

// behind is the place of a signed message behind the message that it follows.
func (it *Item) behind() slot { return slot{host: it.Host, prev: it.Prev} }

// places are the places of a signed message in its host's chain.
func (it *Item) places() []slot {
	if it.Prev == "" {
		return []slot{it.slot()}
	}
	return []slot{it.slot(), it.behind()}
}

// noteFork notes if two messages stand at one place of their host's chain: both follow the same
// message, or both have the same number. Then it is no chain any more.
func (l *Ledger) noteFork(it *Item) {
	if !it.Sealed {
		return
	}
	for _, at := range it.places() {
		_, noted := l.forks[at] // somebody may write there again and again: that must not have all messages read each time
		if !noted && l.isCrowded(at) && len(l.standing(at)) > 1 {
			l.forks[at], noted = struct{}{}, true
		}
		if noted {
			l.tellFork(it)
		}
	}
}

// noteHole notes if the file that a message follows is not here, and that the message is.
func (l *Ledger) noteHole(it *Item) {
	delete(l.holes, it.Hash)
	if it.Sealed && protocol.IsHash(it.Prev) && !l.knows(it.Prev) {
		l.holes[it.Prev] = struct{}{}
	}
}

// knows reports whether there is a file with that hash, even if it has lost its path to another one.
func (l *Ledger) knows(hash string) bool {
	return len(l.lost[hash]) > 0 || len(hashed.find(l, hash)) > 0
}

// Somebody could make holes without end, with keys that count for nothing as well.
const (
	maxHoles      = 1000          // how many are counted at most
	mostHolesRead = 10 * maxHoles // how many are looked at for that
)

// Holes is how many messages are not here that messages which count follow in their hosts' chains.
func (c *Chains) Holes() (n int) {
	looked := 0
	for hash := range c.ledger.holes {
		if looked++; n == maxHoles || looked > mostHolesRead {
			break
		}
		if slices.ContainsFunc(following.find(c.ledger, hash), func(it *Item) bool { return c.keys.Ring().Judge(&it.File) == keys.Genuine }) {
			n++
		}
	}
	return n
}

// tellFork tells that a message has come to a place of its host's chain where others stand, or has
// left it. A message that does not count makes no fork.
func (l *Ledger) tellFork(it *Item) {
	if l.judge(&it.File) == keys.Genuine {
		l.forked(it.Host)
	}
}

// stray reports whether another message that counts stands at the same place of its host's chain.
// Then the host's key is used in two places.
func (l *Ledger) stray(it *Item) bool {
	for _, at := range it.places() {
		if _, noted := l.forks[at]; !noted {
			continue
		}
		if slices.ContainsFunc(l.standing(at), func(o *Item) bool { return o.Path != it.Path && l.judge(&o.File) == keys.Genuine }) {
			return true
		}
	}
	return false
}

// isCrowded reports, without reading a message, whether several messages may stand at a place.
func (l *Ledger) isCrowded(at slot) bool {
	if at.prev != "" {
		return following.crowded(l, at.prev)
	}
	return seated.crowded(l, at)
}

// standing are the signed messages of a host at a place of its chain.
func (l *Ledger) standing(at slot) []*Item {
	if at.prev == "" {
		return seated.find(l, at)
	}
	return slices.DeleteFunc(slices.Clone(following.find(l, at.prev)), func(it *Item) bool { return it.Host != at.host || !it.Sealed })
}

// Forks is how many messages of a key that count stand beside another message in their host's
// chain. More than 0 means that the key is used in two places.
func (c *Chains) Forks(of protocol.HostKey) int {
	return c.beside(func(it *Item) bool { return it.Host == of.Host && it.Key == of.Key })
}

// beside is how many messages for which `is` holds, and which count, stand beside another such
// message in their host's chain.
func (c *Chains) beside(is func(*Item) bool) int {
	beside := map[protocol.Path]bool{}
	for at := range c.ledger.forks {
		genuine := slices.DeleteFunc(slices.Clone(c.ledger.standing(at)), func(it *Item) bool { return !is(it) || c.keys.Ring().Judge(&it.File) != keys.Genuine })
		if len(genuine) == 0 {
			continue
		}
		slices.SortFunc(genuine, func(a, b *Item) int { return keys.ByPath(&a.File, &b.File) })
		for _, it := range genuine[1:] {
			beside[it.Path] = true
		}
	}
	return len(beside)
}
