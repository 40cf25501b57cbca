package main

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
)

// someFleet has a host of every sort.
func someFleet() control.FleetStatus {
	hosts := someHosts()
	black, here, white := hosts[0], hosts[1], hosts[2]
	white.Address, white.RTT, white.Version = white.Addresses[0], 312999, "0.1.0"
	silent, old, git := white, white, black
	silent.Alias, old.Alias, git.Alias = "silent", "old", "wanderer"
	silent.RTT, old.Clock, old.Version, git.State = 0, control.Seconds(-36*time.Hour), "0.0.1", control.HostGit
	ahead := control.FleetHost{Host: white, Answered: true, Messages: 9, Behind: 1, Ahead: 2, Remote: "unreachable", Trouble: "no\x1b route", Unpushed: 3,
		Links: []control.LinkStatus{{Peer: "oracle-world", Up: true, RTT: 1}, {Peer: "old-0123", Host: "old", HalfUp: true, Problem: "connected, but deaf"}, {Peer: "black", Out: true}}}
	ahead.Clock = control.Seconds(90 * time.Second)
	return control.FleetStatus{Fleet: "lab", Asked: "oracle-world", Hosts: []control.FleetHost{
		{Host: black},
		{Host: old, Answered: true, Problem: `it says "this host does not know the question"`},
		{Host: here, Answered: true, Messages: 8},
		{Host: silent, Problem: "silent did not answer within 2s"},
		{Host: git},
		ahead,
	}}
}

func TestFleetForPeople(t *testing.T) {
	for _, test := range []struct {
		width int // 0: piped
		want  string
	}{
		{0, `
HOST          STATE   SINCE                    ADDRESS         ROUND TRIP  VERSION  CLOCK   MESSAGES
black         away    2026-05-23 20:01 +02:00                              0.0.9
old           live    2026-05-23 21:01 +02:00  192.0.2.7:4223  313µs       0.0.1    -36h    unknown
oracle-world  here    2026-05-23 21:01 +02:00                              0.1.0            8 messages
silent        live    2026-05-23 21:01 +02:00  192.0.2.7:4223              0.1.0            no answer
wanderer      by git  2026-05-23 20:01 +02:00                              0.0.9
white         live    2026-05-23 21:01 +02:00  192.0.2.7:4223  313µs       0.1.0    +1m30s  1 message behind, 2 ahead of oracle-world
old answered, but not how it fares: it says "this host does not know the question"
silent did not answer within 2s; the bus brought the last sign of it at 2026-05-23 21:01:00 +02:00
wanderer is not on the bus and writes: it can be reached by git alone; see whether it can link: parley host show wanderer
link old → white: half up: connected, but deaf
link white → black: connecting
white cannot use the remote (unreachable): no␛ route; 3 messages not pushed yet
`},
		{80, `
HOST          STATE   SINCE       ROUND TRIP  CLOCK   MESSAGES
black         away    2026-05-23
old           live    2026-05-23  313µs       -36h    unknown
oracle-world  here    2026-05-23                      8 messages
silent        live    2026-05-23                      no answer
wanderer      by git  2026-05-23
white         live    2026-05-23  313µs       +1m30s  1 message behind, 2 ahead…
old answered, but not how it fares: it says "this host does not know the
  question"
silent did not answer within 2s; the bus brought the last sign of it at
  2026-05-23 21:01:00 +02:00
wanderer is not on the bus and writes: it can be reached by git alone; see
  whether it can link: parley host show wanderer
link old → white: half up: connected, but deaf
link white → black: connecting
white cannot use the remote (unreachable): no␛ route; 3 messages not pushed
  yet
`},
	} {
		r := newRun(t)
		r.fleet = someFleet()
		r.wantPrinted(t, test.width, []string{"status", "--fleet"}, test.want)
	}
}

func TestFleetAsJSON(t *testing.T) {
	r := newRun(t)
	r.fleet = someFleet()
	if code := r.do("status", "--fleet", "--json"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, r.err.String())
	}
	out := r.out.String()
	if strings.Contains(out, "null") || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"alias":"wanderer","state":"git"`) || !strings.Contains(out, `"behind":1,"ahead":2`) {
		t.Errorf("printed %s", out)
	}
}
