package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func queueOf(t *testing.T, n control.Service, r control.QueueRequest) []control.Job {
	t.Helper()
	jobs, err := control.Queue.Ask(t.Context(), n, r)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func pause(t *testing.T, n control.Service, agent string, paused bool) {
	t.Helper()
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: agent, Paused: paused}); err != nil {
		t.Fatal(err)
	}
}

// wantCanceled cancels a message, and checks that its sender is told once, by whom it was canceled
// and why.
func wantCanceled(t *testing.T, n control.Service, p protocol.Path, agent string, state control.JobState) {
	t.Helper()
	ended, err := control.Cancel.Ask(t.Context(), n, control.CancelRequest{Message: p.String(), Reason: "a\nmistake"})
	if err != nil || len(ended) != 1 || ended[0].Path != p || ended[0].State != state || ended[0].Agent.String() != agent {
		t.Errorf("canceled %+v, %v", ended, err)
	}
	answers, err := control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: p.String()})
	if err != nil || len(answers) != 1 || answers[0].Act != protocol.ActFailed || !strings.HasPrefix(answers[0].Body, "FAILED | "+agent+": canceled by nat: a mistake") {
		t.Errorf("%s: answers %+v, %v", agent, answers, err)
	}
	if left := queueOf(t, n, control.QueueRequest{Message: p.String()}); len(left) != 0 {
		t.Errorf("canceled, and still there: %+v", left)
	}
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{Message: p.String(), Dropped: true}); len(dead) != 0 {
		t.Errorf("canceled, and a dead letter: %+v", dead)
	}
}

// wantOneByOne checks that each of the jobs is told alone as it is told among all.
func wantOneByOne(t *testing.T, n *Node, jobs []control.Job) {
	t.Helper()
	for _, want := range jobs {
		steps := n.serving.Traces([]protocol.Path{want.Path})[0]
		got, step := steps[len(steps)-1], protocol.TraceAtWork
		if want.State == control.JobWaiting {
			step = protocol.TraceWaits
		}
		if got.Agent != want.Agent || got.Step != step || got.By != string(want.Why) || got.Next.IsZero() != want.Next.IsZero() || step == protocol.TraceAtWork && got.Attempt != want.Attempt {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// The messages on which an agent has to work are listed, with the reason why they wait. Such work
// ends when somebody cancels it: a run ends with all that it has started, and a waiting message
// ends without a start.
func TestQueueAndCancel(t *testing.T) {
	n, _ := runNodeWith(t, Options{Home: initHome(t, nil), retryPause: time.Hour})
	dir := t.TempDir()
	child, starts := filepath.Join(dir, "child"), filepath.Join(dir, "starts")
	addExec(t, n, "busy", counting(starts, "sleep 300 & echo $! >"+child+".new; mv "+child+".new "+child+"; wait"))
	addExec(t, n, "fails", "sh -c 'exit 3'")
	addExec(t, n, "rests", "cat")
	pause(t, n, "rests", true)
	runs, waits := say(t, n, "busy", "\n  the first\nline"), say(t, n, "busy", "second")
	failed, rests := say(t, n, "fails", "third"), say(t, n, "rests", "fourth")
	eventually(t, "one runs, one has failed", func() bool {
		_, err := os.Stat(child)
		jobs := queueOf(t, n, control.QueueRequest{Agent: "fails"})
		return err == nil && len(jobs) == 1 && jobs[0].Why == control.WhyRetry
	})
	jobs := queueOf(t, n, control.QueueRequest{})
	if len(jobs) != 4 {
		t.Fatalf("jobs: %+v", jobs)
	}
	wantOneByOne(t, n, jobs)
	now := time.Now()
	for i, want := range []control.Job{
		{Agent: "busy", Path: runs.Path, State: control.JobRunning, Attempt: 1, Text: "the first"},
		{Agent: "busy", Path: waits.Path, State: control.JobWaiting, Why: control.WhyBusy, Place: 1, Text: "second"},
		{Agent: "fails", Path: failed.Path, State: control.JobWaiting, Why: control.WhyRetry, Place: 1, Attempt: 1, Problem: "exit code 3", Text: "third"},
		{Agent: "rests", Path: rests.Path, State: control.JobWaiting, Why: control.WhyPaused, Place: 1, Text: "fourth"},
	} {
		got := jobs[i]
		if got.Since.IsZero() || got.Since.After(now) {
			t.Errorf("%s since %s", got.Agent, got.Since)
		}
		if retry := got.Why == control.WhyRetry; retry != got.Next.After(now.Add(30*time.Minute)) {
			t.Errorf("%s is tried again at %s", got.Agent, got.Next)
		}
		want.From, want.Tier, want.Of, want.Since, want.Next = "nat", "default", 3, got.Since, got.Next
		if got != want {
			t.Errorf("job %d: %+v, want %+v", i, got, want)
		}
	}
	data, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	wantCanceled(t, n, waits.Path, "busy", control.JobWaiting)
	wantCanceled(t, n, failed.Path, "fails", control.JobWaiting)
	wantCanceled(t, n, rests.Path, "rests", control.JobWaiting)
	wantCanceled(t, n, runs.Path, "busy", control.JobRunning)
	eventually(t, "what it has started has ended", func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(data)) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	})
	if got := startsIn(t, starts); got != 1 {
		t.Errorf("started %d times, want 1", got)
	}
	pause(t, n, "rests", false)
	if answer := answerTo(t, n, say(t, n, "rests", "fifth").Path); strings.TrimSpace(answer.Body) != "fifth" {
		t.Errorf("answered %q", answer.Body)
	}
	for _, r := range []control.CancelRequest{{Message: rests.Path.String()}, {Message: runs.Path.String(), Agent: "busy"}} {
		if _, err := control.Cancel.Ask(t.Context(), n, r); control.AsError(err).Kind != control.KindNotFound {
			t.Errorf("canceled twice: %v", err)
		}
	}
	for _, agent := range []string{"nobody", "no name"} {
		if _, err := control.Queue.Ask(t.Context(), n, control.QueueRequest{Agent: agent}); err == nil {
			t.Errorf("a queue of %q", agent)
		}
	}
}

// A reason for which no message has room is refused before anything is ended. It prevents: the run
// is ended, and its sender is never told.
func TestAReasonThatIsTooLong(t *testing.T) {
	n, _ := trying(t, initHome(t, nil))
	starts := filepath.Join(t.TempDir(), "starts")
	addExec(t, n, "busy", counting(starts, "exec sleep 300"))
	m := say(t, n, "busy", "go")
	eventually(t, "it runs", func() bool { return startsIn(t, starts) == 1 })
	long := strings.Repeat("x", 1<<20)
	if _, err := control.Cancel.Ask(t.Context(), n, control.CancelRequest{Message: m.Path.String(), Reason: long}); err == nil || control.AsError(err).Kind != control.KindUsage {
		t.Errorf("canceled with a reason of a megabyte: %v", err)
	}
	if _, err := control.DropDead.Ask(t.Context(), n, control.DeadLetterRequest{Message: m.Path.String(), Reason: long}); err == nil || control.AsError(err).Kind != control.KindUsage {
		t.Errorf("dropped with a reason of a megabyte: %v", err)
	}
	if jobs := queueOf(t, n, control.QueueRequest{}); len(jobs) != 1 || jobs[0].State != control.JobRunning {
		t.Errorf("the queue is %+v", jobs)
	}
	wantCanceled(t, n, m.Path, "busy", control.JobRunning)
}

// A canceled message stays canceled when the node starts anew.
func TestCanceledForGood(t *testing.T) {
	home := initHome(t, nil)
	n, stop := trying(t, home)
	starts := filepath.Join(t.TempDir(), "starts")
	addExec(t, n, "busy", counting(starts, "exec sleep 300"))
	m := say(t, n, "busy", "go")
	eventually(t, "it runs", func() bool { return startsIn(t, starts) == 1 })
	wantCanceled(t, n, m.Path, "busy", control.JobRunning)
	stop()
	n, _ = trying(t, home)
	if jobs := queueOf(t, n, control.QueueRequest{}); len(jobs) != 0 {
		t.Errorf("jobs: %+v", jobs)
	}
	if got := startsIn(t, starts); got != 1 {
		t.Errorf("started %d times, want 1", got)
	}
}
