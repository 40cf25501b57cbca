package bus

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// missing is the link that this host would dial and could not, since down, if there
// is one. A host that others have linked to misses only hubs before it in the
// alphabet, and those that its operator names: the others miss it.
func (b *Bus) missing(down time.Time) []Link {
	if b.dialler == nil || b.tree.dialled() != nil || b.tree.frozen() {
		return nil
	}
	targets := b.dialler.targets()
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
