package node

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

func runFleetStatus(ctx context.Context, client control.Service, v cli.View) error {
	f, err := control.AskFleet.Ask(ctx, client, control.HostsRequest{})
	return v.Show(f, err, func() {
		t := term.Table{Heading: []string{"HOST", "STATE", "SINCE", "ADDRESS", "ROUND TRIP", "VERSION", "CLOCK", "MESSAGES"}, Flexible: 7}
		for _, h := range f.Hosts {
			t.Rows = append(t.Rows, fleetRow(v, f, h))
		}
		v.Table(t, cli.Squeeze{Column: 2, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 5}, cli.Squeeze{Column: 3}, cli.Squeeze{Column: 7, Least: 18},
			cli.Squeeze{Column: 2})
		for _, note := range fleetNotes(v, f) {
			v.Note(note)
		}
	})
}

func fleetRow(v cli.View, f control.FleetStatus, h control.FleetHost) []string {
	since := h.Since
	if since.IsZero() {
		since = h.LastSeen
	}
	row := []string{
		h.Alias.String(), standing.Host(h.State), v.StampOrEmpty(since), term.Line(h.Address), "",
		term.Line(h.Version), clockOff(h.Clock.Duration()), "",
	}
	switch {
	case h.State == control.HostHere:
		row[7] = cli.Count(h.Messages, "message")
	case h.State != control.HostLive:
	case !h.Answered:
		row[7] = "no answer"
	case h.Problem != "":
		row[4], row[7] = standing.RoundTripOrEmpty(h.RTT.Duration()), "unknown"
	default:
		row[4], row[7] = standing.RoundTripOrEmpty(h.RTT.Duration()), howFar(h, f.Asked.String())
	}
	return row
}

// howFar says in words what a host lacks of what the asking host has, and what the asking host
// lacks.
func howFar(h control.FleetHost, asked string) string {
	var parts []string
	if h.Behind > 0 {
		parts = append(parts, cli.Count(h.Behind, "message")+" behind")
	}
	if h.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d ahead of %s", h.Ahead, asked))
	}
	if len(parts) == 0 {
		return "up to date"
	}
	return strings.Join(parts, ", ")
}

// clockOff is how far a clock is from this host's; "" if that is a second or less.
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

// fleetNotes says what is wrong in the fleet, in one sentence for each thing.
func fleetNotes(v cli.View, f control.FleetStatus) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, h := range f.Hosts {
		switch {
		case h.Problem != "" && h.Answered:
			add("%s answered, but not how it fares: %s", h.Alias, h.Problem)
		case h.Problem != "":
			add("%s; the bus brought the last sign of it at %s", h.Problem, v.At(h.LastSeen, cli.TimeForm))
		case h.State == control.HostGit:
			add("%s is not on the bus and writes: it can be reached by git alone; see whether it can link: %s",
				h.Alias, v.Command("parley fleet show "+h.Alias.String()))
		}
		for _, l := range h.Links {
			if !l.Up {
				add("link %s: %s", linkEnds(h, l), linkTrouble(l))
			}
		}
		if h.Remote != "" {
			add("%s cannot use the remote (%s): %s; %s not pushed yet", h.Alias, h.Remote, h.Trouble, cli.Count(h.Unrecorded+h.Unpushed, "message"))
		}
	}
	return notes
}

// linkEnds names a link by its two ends, the host that dials first.
func linkEnds(h control.FleetHost, l control.LinkStatus) string {
	peer := cmp.Or(l.Host.String(), l.Peer)
	if l.Out {
		return h.Alias.String() + " → " + peer
	}
	return peer + " → " + h.Alias.String()
}

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
