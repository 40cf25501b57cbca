package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// trying runs a node that pauses only for a moment between attempts.
func trying(t *testing.T, home configs.Home) (n *Node, stop func()) {
	t.Helper()
	return runNodeWith(t, Options{Home: home, retryPause: time.Millisecond})
}

// counting is a command that adds a line to a file each time it starts, and then does what the
// script says. In the script, $n is the number of this start.
func counting(file, script string) string {
	return fmt.Sprintf("sh -c 'echo x >> %s; n=$(grep -c x %s); %s'", file, file, script)
}

func startsIn(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

func deadLettersOf(t *testing.T, n control.Service, r control.DeadLettersRequest) []control.DeadLetter {
	t.Helper()
	dead, err := control.DeadLetters.Ask(t.Context(), n, r)
	if err != nil {
		t.Fatal(err)
	}
	return dead
}

// A command that fails is tried again. A message on which it failed for good is a dead letter, and
// its sender is told once. Crosstalk C20.
func TestACommandThatFailsIsTriedAgain(t *testing.T) {
	n, _ := trying(t, initHome(t, nil))
	for _, c := range []struct {
		name, script string
		starts       int
		answer       string // "" if the message is given up
		problem      string
	}{
		{"third", `test $n -lt 3 && exit 1; echo done`, 3, "done", ""},
		{"silent", `test $n -lt 2 && exit 0; echo done`, 2, "done", ""},
		{"never", `echo no luck >&2; echo some; exit 4`, 3, "", "never: the command ended with exit code 4: no luck"},
		{"usage", `exit 64`, 1, "", "usage: the command ended with exit code 64"},
		{"killed", `kill -9 $$`, 3, "", "killed: the command was ended by a signal (killed)"},
	} {
		file := filepath.Join(t.TempDir(), "starts")
		addExec(t, n, c.name, counting(file, c.script))
		m := say(t, n, c.name, "do it")
		answer := answerTo(t, n, m.Path)
		if starts := startsIn(t, file); starts != c.starts {
			t.Errorf("%s: started %d times, want %d", c.name, starts, c.starts)
		}
		dead := deadLettersOf(t, n, control.DeadLettersRequest{Agent: c.name})
		if c.answer != "" {
			if strings.TrimSpace(answer.Body) != c.answer || len(dead) > 0 {
				t.Errorf("%s: answered %q, dead letters %+v", c.name, answer.Body, dead)
			}
			continue
		}
		if answer.Act != protocol.ActFailed || len(dead) != 1 || dead[0].Attempts != c.starts || dead[0].Problem != c.problem || dead[0].Message.Path != m.Path {
			t.Errorf("%s: answered %s %q, dead letters %+v", c.name, answer.Act, answer.Body, dead)
		}
	}
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{}); len(dead) != 3 || !strings.Contains(dead[0].Text, "It had printed:\nsome") {
		t.Errorf("dead letters: %+v", dead)
	}
}

// A message on which an agent failed is tried again, or put away, when somebody says so. Both are
// in the record, so a node that starts anew knows of them. Crosstalk C21.
func TestADeadLetterIsTriedAgain(t *testing.T) {
	home := initHome(t, nil)
	n, stop := trying(t, home)
	file := filepath.Join(t.TempDir(), "starts")
	addExec(t, n, "late", counting(file, `test $n -lt 5 && exit 1; echo done`))
	m := say(t, n, "late", "do it")
	first := answerTo(t, n, m.Path)
	word := control.DeadLetterRequest{Message: m.Path.String(), Reason: "again"}
	if _, err := control.DropDead.Ask(t.Context(), n, word); err != nil {
		t.Fatal(err)
	}
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{}); len(dead) != 0 {
		t.Errorf("dropped, and listed: %+v", dead)
	}
	dead := deadLettersOf(t, n, control.DeadLettersRequest{Dropped: true})
	if len(dead) != 1 || dead[0].Dropped == nil || dead[0].Dropped.Reason != "again" {
		t.Errorf("dropped: %+v", dead)
	}
	stop()
	n, _ = trying(t, home)
	if _, err := control.RetryDead.Ask(t.Context(), n, word); err != nil {
		t.Fatal(err)
	}
	var answers []control.Message
	eventually(t, "it is answered", func() bool {
		var err error
		if answers, err = control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: m.Path.String()}); err != nil {
			t.Fatal(err)
		}
		return len(answers) == 2
	})
	if answers[0].Path != first.Path || strings.TrimSpace(answers[1].Body) != "done" {
		t.Errorf("answers: %+v", answers)
	}
	if starts := startsIn(t, file); starts != 5 {
		t.Errorf("started %d times, want 5", starts)
	}
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{Dropped: true}); len(dead) != 0 {
		t.Errorf("answered, and listed: %+v", dead)
	}
	for _, verb := range []control.Verb[control.DeadLetterRequest, control.DeadLetter]{control.RetryDead, control.DropDead} {
		if _, err := verb.Ask(t.Context(), n, word); control.AsError(err).Kind != control.KindNotFound {
			t.Errorf("a word about what is no dead letter: %v", err)
		}
	}
}

// While one message waits for its next attempt, the agent goes on with others.
func TestAPauseHoldsUpNoOtherMessage(t *testing.T) {
	n, _ := runNodeWith(t, Options{Home: initHome(t, nil), retryPause: time.Hour})
	addExec(t, n, "picky", `sh -c 'read word; test "$word" = bad && exit 1; echo done'`)
	bad := say(t, n, "picky", "bad")
	if good := answerTo(t, n, say(t, n, "picky", "good").Path); strings.TrimSpace(good.Body) != "done" {
		t.Errorf("answered %q", good.Body)
	}
	if answers, err := control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: bad.Path.String()}); err != nil || len(answers) != 0 {
		t.Errorf("answered before it was given up: %+v, %v", answers, err)
	}
}

// If the disk does not take the note that a command starts, no command is started, and the agent
// says why. What waits for the agent can be canceled, and the agent removed. All goes on once the
// disk is well. It prevents: one failed fsync stops all that until the node is started anew.
func TestADiskThatTakesNoNoteOfStarts(t *testing.T) {
	var fails atomic.Bool
	n, _ := runNodeWith(t, Options{Home: initHome(t, nil), syncRuns: func(f *os.File) error {
		if fails.Load() {
			return syscall.EIO
		}
		return f.Sync()
	}})
	starts := filepath.Join(t.TempDir(), "starts")
	addExec(t, n, "mawjs", counting(starts, "cat"))
	fails.Store(true)
	first, second := say(t, n, "mawjs", "first"), say(t, n, "mawjs", "second")
	stalled := func() (why string) {
		all, err := control.Agents.Ask(t.Context(), n)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0].Stalled
	}
	eventually(t, "it cannot be started", func() bool { return strings.Contains(stalled(), syscall.EIO.Error()) })
	if !warned(t, n, "mawjs is not run: cannot note that mawjs is started") {
		t.Error("status does not say it")
	}
	eventually(t, "the queue says it, and no slot is held", func() bool {
		jobs := queueOf(t, n, control.QueueRequest{})
		running, _, _ := n.serving.Usage()
		return len(jobs) == 2 && jobs[0].Why == control.WhyStalled && jobs[1].Why == control.WhyStalled && running == 0
	})
	wantCanceled(t, n, second.Path, "mawjs", control.JobWaiting)
	fails.Store(false)
	if answer := answerTo(t, n, first.Path); strings.TrimSpace(answer.Body) != "first" {
		t.Errorf("answered %q", answer.Body)
	}
	if got := startsIn(t, starts); got != 1 {
		t.Errorf("started %d times, want once", got)
	}
	if why := stalled(); why != "" || warned(t, n, "mawjs is not run") {
		t.Errorf("started, and still: %q", why)
	}

	fails.Store(true)
	third := say(t, n, "mawjs", "third")
	eventually(t, "it cannot be started again", func() bool { return stalled() != "" })
	if _, err := control.RemoveAgent.Ask(t.Context(), n, control.AgentRequest{Name: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	if answer := answerTo(t, n, third.Path); answer.Act != protocol.ActFailed || !strings.Contains(answer.Body, "not served") {
		t.Errorf("answered %s %q", answer.Act, answer.Body)
	}
	if warned(t, n, "mawjs is not run") {
		t.Error("status warns of an agent that is no more")
	}
}
