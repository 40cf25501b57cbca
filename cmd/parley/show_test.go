package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/cli/clitest"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func TestShownForPeople(t *testing.T) {
	answered := clitest.Letter("see \x1b[31mred\n\nend")
	answered.Act, answered.Re, answered.Stage, answered.Heard = protocol.ActReply, "2026/05/23/190000000Z-0badcafe.md", protocol.StagePushed, []protocol.Name{"blue"}
	for _, test := range []struct {
		name  string
		line  []string
		width int // 0: piped
		want  string
	}{
		{"inbox at 80 columns", []string{"inbox"}, 80, `
TIME                FROM         CHANNEL  ID        TEXT
05-23 21:01 +02:00  mawjs@white  direct   b2c3d4e5  hello there …
05-23 21:01 +02:00  名前         direct   b2c3d4e5  [unverified] [sync-check] ส…
05-23 21:01 +02:00  e␛vil@white  direct   b2c3d4e5  ␛[2J\u202egone
next: parley read b2c3d4e5   read the first; its sender gets a receipt
`},
		{"inbox, piped", []string{"inbox"}, 0, `
TIME                     FROM         CHANNEL  ID        TEXT
2026-05-23 21:01 +02:00  mawjs@white  direct   b2c3d4e5  hello there …
2026-05-23 21:01 +02:00  名前         direct   b2c3d4e5  [unverified] [sync-check] สวัสดี 世界 ` + strings.TrimSpace(strings.Repeat("long ", 40)) + `
2026-05-23 21:01 +02:00  e␛vil@white  direct   b2c3d4e5  ␛[2J\u202egone
`},
		{"log at 80 columns", []string{"log"}, 80, `
05-23 21:01 +02:00  mawjs@white → nat  b2c3d4e5  hello there …
05-23 21:01 +02:00  名前 → nat         b2c3d4e5  [unverified] [sync-check] สวัสดี…
05-23 21:01 +02:00  e␛vil@white → nat  b2c3d4e5  ␛[2J\u202egone
`},
		{"show at a terminal", []string{"show", "b2c3d4e5"}, 80, `
from:   mawjs@white
to:     nat
time:   2026-05-23 21:01:00 +02:00
act:    reply
re:     2026/05/23/190000000Z-0badcafe.md
path:   ` + clitest.LetterPath + `
signed: valid
stage:  heard by blue · pushed

see ␛[31mred

end
`},
		{"read, piped: the text is unchanged", []string{"read", "b2c3d4e5"}, 0, `
from:   mawjs@white
to:     nat
time:   2026-05-23 21:01:00 +02:00
act:    reply
re:     2026/05/23/190000000Z-0badcafe.md
path:   ` + clitest.LetterPath + `
signed: valid
stage:  heard by blue · pushed

see ` + "\x1b[31m" + `red

end
`},
		{"ls", []string{"ls"}, 80, `
NAME   KIND   HOST   STATE  SINCE                    ADDRESS         ROUND TRIP
mawjs  agent  blue   away   2026-05-23 21:01 +02:00
mawjs  agent  white  live                            192.0.2.7:4223  313µs
nat    human  here   here
next: parley hey mawjs hello   say something
`},
		{"ls -q", []string{"ls", "-q"}, 0, "\nmawjs\nnat\n"},
		{"agent list", []string{"agent", "list"}, 0, `
AGENT  DOOR  WAITING  RUNNING  COMMAND  FOLDER
calc   exec  2        1        bc -l    /work
`},
		{"agent add", []string{"agent", "add", "calc", "--exec", "bc -l"}, 80, `
calc is served here, door exec
next: parley hey calc --wait 30s TEXT   ask it something
`},
		{"agent remove", []string{"agent", "remove", "calc"}, 0, "\ncalc is no longer served here\n"},
		{"stop", []string{"stop"}, 0, "\nstopped\n"},
		{"status", []string{"status"}, 0, `
nat on host here of fleet lab: running since 2026-05-23 21:01:00 +02:00, version 0.1.0, process 42
home:    /home/nat/parley
record:  1 message in 0123456789ab, 3 not recorded yet
remote:  /srv/record.git, 4 not pushed yet, not fetched since the start, pushed 2026-05-23 21:01:00 +02:00
trouble: failing since 2026-05-23 21:01:00 +02:00 (unreachable): no route␊; 7 messages wait, next try 2026-05-23 21:02:00 +02:00; wait, then: parley wake
bus:     NATS clients at 127.0.0.1:4222, other hosts at 127.0.0.1:4223
link:    white, up, 1.23ms away
link:    blue, down: refused
refused: 5 messages since start: parley record verify
flagged: 1 join to a name that is taken, 2 copied to another path: parley record verify
warning: a clock is wrong

HOST   STATE  SINCE                    VERSION  AGENTS
here   here   2026-05-23 21:01 +02:00  0.1.0    calc
white  live                                     mawjs, volt

AGENT  DOOR  WAITING  RUNNING  COMMAND  FOLDER
calc   exec  2        1        bc -l    /work
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.Message, r.Mail, r.Status = answered, clitest.MailOfStrangers(), clitest.SomeStatus()
			r.Agents = r.Status.Agents
			r.People = []control.Participant{
				{Name: "mawjs", Kind: "agent", Host: "blue", State: control.HostAway, Since: answered.Timestamp},
				{Name: "mawjs", Kind: "agent", Host: "white", Live: true, State: control.HostLive, Address: "192.0.2.7:4223", RTT: 312999},
				{Name: "nat", Kind: "human", Host: "here", Live: true, Here: true, State: control.HostHere},
			}
			r.WantPrinted(t, test.width, test.line, test.want)
		})
	}
}

func TestEmptyListsAsJSONAreArrays(t *testing.T) {
	for _, line := range [][]string{
		{"inbox"}, {"ls"}, {"agent", "list"}, {"replies", "x"}, {"thread", "x"}, {"channel", "list"}, {"memory", "list"}, {"upgrade"}, {"host", "list"},
	} {
		r := newRun(t)
		if code := r.Do(append(line, "--json")...); code != cli.ExitDone || r.Out.String() != "[]\n" {
			t.Errorf("%q: exit %d, printed %q, want []", line, code, r.Out.String())
		}
	}
	r := newRun(t)
	r.Do("status", "--json")
	if strings.Contains(r.Out.String(), "null") {
		t.Errorf("status has lists that are null: %s", r.Out.String())
	}
}

func TestLogAsJSONIsLines(t *testing.T) {
	r := newRun(t)
	r.Mail = clitest.MailOfStrangers()
	r.Do("log", "--json", "--channel", "c", "-n", "3", "--all")
	if lines := strings.Count(r.Out.String(), "\n"); lines != 3 || strings.Contains(r.Out.String(), "\x1b") {
		t.Errorf("printed %d lines, want 3 without escapes:\n%s", lines, r.Out.String())
	}
	if want := `log {"channel":"c","last":3,"everything":true}`; r.Asked[0] != want {
		t.Errorf("asked %q, want %q", r.Asked[0], want)
	}
}

func TestRequestsThatRead(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"inbox", "--all"}, `inbox {"all":true}`},
		{[]string{"inbox", "--as", "nat", "-n", "5"}, `inbox {"as":"nat","limit":6}`},
		{[]string{"log"}, `log {}`},
		{[]string{"log", "--channel", "sprint", "-n", "0"}, `log {"channel":"sprint"}`},
		{[]string{"replies", "b2c3d4e5"}, `replies {"path":"b2c3d4e5"}`},
		{[]string{"thread", "b2c3d4e5"}, `thread {"path":"b2c3d4e5"}`},
		{[]string{"read", "b2c3d4e5"}, `read {"path":"b2c3d4e5"}`},
		{[]string{"log", "-f"}, `log {"last":10,"follow":true}`},
		{[]string{"log", "-f", "-n", "0"}, `log {"follow":true}`},
		{[]string{"agent", "add", "calc", "--exec", "bc -l"}, `add {"name":"calc","exec":"bc -l","dir":"` + here + `"}`},
		{[]string{"agent", "add", "calc", "--inbox", "--dir", "testdata"}, `add {"name":"calc","inbox":true,"dir":"` + filepath.Join(here, "testdata") + `"}`},
	} {
		r := newRun(t)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}

func TestFirstSteps(t *testing.T) {
	down := control.Errorf(control.KindUnavailable, "parley up", "no node is running")
	for _, test := range []struct {
		name  string
		setUp bool
		err   error
		want  string
	}{
		{"no home", false, down, "parley init"},
		{"no node", true, down, "parley up"},
		{"running", true, nil, "parley hey AGENT hello"},
	} {
		r := newRun(t)
		r.Failure, r.Status = test.err, clitest.SomeStatus()
		if test.setUp {
			if err := os.WriteFile(configs.Home{Dir: r.Env["PARLEY_HOME"]}.Config(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code := r.Do(); code != cli.ExitDone || !strings.Contains(r.Out.String(), test.want) {
			t.Errorf("%s: exit %d, printed %q, want it to name %q", test.name, code, r.Out.String(), test.want)
		}
	}
}

// Another host pushed what this one could not: it cannot know whether it could
// now, and waits for nothing. It prevents: a next try that is past, and a place
// among those that push.
func TestTroubleWhereOthersPushedEverything(t *testing.T) {
	r := newRun(t)
	r.Status = clitest.SomeStatus()
	r.Status.Record.Courier = 2
	r.Status.Record.Trouble = &control.Trouble{
		Kind: "hook", Text: "refused", Pushing: true, Since: r.Status.Since, Advice: "ask",
	}
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

// JSON leaves C1 controls and bidi overrides as they are, and a terminal obeys them: at
// one they are escapes, which mean the same.
func TestJSONAtTerminal(t *testing.T) {
	const evil = "\u009b2J\u202egone"
	for _, err := range []error{nil, errors.New(evil)} {
		r := newRun(t)
		r.Message, r.Failure = clitest.Letter(evil), err
		r.AtTerminal(80)
		r.Do("show", "b2c3d4e5", "--json")
		if shown := r.Out.String() + r.Err.String(); !strings.Contains(shown, `\u009b2J\u202egone`) || strings.Contains(shown, evil) {
			t.Errorf("where the error is %v: printed %q", err, shown)
		}
	}
}
