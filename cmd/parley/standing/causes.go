// Package standing says how hosts, links, the record, agents and sessions stand, as a node tells it. Screens
// and the pages of the console have the same words, because both have them from here.
package standing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// BusLasts is how long something that went wrong on the bus counts when it is over.
const BusLasts = time.Hour

// lately reports whether what went wrong on the bus still counts.
func lately(at time.Time) bool { return time.Since(at) < BusLasts }

// Of is what is wrong with a node, as its status says. parley status has its first word from
// it: trouble, if one is red.
func Of(s control.Status) (all []causes.Found) {
	add := func(id causes.ID, f causes.Facts) {
		f.Here = s.Host
		all = append(all, causes.Of(id, f))
	}
	r, b := s.Record, s.Bus
	if s.Version != cli.Version {
		add(causes.NodeVersion, causes.Facts{Text: s.Version + ", and this parley of " + cli.Version})
	}
	all = append(all, s.Causes...)
	for _, warning := range s.Warned[min(len(s.Causes), len(s.Warned)):] { // of an earlier version
		add(causes.Warned, causes.Facts{Text: warning})
	}
	if r.StoreError != "" {
		add(causes.DiskFull, causes.Facts{Text: withAdvice(r.StoreError, r.StoreAdvice)})
	}
	if r.CommitError != "" {
		add(causes.NotRecorded, causes.Facts{Text: r.CommitError})
	}
	if t := r.Trouble; t != nil {
		add(causes.RemoteFails, causes.Facts{Text: withAdvice(t.Kind+": "+t.Text, t.Advice)})
	}
	if len(r.Withheld) > 0 {
		add(causes.KeptBack, causes.Facts{Text: cli.Count(len(r.Withheld), "message")})
	}
	if n := len(s.Flags); n > 0 {
		var kinds []string
		for _, f := range s.Flags {
			kinds = append(kinds, fmt.Sprintf("%d %s", f.Count, f.Kind))
		}
		add(causes.Flagged, causes.Facts{Text: strings.Join(kinds, ", ")})
	}
	if s.Refused > 0 {
		add(causes.Refused, causes.Facts{Text: cli.Count(s.Refused, "message")})
	}
	if !slices.ContainsFunc(b.Peers, func(l control.LinkStatus) bool { return l.Up }) {
		for _, l := range b.Peers {
			if l.Problem != "" {
				add(causes.LinkDown, linkDown(s, l))
			}
		}
	}
	if unlinked(s) {
		add(causes.NoLinks, causes.Facts{})
	}
	if lately(b.Offended) {
		add(causes.BusRefuses, causes.Facts{Text: strings.TrimSuffix(fmt.Sprintf("%s of hosts, %d unreadable: %s", cli.Count(int(b.Letters), "letter"), b.Unreadable, b.Letter), ": ")})
	}
	for _, one := range b.Refused {
		if lately(one.At) {
			add(causes.BusRefuses, causes.Facts{Host: one.From, Text: fmt.Sprintf("%s, the last: %s", cli.Count(one.Count, "message"), one.Last)})
		}
	}
	if b.Held > 0 {
		add(causes.HeldBack, causes.Facts{Text: cli.Count(b.Held, "message")})
	}
	for _, h := range s.Hosts {
		switch {
		case h.State == control.HostGit:
			add(causes.ByGit, causes.Facts{Host: h.Alias})
		case h.State == control.HostAway:
			add(causes.Away, causes.Facts{Host: h.Alias, At: h.LastSeen})
		case h.Live && !h.Here && h.Version != "" && h.Version != s.Version:
			add(causes.FleetVersion, causes.Facts{Host: h.Alias, Text: h.Version})
		}
	}
	for _, a := range s.Agents {
		ofAgent(a, add)
	}
	if s.Gates > 0 {
		add(causes.Gates, causes.Facts{Text: cli.Count(s.Gates, "gate")})
	}
	return all
}

// linkDown is what is known of a link that is down. Its host is not proved then: it is the first that
// the link's peer names.
func linkDown(s control.Status, l control.LinkStatus) causes.Facts {
	first, _, _ := strings.Cut(l.Peer, " at ")
	first, _, _ = strings.Cut(first, ", ")
	f := causes.Facts{Host: l.Host, Text: l.Peer + ": " + l.Problem}
	if f.Host == "" && slices.ContainsFunc(s.Hosts, func(h control.HostStatus) bool { return h.Alias.String() == first }) {
		f.Host = protocol.Name(first)
	}
	if f.Host == "" { // an address alone, of which nobody knows whose it is
		f.Host, f.Do = protocol.Name(first), "parley status"
	}
	return f
}

// ofAgent is what is wrong with an agent of the host.
func ofAgent(a control.Agent, add func(causes.ID, causes.Facts)) {
	of := func(id causes.ID, text string) { add(id, causes.Facts{Agent: a.Name.String(), Text: text}) }
	switch {
	case a.Stalled != "":
		of(causes.Stalled, a.Stalled)
	case a.Missing != "":
		of(causes.Missing, a.Missing)
	}
	if a.Paused {
		of(causes.Paused, "")
	}
	if a.Over > 0 {
		of(causes.OverBudget, cli.Count(a.Over, "message"))
	}
	if a.Failing > 0 {
		of(causes.Failing, cli.Count(a.Failing, "message"))
	}
	if a.Dead > 0 {
		of(causes.DeadLetters, cli.Count(a.Dead, "message"))
	}
	if a.ProfileState != "" && a.ProfileState != control.ProfileAccepted {
		of(causes.NoProfile, string(a.ProfileState))
	}
}

func withAdvice(text, advice string) string {
	if advice == "" {
		return text
	}
	return text + "; " + advice
}

// unlinked reports whether no host is known that takes links, so that hosts meet through git alone.
func unlinked(s control.Status) bool {
	return len(s.Hosts) > 1 && s.Bus.URL == "" && s.Bus.Links == "" && len(s.Bus.Peers) == 0
}
