// Package causes is the table of what can be in the way: why a message has no answer, and what is
// wrong with a host. "parley why" and "parley doctor" say the same of the same cause, because both
// have it from here. How a cause is found is the affair of whoever looks.
package causes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

// ID is a stable word for a cause. What an agent's work can wait for has the word that the node's
// queue has for it.
type ID string

// Level says how bad a cause is for a host: whether somebody has to do something.
type Level string

// The levels.
const (
	Green  Level = "green"  // nothing is wrong
	Yellow Level = "yellow" // it works, and somebody should look
	Red    Level = "red"    // something does not work
)

// Area is who or what is concerned.
type Area string

// The areas, in the order in which doctor shows them.
const (
	Home     Area = "home"
	Keys     Area = "keys"
	Node     Area = "node"
	Versions Area = "versions"
	Disk     Area = "disk"
	Record   Area = "record"
	Remote   Area = "remote"
	Backups  Area = "backups"
	Links    Area = "links"
	Hosts    Area = "hosts"
	Clock    Area = "clock"
	Agents   Area = "agents"
	Sessions Area = "sessions"
	Notices  Area = "notices"
	Message  Area = "message" // one message alone: doctor does not look at it
)

// Areas are those that doctor shows, in their order.
func Areas() []Area {
	return []Area{Home, Keys, Node, Versions, Disk, Record, Remote, Backups, Links, Hosts, Clock, Agents, Sessions, Notices}
}

// cause is a line of the table. In its texts stand {agent}, {host}, {id} (the message), {at} (a time)
// and {text} (what else is known).
type cause struct {
	id      ID
	area    Area
	level   Level
	verdict string
	reason  string // why, or what that means
	command string // the one that helps
	there   bool   // it is to be typed on the host of the cause
}

// Facts are what is known of a cause where it is found.
type Facts struct {
	Here  protocol.Name // the host that looks
	Host  protocol.Name // the host of the cause; "": the one that looks
	Agent string
	ID    string    // of the message, as a person types it
	Text  string    // what else is known; may be text of others
	Do    string    // a command that helps better than that of the table; "": that one
	At    time.Time // when, since when or until when
}

// Found is a cause that was found. It is put into JSON as it is.
type Found struct {
	Cause   ID            `json:"cause"`           // a stable word; ok: nothing is wrong with the area
	Area    Area          `json:"area"`            // who or what is concerned
	Level   Level         `json:"level"`           // green, yellow or red
	Agent   string        `json:"agent,omitempty"` // the agent or program that is concerned
	Host    protocol.Name `json:"host,omitempty"`  // the host that is concerned, if it is another one
	Verdict string        `json:"verdict"`         // what is the matter, in one line
	Reason  string        `json:"reason"`          // why, or what that means; may be empty
	Command string        `json:"command"`         // the one command that helps; may be empty
	On      protocol.Name `json:"on,omitempty"`    // the host where that command is to be typed, if it is another one
}

// OK says that nothing is wrong with an area.
const OK ID = "ok"

// Well says that nothing is wrong with an area, and what there is of it.
func Well(area Area, text string) Found {
	return Found{Cause: OK, Area: area, Level: Green, Verdict: text}
}

// Of is a cause with what is known of it. A word that is not in the table is one of a later version:
// it is told as it is.
func Of(id ID, f Facts) Found {
	i := slices.IndexFunc(table, func(c cause) bool { return c.id == id })
	c := cause{id: id, area: Message, level: Green, verdict: "{agent} on {host}: " + string(id), reason: "{text}"}
	if i >= 0 {
		c = table[i]
	}
	at := "no known time"
	if !f.At.IsZero() {
		at = span.At(f.At)
	}
	host := cmp.Or(f.Host, f.Here).String()
	fill := strings.NewReplacer("{agent}", f.Agent, "{host}", host, "{id}", f.ID, "{text}", f.Text, "{at}", at)
	typed := strings.NewReplacer("{agent}", visible.Shell(f.Agent), "{host}", visible.Shell(host), "{id}", visible.Shell(f.ID), "{text}", visible.Shell(f.Text))
	found := Found{
		Cause: id, Area: c.area, Level: c.level, Agent: f.Agent,
		Verdict: strings.TrimRight(fill.Replace(c.verdict), ": "), Reason: strings.TrimRight(fill.Replace(c.reason), ": "), Command: cmp.Or(f.Do, typed.Replace(c.command)),
	}
	if f.Host != f.Here {
		if found.Host = f.Host; c.there && f.Do == "" {
			found.On = f.Host
		}
	}
	return found
}

// Sort sorts causes of one message: what decides most comes first, as in the table.
func Sort(all []Found) {
	at := func(f Found) int {
		i := slices.IndexFunc(table, func(c cause) bool { return c.id == f.Cause })
		if i < 0 {
			return len(table)
		}
		return i
	}
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(at(a), at(b)) })
}

// Worst is the worst level of some causes.
func Worst(all []Found) Level {
	worst := Green
	for _, f := range all {
		if f.Level == Red || f.Level == Yellow && worst == Green {
			worst = f.Level
		}
	}
	return worst
}

// OffBy says how far a clock is from this host's: "3s behind", "2m ahead of".
func OffBy(d time.Duration) string {
	if d < 0 {
		return span.Text(-d.Round(time.Second)) + " behind"
	}
	return span.Text(d.Round(time.Second)) + " ahead of"
}
