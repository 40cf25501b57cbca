package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Ends are the last known messages of each run that a host's key signed. They are all
// those that no other follows in its run, so that nothing known is left out. If `after` names a
// message, only the messages that led to it count, and `later` is how many known ones do not.
func (c *Chains) Ends(of protocol.HostKey, after protocol.Path) (all []protocol.RunEnd, later int) {
	within := func(*Item) bool { return true }
	if last := c.ledger.at(after); last != nil {
		within = c.ledTo(last, of)
	}
	t := tips{last: map[runHash]uint64{}, followed: map[runHash]bool{}}
	c.eachOf(of, func(it *Item) {
		if within(it) {
			t.add(it)
		} else {
			later++
		}
	})
	for at, seq := range t.last {
		all = append(all, protocol.RunEnd{Run: at.run, Seq: seq, Hash: at.hash})
	}
	slices.SortFunc(all, protocol.CompareRunEnds)
	return all, later
}

// eachOf hands on what a key signed and counts, wherever it lies.
func (c *Chains) eachOf(of protocol.HostKey, do func(*Item)) {
	for it := range c.ledger.every() {
		if it.Sealed && it.Host == of.Host && it.Key == of.Key && !c.keys.Ring().Judge(&it.File).Refused() {
			do(it)
		}
	}
}

// runHash is a file, by its hash, as one of a run.
type runHash struct{ hash, run string }

// tips finds the messages that no other follows in its run. In the order of the record
// hardly one comes after what follows it, so that it holds few of them.
type tips struct {
	last     map[runHash]uint64 // their numbers
	followed map[runHash]bool   // what is followed and was not there then
}

func (t *tips) add(it *Item) {
	if it.Prev != "" && it.Seq != 1 {
		before := runHash{it.Prev, it.Run}
		if _, there := t.last[before]; !there {
			t.followed[before] = true
		}
		delete(t.last, before)
	}
	if at := (runHash{it.Hash, it.Run}); !t.followed[at] {
		t.last[at] = it.Seq
	}
}

// ledTo tells those messages of a key that led to one of its host. Where the way back
// ends because a file is not here, those dated before that may have, unless they
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
