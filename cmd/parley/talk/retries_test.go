package talk

import (
	"context"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// failsTwice is a node on which an agent fails twice on a message before it answers. The wait for
// the answer ends when both failures were told.
func failsTwice(r *clitest.Run) {
	m, told := clitest.Message(""), make(chan struct{})
	at := m.Timestamp
	again := control.RunChange{
		Change: control.RunAgain, Agent: "mawjs", Path: m.Path, Failure: "exit-status", ExitCode: 3, Attempt: 1, Of: 3, Next: at.Add(time.Minute),
	}
	clitest.On(r, control.Queue, []control.Job{{Agent: "mawjs", Path: m.Path, State: control.JobWaiting, Why: control.WhyRetry, Attempt: 1, Of: 3, Problem: "exit code 3", Next: at.Add(time.Minute)}})
	r.By(
		control.Events.By(func(ctx context.Context, _ control.EventsRequest, yield func(control.Event) error) error {
			defer close(told)
			other, second := again, again
			other.Path = protocol.NewPath(m.Channel, at, 7)
			second.Attempt, second.Next = 2, at.Add(time.Hour)
			for _, e := range []control.Event{{Kind: control.EventBegun}, {Kind: control.EventRun, Run: &again}, {Kind: control.EventRun, Run: &other}, {Kind: control.EventRun, Run: &second}} {
				if err := yield(e); err != nil {
					return err
				}
			}
			return nil
		}),
		control.Wait.By(func(context.Context, control.WaitRequest) (control.Message, error) {
			select {
			case <-told:
			case <-time.After(10 * time.Second): // nobody has asked what happens
			}
			return clitest.Message("done"), nil
		}),
	)
}

// It prevents: a command that waits for an answer says nothing for the whole pause between two
// attempts.
func TestWhoWaitsIsToldOfRetries(t *testing.T) {
	for _, line := range [][]string{{"wait", "--re", "b2c3d4e5"}, {"wait", "--re", clitest.MessagePath}} {
		r := newRun(t)
		failsTwice(r)
		const want = "mawjs: attempt 1 of 3 failed (exit code 3), next try at 2026-05-23T21:02:00+02:00\n" +
			"mawjs: attempt 2 of 3 failed (exit code 3), next try at 2026-05-23T22:01:00+02:00\n"
		if code := r.Do(line...); code != cli.ExitDone || r.Err.String() != want || r.Out.String() != "done\n" {
			t.Errorf("%q: exit %d, printed %q, said %q, want %q", line, code, r.Out.String(), r.Err.String(), want)
		}
	}
}
