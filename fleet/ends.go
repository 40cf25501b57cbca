package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// ends finds the last messages of each run that a key signed.
type ends struct {
	*State
	of    protocol.HostKey
	after protocol.Path   // nothing behind it, unless it is zero
	apart map[string]bool // the messages that stand beside those that led to after
	last  map[string]*Item
	later int             // how many are left out
	seen  map[string]bool // those from which the tip of their branch was looked for
}

// Ends are the last messages of each run that a host's key signed, as far as they
// are known: several of one run where it forks. With after they are of those that the
// host wrote up to that message, and of a fork only of the branch that led to it.
// later is how many of the known ones that leaves out.
func (s *State) Ends(of protocol.HostKey, after protocol.Path) (all []protocol.RunEnd, later int) {
	e := ends{State: s, of: of, after: after, apart: map[string]bool{}, last: map[string]*Item{}, seen: map[string]bool{}}
	branches := e.branches()
	if it := s.at(after); it != nil {
		e.leaveApart(it, branches)
	}
	for it := range s.All() {
		e.look(it)
	}
	for _, list := range s.rivals {
		for _, it := range list {
			e.look(it)
		}
	}
	tips := map[string]*Item{}
	for _, it := range e.last {
		tips[it.Hash] = it
	}
	for _, it := range branches {
		if tip := e.tip(it); tip != nil {
			tips[tip.Hash] = tip
		}
	}
	for _, it := range tips {
		all = append(all, protocol.RunEnd{Run: it.Run, Seq: it.Seq, Hash: it.Hash})
	}
	slices.SortFunc(all, protocol.CompareRunEnds)
	return all, e.later
}

// signs reports whether the key signed the message and it counts.
func (e *ends) signs(it *Item) bool {
	return it.Host == e.of.Host && it.Key == e.of.Key && it.sealed && !e.ring.judge(it).refused()
}

// within reports whether a message is to count.
func (e *ends) within(it *Item) bool {
	return !e.apart[it.Hash] && (e.after.IsZero() || it.Path.Compare(e.after) <= 0)
}

func (e *ends) look(it *Item) {
	switch {
	case !e.signs(it):
	case !e.within(it):
		e.later++
	case e.last[it.Run] == nil || it.Seq > e.last[it.Run].Seq:
		e.last[it.Run] = it
	}
}

// branches are the messages with which the chain of the host forks.
func (e *ends) branches() (all []*Item) {
	for at := range e.forks {
		if at.host != e.of.Host {
			continue
		}
		for _, it := range e.standing(at) {
			if e.signs(it) {
				all = append(all, it)
			}
		}
	}
	return all
}

// leaveApart notes what stands beside the messages that led to the given one.
func (e *ends) leaveApart(it *Item, branches []*Item) {
	if len(branches) == 0 {
		return
	}
	chain := map[string]bool{}
	crowded := map[branch]bool{}
	for _, b := range branches {
		crowded[b.seat()], crowded[b.behind()] = true, true
	}
	taken := map[branch]bool{} // the forks that the chain passes
	for last := it; last != nil && !chain[last.Hash]; last = e.file(last.Prev) {
		chain[last.Hash] = true
		for _, at := range []branch{last.seat(), last.behind()} {
			if crowded[at] {
				taken[at] = true
			}
		}
	}
	for _, b := range branches {
		if !chain[b.Hash] && (taken[b.seat()] || taken[b.behind()]) {
			e.leave(b)
		}
	}
}

// leave leaves out a message and those that follow it.
func (e *ends) leave(it *Item) {
	for todo := []*Item{it}; len(todo) > 0; {
		it, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if !e.apart[it.Hash] {
			e.apart[it.Hash] = true
			todo = append(todo, e.standing(branch{host: it.Host, prev: it.Hash})...)
		}
	}
}

// tip is the last message of the branch of its run that begins with one; nil where it
// is not to count, or its branch goes on into one whose tip was found.
func (e *ends) tip(it *Item) *Item {
	if !e.within(it) {
		return nil
	}
	for !e.seen[it.Hash] {
		e.seen[it.Hash] = true
		next := slices.DeleteFunc(e.standing(branch{host: it.Host, prev: it.Hash}), func(next *Item) bool {
			return next.Run != it.Run || !e.signs(next) || !e.within(next)
		})
		if len(next) == 0 {
			return it
		}
		it = slices.MinFunc(next, byPath)
	}
	return nil
}
