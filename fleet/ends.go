package fleet

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Ends are the last known messages of each run that a host's key signed: all messages that no other
// one follows in its run. So nothing that is known is left out. If `after` names a message, only
// the messages that led to it count, and `later` is how many known messages did not.
func (c *Chains) Ends(of protocol.HostKey, after protocol.Path) (all []protocol.RunEnd, later int) {
	within := func(*Item) bool { return true }
	if last := c.ledger.at(after); last != nil {
		within = c.ledTo(last, of)
	}
	t := tips{last: map[runHash]protocol.RunEnd{}, followed: map[runHash]bool{}}
	c.eachOf(of, func(it *Item) {
		switch before := (runHash{it.Prev, it.Run}); {
		case !within(it):
			later++
		case it.Seq == 1: // the message before it is of another run
			t.add(it, runHash{it.Hash, it.Run}, runHash{})
		default:
			t.add(it, runHash{it.Hash, it.Run}, before)
		}
	})
	return t.ends(), later
}

// Heads are the last known messages of a host's key: all that no other one follows. Everything that
// is known and counts leads to one of them.
func (c *Chains) Heads(of protocol.HostKey) (all []protocol.RunEnd) {
	t := tips{last: map[runHash]protocol.RunEnd{}, followed: map[runHash]bool{}}
	c.eachOf(of, func(it *Item) { t.add(it, runHash{it.Hash, ""}, runHash{it.Prev, ""}) })
	return t.ends()
}

// eachOf calls `do` for each file that the key signed and that counts, whether it stands at its
// path or not.
func (c *Chains) eachOf(of protocol.HostKey, do func(*Item)) {
	for it := range c.ledger.every() {
		if it.Sealed && it.Host == of.Host && it.Key == of.Key && !c.keys.Ring().Judge(&it.File).Refused() {
			do(it)
		}
	}
}

// runHash is a file, by its hash, together with a run to which it belongs.
type runHash struct{ hash, run string }

// tips finds the messages that no other one follows in its run. It is given messages in the order
// of the record, where a message hardly ever comes after the one that follows it. So it need not
// hold many.
type tips struct {
	last     map[runHash]protocol.RunEnd
	followed map[runHash]bool // messages that were followed before they came themselves
}

// add adds a message that follows the one at `before`, if that names one.
func (t *tips) add(it *Item, at, before runHash) {
	if before.hash != "" {
		if _, there := t.last[before]; !there {
			t.followed[before] = true
		}
		delete(t.last, before)
	}
	if !t.followed[at] {
		t.last[at] = protocol.RunEnd{Run: it.Run, Seq: it.Seq, Hash: it.Hash}
	}
}

// ends are the messages that were found, in the order in which a word names them.
func (t *tips) ends() []protocol.RunEnd {
	return slices.SortedFunc(maps.Values(t.last), protocol.CompareRunEnds)
}

// ledTo reports which messages of a key led to the message `last`. If the way back ends because a
// file is not here, messages that are dated before that point may have led to it too, unless they
// branch off from the others.
func (c *Chains) ledTo(last *Item, of protocol.HostKey) func(*Item) bool {
	chain, seats, first := map[string]bool{}, map[slot]bool{}, last
	for it := last; it != nil && it.Sealed && it.Host == of.Host && !chain[it.Hash]; it = c.ledger.signed(it.Prev) {
		chain[it.Hash], seats[it.slot()], first = true, true, it
	}
	if first.Prev == "" {
		return func(it *Item) bool { return chain[it.Hash] }
	}
	var todo []*Item
	next := map[string][]*Item{}
	c.eachOf(of, func(it *Item) {
		switch {
		case chain[it.Hash]:
		case chain[it.Prev] || seats[it.slot()]:
			todo = append(todo, it)
		default:
			next[it.Prev] = append(next[it.Prev], it)
		}
	})
	aside := map[string]bool{}
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], next[it.Hash]...)
		aside[it.Hash] = true
		delete(next, it.Hash)
	}
	return func(it *Item) bool {
		return chain[it.Hash] || !aside[it.Hash] && it.Path.Compare(first.Path) < 0
	}
}
