package host

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: ls names as the next step that a human write to themselves.
func TestWhomToTalkToNext(t *testing.T) {
	me := control.Participant{Name: "nat", Kind: "human", Host: "here", Here: true}
	namesake := control.Participant{Name: "nat", Kind: "human", Host: "white"}
	agent := control.Participant{Name: "mawjs", Kind: "agent", Host: "white"}
	for want, people := range map[string][]control.Participant{
		"next: parley agent add NAME --exec 'CMD …'   serve an agent, to talk to\n": {me},
		"next: parley hey nat@white hello   say something\n":                        {me, namesake},
		"next: parley hey mawjs hello   say something\n":                            {me, namesake, agent},
	} {
		r := newRun(t)
		clitest.On(r, control.List, people)
		r.AtTerminal(80)
		if code := r.Do("ls"); code != cli.ExitDone || !strings.HasSuffix(r.Out.String(), "\n"+want) {
			t.Errorf("exit %d, printed %q, want %q last", code, r.Out.String(), want)
		}
	}
}

// It prevents: a listing in which an inbox that somebody empties looks like an inbox that nobody
// asks for.
func TestLsSaysWhenAnInboxWasAsked(t *testing.T) {
	r := newRun(t)
	now := clitest.Message("").Timestamp
	r.Program.Now = func() time.Time { return now }
	here := control.Participant{Kind: "agent", Host: "here", State: control.HostHere, Here: true, Since: now.Add(-72 * time.Hour)}
	calc, mawjs, volt := here, here, here
	calc.Name, calc.Door = "calc", "exec"
	mawjs.Name, mawjs.Door, mawjs.Asked = "mawjs", "inbox", now.Add(-time.Minute)
	volt.Name, volt.Door = "volt", "inbox"
	clitest.On(r, control.List, []control.Participant{calc, mawjs, volt})
	r.AtTerminal(80)
	if code := r.Do("ls"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
	want := `NAME   KIND   HOST  STATE  SINCE                    ASKED
calc   agent  here  here   2026-05-20 21:01 +02:00
mawjs  agent  here  here   2026-05-20 21:01 +02:00  21:00
volt   agent  here  here   2026-05-20 21:01 +02:00  not yet
next: parley hey calc hello   say something
`
	if diff := cmp.Diff(want, r.Out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestWhoIsThereForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  []string
		width int // 0: piped
		want  string
	}{
		{"ls", []string{"ls"}, 80, `
NAME   KIND   HOST   STATE  SINCE                    ADDRESS         ROUND TRIP
mawjs  agent  blue   away   2026-05-23 21:01 +02:00
mawjs  agent  white  live                            192.0.2.7:4223  313µs
nat    human  here   here
next: parley hey mawjs hello   say something
`},
		{"ls -q", []string{"ls", "-q"}, 0, "\nmawjs\nnat\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.List, []control.Participant{
				{Name: "mawjs", Kind: "agent", Host: "blue", State: control.HostAway, Since: clitest.Message("").Timestamp},
				{Name: "mawjs", Kind: "agent", Host: "white", Live: true, State: control.HostLive, Address: "192.0.2.7:4223", RTT: 312999},
				{Name: "nat", Kind: "human", Host: "here", Live: true, Here: true, State: control.HostHere},
			})
			r.WantPrinted(t, test.width, test.line, test.want)
		})
	}
}

// At a terminal with colours, what does not work is red, what is held up yellow, and what is there green.
func TestLsInColours(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.List, []control.Participant{
		{Name: "broken", Kind: "agent", Host: "white", State: control.HostHere, AgentWork: control.AgentWork{Dead: 1}},
		{Name: "held", Kind: "agent", Host: "white", State: control.HostHere, AgentWork: control.AgentWork{Paused: true}},
		{Name: "fine", Kind: "agent", Host: "white", State: control.HostHere},
		{Name: "gone", Kind: "agent", Host: "black", State: control.HostAway},
	})
	r.AtTerminal(80)
	r.Program.Out.Color = true
	r.Do("ls")
	for _, want := range []string{"\x1b[31mhere, 1 dead letter\x1b[0m", "\x1b[33mhere, paused\x1b[0m", "\x1b[32mhere\x1b[0m", "\x1b[33maway\x1b[0m"} {
		if !strings.Contains(r.Out.String(), want) {
			t.Errorf("%q is not in %q", want, r.Out.String())
		}
	}
}
