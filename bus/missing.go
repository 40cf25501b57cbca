package bus

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// missing is the link that this host should have dialled and the server does not have,
// since down, if there is one: either it is connected, and the servers have not agreed
// yet or do no longer, or nobody could be linked. A host that others have linked to
// misses only hubs before it in the alphabet, and those that its operator names: the
// others miss it. linked says that the server has a link; while one up is on its way
// there, what would be dialled without it is missing still.
func (b *Bus) missing(down time.Time, linked bool) []Link {
	if b.dialler == nil || linked && b.tree.frozen() {
		return nil
	}
	if o := b.tree.dialled(); o != nil {
		return []Link{{
			Peer: hostAt(o.host, o.address), Host: o.host, Address: o.address, Out: true, HalfUp: true, Since: down, Problem: halfUp,
		}}
	}
	targets := b.dialler.targets(true)
	if len(b.linkedHere()) > 0 {
		targets = slices.DeleteFunc(targets, func(t target) bool { return t.hub.Alias > b.opts.Alias && !t.hub.Named })
	}
	failed := slices.DeleteFunc(slices.Clone(b.dialler.problems()), func(e *DialError) bool {
		return !slices.ContainsFunc(targets, func(t target) bool { return t.address == e.Address })
	})
	if len(targets) == 0 {
		return nil
	}
	var whom []string
	for _, t := range targets {
		whom = append(whom, hostAt(t.hub.Alias, t.address))
	}
	problem := problemOf(failed)
	if len(targets) == 1 && len(failed) == 1 {
		problem = failed[0].Reason // whom it is about stands before it
	}
	return []Link{{Peer: strings.Join(whom, ", "), Out: true, Since: down, Problem: problem}}
}

// problemOf says in one line why hubs were not linked: each host's first reason, of
// some of them.
func problemOf(errs []*DialError) string {
	const most = 3
	var parts []string
	for i, e := range errs {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(errs)-most))
			break
		}
		parts = append(parts, e.Error())
	}
	return strings.Join(parts, "; ")
}
