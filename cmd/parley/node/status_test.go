package node

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: what needs attention is shown with the escapes of its colour made visible.
func TestAlarmsInColour(t *testing.T) {
	r := newRun(t)
	r.AtTerminal(60)
	r.Program.Out.Color = true
	clitest.On(r, control.ShowStatus.Verb, control.Status{Bus: control.BusStatus{Letters: 1, Offended: time.Now(), Letter: "a subject of white: it was\x1b[2J repeated, and that is refused"}})
	if code := r.Do("status"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
	want := "\x1b[2mbus:    \x1b[0m \x1b[33m1 letter of hosts refused since start, 0\x1b[0m\n" +
		"\x1b[2m        \x1b[0m \x1b[33munreadable; refused last: a subject of white: it\x1b[0m\n" +
		"\x1b[2m        \x1b[0m \x1b[33mwas␛[2J repeated, and that is refused\x1b[0m\n"
	if !strings.Contains(r.Out.String(), want) {
		t.Errorf("printed %q, want %q in it", r.Out.String(), want)
	}
}

// The first line of status is one word, so that a person need not know all the others: they read
// through twenty lines to find out that all was well.
func TestStatusBeginsWithOneWord(t *testing.T) {
	now := time.Now()
	for name, s := range map[string]control.Status{
		"healthy":       {Bus: control.BusStatus{Offended: now.Add(-2 * standing.BusLasts), Peers: []control.LinkStatus{{Peer: "a", Up: true}, {Peer: "b", Problem: "refused"}}}, Gates: 2},
		"trouble store": {Record: control.RecordStatus{StoreError: "disk full"}}, "trouble commit": {Record: control.RecordStatus{CommitError: "no git"}},
		"trouble remote": {Record: control.RecordStatus{Trouble: new(control.Trouble)}}, "trouble warned": {Warned: []string{"a clock is wrong"}},
		"trouble alone":   {Bus: control.BusStatus{Peers: []control.LinkStatus{{Peer: "b", Problem: "refused"}}}},
		"trouble letters": {Bus: control.BusStatus{Offended: now}}, "trouble refused": {Bus: control.BusStatus{Refused: []control.BusRefusal{{Count: 1, At: now}}}},
		"trouble stalled": {Agents: []control.Agent{{AgentWork: control.AgentWork{Stalled: "not found"}}}},
		"trouble failing": {Agents: []control.Agent{{AgentWork: control.AgentWork{Failing: 1}}}}, "trouble dead": {Agents: []control.Agent{{AgentWork: control.AgentWork{Dead: 1}}}},
	} {
		for _, colour := range []bool{false, true} {
			r := newRun(t)
			r.Program.Out.Color = colour
			clitest.On(r, control.ShowStatus.Verb, s)
			r.Do("status")
			want, _, _ := strings.Cut(name, " ")
			if colour {
				want = map[string]string{"healthy": "\x1b[32mhealthy\x1b[0m", "trouble": "\x1b[31mtrouble\x1b[0m"}[want]
			}
			if first, _, _ := strings.Cut(r.Out.String(), "\n"); first != want {
				t.Errorf("%s: the first line is %q", name, first)
			}
		}
	}
}

// It prevents: status of another home says to type commands for the node of the default home.
func TestStatusNamesTheHome(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.ShowStatus.Verb, clitest.SomeStatus())
	if code := r.Do("status", "--home", "/srv/white"); code != cli.ExitDone {
		t.Fatalf("exit %d, %s", code, r.Err.String())
	}
	for _, want := range []string{"then: parley --home /srv/white fleet sync\n", ": parley --home /srv/white record verify\n"} {
		if !strings.Contains(r.Out.String(), want) {
			t.Errorf("status does not say %q:\n%s", want, r.Out.String())
		}
	}
}

// It prevents: words that only their author understands for a host's place among those that push,
// and trouble with the bus that stands in status for ever after it is over.
func TestStatusSpeaksOfWhatIs(t *testing.T) {
	r := newRun(t)
	s := clitest.SomeStatus()
	s.Record.Trouble = nil
	s.Record.Courier, s.Record.Pusher = 2, "black"
	s.Bus = control.BusStatus{
		Letters: 3, Unreadable: 1, Letter: "a letter", Offended: time.Now().Add(-2 * standing.BusLasts), HeldDropped: 1, GapsLeft: 1,
		Refused: []control.BusRefusal{{From: "white", Count: 2, Last: "a message", At: time.Now().Add(-2 * standing.BusLasts)}},
	}
	clitest.On(r, control.ShowStatus.Verb, s)
	if code := r.Do("status"); code != cli.ExitDone {
		t.Fatalf("exit %d, %s", code, r.Err.String())
	}
	if want := "; black pushes for all, and this host what is left over\n"; !strings.Contains(r.Out.String(), want) {
		t.Errorf("%q is not in\n%s", want, r.Out.String())
	}
	for _, unwanted := range []string{"since start, ", "given up", "left to git"} {
		if strings.Contains(r.Out.String(), unwanted) {
			t.Errorf("%q is over and in\n%s", unwanted, r.Out.String())
		}
	}
}

func TestStatusForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  []string
		width int // 0: piped
		want  string
	}{
		{"stop", []string{"stop"}, 0, "\nstopped\n"},
		{"status", []string{"status"}, 0, `
trouble
nat on host here of fleet lab: running since 2026-05-23 21:01:00 +02:00, version 0.1.0, process 42
home:    /home/nat/parley
record:  1 message in 0123456789ab, 3 not recorded yet
remote:  /srv/record.git, 4 not pushed yet, not fetched since the start, pushed 2026-05-23 21:01:00 +02:00
trouble: failing since 2026-05-23 21:01:00 +02:00 (unreachable): no route␊; 7 messages wait, next try 2026-05-23 21:02:00 +02:00; wait, then: parley fleet sync
bus:     NATS clients at 127.0.0.1:4222, other hosts at 127.0.0.1:4223
link:    white, up, 1.23ms away
link:    blue, down: refused
work:    1 running, 2 waiting: parley agent queue
refused: 5 messages since start: parley record verify
flagged: 1 join to a name that is taken, 2 copied to another path: parley record verify
warning: a clock is wrong

HOST   STATE  SINCE                      VERSION  AGENTS
here   here   2026-05-23T21:01:00+02:00  0.1.0    calc
white  live                                       mawjs, volt

AGENT  DOOR  WAITING  RUNNING  COMMAND  FOLDER
calc   exec  2        1        bc -l    /work
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.ShowStatus.Verb, clitest.SomeStatus())
			r.WantPrinted(t, test.width, test.line, test.want)
		})
	}
}

// Another host has pushed what this host could not push. This host cannot know whether it could
// push now, and waits for nothing. It prevents: a next try that is past, and a place among those
// that push.
func TestTroubleWhereOthersPushedEverything(t *testing.T) {
	r := newRun(t)
	s := clitest.SomeStatus()
	s.Record.Courier = 2
	s.Record.Trouble = &control.Trouble{Kind: "hook", Text: "refused", Pushing: true, Since: s.Since, Advice: "ask"}
	clitest.On(r, control.ShowStatus.Verb, s)
	if code := r.Do("status"); code != cli.ExitDone {
		t.Fatalf("exit %d, %s", code, r.Err.String())
	}
	for _, want := range []string{"(hook): refused; nothing waits, other hosts have pushed it; tried again with the next message"} {
		if !strings.Contains(r.Out.String(), want) {
			t.Errorf("%q is not in\n%s", want, r.Out.String())
		}
	}
	for _, unwanted := range []string{"next try", "push for all"} {
		if strings.Contains(r.Out.String(), unwanted) {
			t.Errorf("%q is in\n%s", unwanted, r.Out.String())
		}
	}
}
