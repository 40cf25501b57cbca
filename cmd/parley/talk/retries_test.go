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

// failing is a node on which an agent fails twice on a message before it answers. The wait for the
// answer ends when both failures were told.
type failing struct {
	*clitest.Recorder
	told chan struct{}
}

// Answer implements control.Service.
func (s failing) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	at := clitest.Message("").Timestamp
	again := control.RunChange{
		Change: control.RunAgain, Agent: "mawjs", Path: s.Message.Path, Failure: "exit-status", ExitCode: 3, Attempt: 1, Of: 3, Next: at.Add(time.Minute),
	}
	own := []control.Binding{
		control.Queue.By(func(context.Context, control.QueueRequest) ([]control.Job, error) {
			return []control.Job{{Agent: "mawjs", Path: s.Message.Path, State: control.JobWaiting, Why: control.WhyRetry, Attempt: 1, Of: 3, Problem: "exit code 3", Next: at.Add(time.Minute)}}, nil
		}),
		control.Events.By(func(ctx context.Context, _ control.EventsRequest, yield func(control.Event) error) error {
			defer close(s.told)
			other, second := again, again
			other.Path = protocol.NewPath(s.Message.Channel, at, 7)
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
			case <-s.told:
			case <-time.After(10 * time.Second): // nobody has asked what happens
			}
			return s.Reply, nil
		}),
	}
	return control.Bind(append(s.Bindings(), own...)...).Answer(ctx, v, request, yield)
}

// It prevents: a command that waits for an answer says nothing for the whole pause between two
// attempts.
func TestWhoWaitsIsToldOfRetries(t *testing.T) {
	for _, line := range [][]string{{"wait", "--re", "b2c3d4e5"}, {"wait", "--re", clitest.MessagePath}} {
		r := newRun(t)
		r.Reply = clitest.Message("done")
		r.Program.Connect = func(string) control.Service { return failing{&r.Recorder, make(chan struct{})} }
		const want = "mawjs: attempt 1 of 3 failed (exit code 3), next try at 2026-05-23T21:02:00+02:00\n" +
			"mawjs: attempt 2 of 3 failed (exit code 3), next try at 2026-05-23T22:01:00+02:00\n"
		if code := r.Do(line...); code != cli.ExitDone || r.Err.String() != want || r.Out.String() != "done\n" {
			t.Errorf("%q: exit %d, printed %q, said %q, want %q", line, code, r.Out.String(), r.Err.String(), want)
		}
	}
}
