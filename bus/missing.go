package bus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// missing is the link that this host should have dialled and that the server has lacked since
// `down`; none if there is no such link. Either the connection is there, and the servers have not
// agreed yet or no longer agree. Or no hub could be linked.
//
// If others have linked to a host, it misses only hubs before it in the alphabet, and those that
// its operator names: the others have to dial it. In the first moments, it is no problem that a hub
// does not know this host's key: the hub is about to read it in the record. `linked` says that the
// server has a link. While a link up is on its way to this host, the link that it would dial
// without it is still missing.
func (l *links) missing(down time.Time, linked bool) []Link {
	b := l.bus
	if b.dialler == nil || linked && b.tree.linkedUp() {
		return nil
	}
	young := Link{Since: down}.young(b.opts.Now())
	if o := b.tree.dialled(); o != nil {
		return []Link{{
			Peer: hostAt(o.host, o.address), Host: o.host, Address: o.address, Out: true, HalfUp: true, Since: down, Young: young, Problem: halfUp,
		}}
	}
	targets := b.dialler.targets(true)
	if len(b.linkedHere()) > 0 {
		targets = slices.DeleteFunc(targets, func(t target) bool { return t.hub.Alias > b.opts.Alias && !t.hub.Named })
	}
	failed := slices.DeleteFunc(slices.Clone(b.dialler.problems()), func(e *DialError) bool {
		return young && e.Cause == CauseKey || !slices.ContainsFunc(targets, func(t target) bool { return t.address == e.Address })
	})
	if len(targets) == 0 {
		return nil
	}
	whom, problem := toldMissing(targets, grouped(failed))
	link := Link{Peer: whom, Out: true, Since: down, Young: young, Problem: problem}
	if len(failed) > 0 {
		link.Cause = failed[0].Cause
	}
	return []Link{link}
}

// failure says why a host was not linked, at one address or several.
type failure struct {
	host      protocol.Name
	addresses []string
	reason    string
}

func (f failure) String() string {
	return hostAt(f.host, strings.Join(f.addresses, " and "))
}

// grouped are the failures of a round of dials. Those that differ only by the address are one
// failure.
func grouped(errs []*DialError) []failure {
	var all []failure
	for _, e := range errs {
		i := slices.IndexFunc(all, func(f failure) bool { return f.host == e.Host && f.host != "" && f.reason == e.Reason })
		if i < 0 {
			all = append(all, failure{e.Host, []string{e.Address}, e.Reason})
		} else {
			all[i].addresses = append(all[i].addresses, e.Address)
		}
	}
	return all
}

// toldMissing names the hosts that are not linked and says why, in one line. It gives the reasons
// of some of them, or "" while the first round goes on.
func toldMissing(targets []target, failed []failure) (whom, problem string) {
	const most = 3
	if len(failed) == 1 && len(failed[0].addresses) == len(targets) {
		return failed[0].String(), failed[0].reason // the names stand before it
	}
	if len(targets) == 1 {
		return hostAt(targets[0].hub.Alias, targets[0].address), ""
	}
	var names, reasons []string
	for _, t := range targets {
		if name := cmp.Or(t.hub.Alias.String(), t.address); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, f := range failed {
		if i == most {
			reasons = append(reasons, fmt.Sprintf("and %d more", len(failed)-most))
			break
		}
		reasons = append(reasons, f.String()+": "+f.reason)
	}
	return strings.Join(names, ", "), strings.Join(reasons, "; ")
}
