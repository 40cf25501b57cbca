package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

func runFleetStatus(ctx context.Context, r control.HostsRequest, client control.Service, v view) error {
	f, err := control.AskFleet.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(f)
	}
	t := term.Table{Heading: []string{"HOST", "STATE", "SINCE", "ADDRESS", "ROUND TRIP", "VERSION", "CLOCK", "MESSAGES"}, Flexible: 7}
	for _, h := range f.Hosts {
		t.Rows = append(t.Rows, fleetRow(v, f, h))
	}
	v.table(t, squeeze{column: 2, least: dayWidth, cut: toDay}, squeeze{column: 5}, squeeze{column: 3}, squeeze{column: 7, least: 18},
		squeeze{column: 2})
	for _, note := range fleetNotes(v, f) {
		v.note(note)
	}
	return nil
}

func fleetRow(v view, f control.FleetStatus, h control.FleetHost) []string {
	since := h.Since
	if since.IsZero() {
		since = h.LastSeen
	}
	row := []string{
		h.Alias.String(), hostState(h.State), v.stampOrEmpty(since), term.Line(h.Address), "",
		term.Line(h.Version), clockOff(h.Clock.Duration()), "",
	}
	switch {
	case h.State == control.HostHere:
		row[7] = count(h.Messages, "message")
	case h.State != control.HostLive:
	case !h.Answered:
		row[7] = "no answer"
	case h.Problem != "":
		row[4], row[7] = roundTripOrEmpty(h.RTT.Duration()), "unknown"
	default:
		row[4], row[7] = roundTripOrEmpty(h.RTT.Duration()), howFar(h, f.Asked.String())
	}
	return row
}

// howFar says in words what a host lacks of what the asking host has, and the
// other way round.
func howFar(h control.FleetHost, asked string) string {
	var parts []string
	if h.Behind > 0 {
		parts = append(parts, count(h.Behind, "message")+" behind")
	}
	if h.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d ahead of %s", h.Ahead, asked))
	}
	if len(parts) == 0 {
		return "up to date"
	}
	return strings.Join(parts, ", ")
}

// clockOff is how far a clock is from this host's, "" where that is a second or
// less.
func clockOff(d time.Duration) string {
	if d.Abs() <= time.Second {
		return ""
	}
	sign := "+"
	if d < 0 {
		sign = "-"
	}
	return sign + span.Text(d.Abs().Round(time.Second))
}

// fleetNotes are what is wrong in the fleet, a sentence each.
func fleetNotes(v view, f control.FleetStatus) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, h := range f.Hosts {
		switch {
		case h.Problem != "" && h.Answered:
			add("%s answered, but not how it fares: %s", h.Alias, h.Problem)
		case h.Problem != "":
			add("%s; the bus brought the last sign of it at %s", h.Problem, v.at(h.LastSeen, timeForm))
		case h.State == control.HostGit:
			add("%s is not on the bus and writes: it can be reached by git alone; see whether it can link: %s",
				h.Alias, v.command("parley host show "+h.Alias.String()))
		}
		for _, l := range h.Links {
			if !l.Up {
				add("link %s: %s", linkEnds(h, l), linkTrouble(l))
			}
		}
		if h.Remote != "" {
			add("%s cannot use the remote (%s): %s; %s not pushed yet", h.Alias, h.Remote, h.Trouble, count(h.Unrecorded+h.Unpushed, "message"))
		}
	}
	return notes
}

// linkEnds names a link from the one who dials it to the other.
func linkEnds(h control.FleetHost, l control.LinkStatus) string {
	peer := cmp.Or(l.Host.String(), l.Peer)
	if l.Out {
		return h.Alias.String() + " → " + peer
	}
	return peer + " → " + h.Alias.String()
}

// linkTrouble says why a link is not up.
func linkTrouble(l control.LinkStatus) string {
	state := "down"
	if l.HalfUp {
		state = "half up"
	}
	switch {
	case l.Problem == "" && !l.HalfUp:
		return "connecting" // the first try has not ended
	case l.Problem == "":
		return state
	}
	return state + ": " + l.Problem
}
