package runs

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	r := clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, NewQueueCommand(p), NewCancelCommand(p), NewDLQCommand(p))
	})
	m := clitest.Message("translate\x1b[2J this, which is long enough to be cut at the edge")
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	job := control.Job{Agent: "mawjs", Path: m.Path, From: "n\x1bat", State: control.JobRunning, Tier: "default", Since: at, Attempt: 1, Of: 3, Text: m.Body}
	waits, fails := job, job
	waits.State, waits.Why, waits.Place, waits.Attempt = control.JobWaiting, control.WhyBusy, 1, 0
	fails.State, fails.Why, fails.Place, fails.Next, fails.Problem = control.JobWaiting, control.WhyRetry, 2, at.Add(time.Minute), "exit code 1"
	jobs := []control.Job{job, waits, fails}
	clitest.On(r, control.Queue, jobs)
	clitest.On(r, control.Cancel, jobs)
	dies(r, control.DeadLetter{
		Message: m, Agent: "mawjs", Host: "white", Time: at, Problem: "mawjs: the command ended with exit code 1: no \x1bmodel", Text: "It had printed:\nhm\x07",
		Tier: "default", Ran: control.Seconds(1200 * time.Millisecond), Attempts: 3, Retries: 1,
	})
	return r
}

// dies prepares the one dead letter that is listed, retried or dropped.
func dies(r *clitest.Run, letter control.DeadLetter) {
	clitest.On(r, control.DeadLetters, []control.DeadLetter{letter})
	clitest.On(r, control.RetryDead, letter)
	clitest.On(r, control.DropDead, letter)
}

// The messages that agents have to work on, and those on which they have failed, are shown in
// columns that fit. Text of others moves no cursor.
func TestWorkForPeople(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"queue", `
AGENT  PLACE  STATE    TRIED   NEXT TRY  SINCE       ID        FROM  TEXT
mawjs         running  1 of 3            2026-05-23  b2c3d4e5  n␛at  translate…
mawjs  1      busy                       2026-05-23  b2c3d4e5  n␛at  translate…
mawjs  2      failing  1 of 3  21:02:00  2026-05-23  b2c3d4e5  n␛at  [exit cod…
`},
		{"cancel b2c3d4e5", `
mawjs no longer works on b2c3d4e5; n␛at is told
mawjs no longer works on b2c3d4e5; n␛at is told
mawjs no longer works on b2c3d4e5; n␛at is told
`},
		{"dlq list", `
TIME        AGENT        TRIED  ID        FROM   PROBLEM
2026-05-23  mawjs@white  3      b2c3d4e5  mawjs  the command ended with exit co…
next: parley agent dlq show b2c3d4e5   what happened
`},
		{"dlq show b2c3d4e5", `
message:  adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md
from:     mawjs
agent:    mawjs@white
tried:    3 times, given up 2026-05-23 21:01:00 +02:00; somebody had it tried
          again 1 time
problem:  mawjs: the command ended with exit code 1: no ␛model
ran:      1.2s

It had printed:
hm␇

translate␛[2J this, which is long enough to be cut at the edge
next: parley agent dlq retry b2c3d4e5   have it tried again
`},
		{"dlq drop b2c3d4e5", `
b2c3d4e5 is put away; mawjs@white does not try it again
`},
	} {
		t.Run(test.line, func(t *testing.T) {
			newRun(t).WantPrinted(t, 80, strings.Fields(test.line), test.want)
		})
	}
}

// All dead letters are tried again at once, except one that another host may be at work on. One that
// fails does not keep the others.
func TestAllDeadLettersAreTriedAgain(t *testing.T) {
	first, second, claimed := clitest.Message("one"), clitest.Message("two"), clitest.Message("three")
	dead := []control.DeadLetter{{Message: first, Agent: "volt"}, {Message: second, Agent: "mawjs"}, {Message: claimed, Agent: "critic", Claimed: true}}
	r := newRun(t)
	clitest.On(r, control.DeadLetters, dead)
	var asked []string
	r.By(control.RetryDead.By(func(_ context.Context, q control.DeadLetterRequest) (control.DeadLetter, error) {
		if asked = append(asked, q.Agent); q.Agent == "volt" {
			return control.DeadLetter{}, control.Errorf(control.KindNotFound, "", "volt is gone")
		}
		return dead[1], nil
	}))
	code := r.Do("dlq", "retry", "--all")
	if code != cli.ExitFailed || !slices.Equal(asked, []string{"volt", "mawjs"}) || !strings.Contains(r.Err.String(), "volt is gone") ||
		!strings.Contains(r.Err.String(), "left: 1 dead letter that another host has claimed") || !strings.Contains(r.Out.String(), "is tried again by mawjs") {
		t.Errorf("exit %d, asked %q, printed %q, said %q", code, asked, r.Out.String(), r.Err.String())
	}
}

// It prevents: of a message on which several agents failed, the next step names none of them, and
// is refused.
func TestTheNextStepOfADeadLetterNamesItsAgent(t *testing.T) {
	r := newRun(t)
	m := clitest.Message("translate this")
	clitest.On(r, control.DeadLetters, []control.DeadLetter{
		{Message: m, Agent: "mawjs", Time: m.Timestamp, Dropped: new(control.RunWord)}, {Message: m, Agent: "volt", Time: m.Timestamp},
	})
	r.AtTerminal(80)
	if r.Do("dlq", "show", "b2c3d4e5"); strings.Count(r.Out.String(), "next: ") != 1 || !strings.Contains(r.Out.String(), "next: parley agent dlq retry b2c3d4e5 --agent volt ") {
		t.Errorf("printed:\n%s", r.Out.String())
	}
}

// It prevents: whoever installs a missing program has to write the message again.
func TestADeadLetterOfAMissingProgramSaysWhatToDoThen(t *testing.T) {
	r := newRun(t)
	m := clitest.Message("translate this")
	clitest.On(r, control.DeadLetters, []control.DeadLetter{{Message: m, Agent: "volt", Time: m.Timestamp, Problem: "volt: cannot start calc: it is in no folder of the node's PATH"}})
	r.AtTerminal(80)
	if r.Do("dlq", "show", "b2c3d4e5"); !strings.Contains(r.Out.String(), "next: parley agent dlq retry b2c3d4e5   once the program is installed\n") {
		t.Errorf("printed:\n%s", r.Out.String())
	}
}

// A message that another host has claimed and does not work on is listed as that, and not as tried.
func TestAbandonedClaimsForPeople(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"dlq list", `
TIME        AGENT  TRIED  ID        FROM   PROBLEM
2026-05-23  mawjs  0      b2c3d4e5  mawjs  [claimed] another host has claimed it
next: parley agent dlq show b2c3d4e5   what happened
`},
		{"dlq show b2c3d4e5", `
message:  adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md
from:     mawjs
agent:    mawjs
claimed:  2026-05-23 21:01:00 +02:00
problem:  another host has claimed it

translate␛[2J this, which is long enough to be cut at the edge
next: parley agent dlq retry b2c3d4e5   have it tried again
`},
	} {
		r := newRun(t)
		m := clitest.Message("translate\x1b[2J this, which is long enough to be cut at the edge")
		dies(r, control.DeadLetter{Message: m, Agent: "mawjs", Time: m.Timestamp, Problem: "another host has claimed it", Claimed: true})
		r.WantPrinted(t, 80, strings.Fields(test.line), test.want)
	}
}

// The node is asked exactly what the command line says.
func TestWorkAsked(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"queue mawjs", `queue {"agent":"mawjs"}`},
		{"cancel b2c3d4e5 --agent mawjs --reason mistake", `cancel {"message":"b2c3d4e5","agent":"mawjs","reason":"mistake"}`},
		{"dlq list mawjs --all", `dead-letters {"agent":"mawjs","dropped":true}`},
		{"dlq show b2c3d4e5", `dead-letters {"message":"b2c3d4e5","dropped":true}`},
		{"dlq retry b2c3d4e5 --agent mawjs", `retry-dead {"message":"b2c3d4e5","agent":"mawjs"}`},
		{"dlq drop b2c3d4e5 --reason old", `drop-dead {"message":"b2c3d4e5","reason":"old"}`},
	} {
		r := newRun(t)
		if code := r.Do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d", test.line, code)
		}
		if diff := cmp.Diff([]string{test.want}, r.Asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.line, diff)
		}
	}
	for _, line := range []string{"dlq nothing", "dlq retry", "dlq retry b2c3d4e5 --all", "cancel", "queue a b", "queue -n -1"} {
		if code := newRun(t).Do(strings.Fields(line)...); code != cli.ExitUsage {
			t.Errorf("%s: exit %d", line, code)
		}
	}
}
