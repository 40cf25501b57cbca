package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: one message that the disk has lost keeps a whole node from starting, so that nobody
// can even ask what is damaged; or an agent is run again because its receipt was lost.
func TestStartWithADamagedMessage(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "echo", Exec: "git hash-object --stdin"}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	lost, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: "the one that is lost"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: "the one that is kept"})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	damageObject(t, home.Record(), "main:"+lost.Path.RepoPath())

	n, stop = runNode(t, home)
	defer stop()
	status, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil || !strings.Contains(strings.Join(status.Warned, " "), "1 of the messages, files and folders of record.git are lost") {
		t.Errorf("status warns %q, %v", status.Warned, err)
	}
	if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: kept.Path.String()}); err != nil || m.Body != "the one that is kept" {
		t.Errorf("the other message reads %q, %v", m.Body, err)
	}
	found, err := n.audits.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for _, f := range found.Findings {
		named = named || f.Kind == control.FindingDamaged && f.Path == lost.Path
	}
	if !named {
		t.Errorf("verify finds %+v", found.Findings)
	}
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"echo"}, Body: "hello"}); err != nil {
		t.Fatal(err)
	}
	if jobs := queueOf(t, n, control.QueueRequest{Agent: "echo"}); len(jobs) != 1 || jobs[0].Why != control.WhyHalted {
		t.Errorf("the agent has to do %+v", jobs)
	}
}

// damagedMail returns a node with a paused agent, and a message for this agent whose object the
// disk has lost. The node was started again in between. Otherwise it would write the growing pack
// from what it holds in memory, and so mend the pack with the next commit.
func damagedMail(t *testing.T, pauses time.Duration) (n *Node, bad protocol.Path) {
	t.Helper()
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "mawjs", "cat")
	pause(t, n, "mawjs", true)
	bad = say(t, n, "mawjs", "the one that is lost").Path
	eventually(t, "it is recorded", func() bool { return n.record.Place(bad) == gitsync.Recorded })
	stop()
	n, _ = runNodeWith(t, Options{Home: home, retryPause: pauses})
	damageObject(t, home.Record(), "main:"+bad.RepoPath())
	return n, bad
}

// A message that cannot be read is seen where it waits, and holds up nothing else. It prevents: the
// message vanishes from the queue of its agent, its sender waits for ever, or no queue can be
// listed at all.
func TestAMessageThatCannotBeReadIsSeen(t *testing.T) {
	n, bad := damagedMail(t, time.Hour)
	wantRows := func(why control.JobWhy) {
		t.Helper()
		jobs := queueOf(t, n, control.QueueRequest{Message: bad.String()})
		if len(jobs) != 1 || jobs[0].Path != bad || jobs[0].Why != why || jobs[0].Problem != "cannot be read" {
			t.Errorf("the queue is %+v", jobs)
		}
	}
	wantRows(control.WhyPaused)
	pause(t, n, "mawjs", false)
	if answer := answerTo(t, n, say(t, n, "mawjs", "another one").Path); strings.TrimSpace(answer.Body) != "another one" {
		t.Errorf("answered %q", answer.Body)
	}
	wantRows(control.WhyRetry)
	if !warned(t, n, "a message waits for mawjs: cannot read "+bad.String()) {
		t.Error("status does not say it")
	}
	wantCanceled(t, n, bad, "mawjs", control.JobWaiting)
	if warned(t, n, bad.String()) {
		t.Error("canceled, and status warns of it")
	}
}

// A message that stays unreadable is a dead letter in the end, with the reason. It can be listed
// with the others.
func TestAMessageThatStaysUnreadableIsADeadLetter(t *testing.T) {
	t.Parallel()
	n, bad := damagedMail(t, time.Millisecond)
	pause(t, n, "mawjs", false)
	if answer := answerTo(t, n, bad); answer.Act != protocol.ActFailed || !strings.Contains(answer.Body, "mawjs: cannot read "+bad.String()) {
		t.Errorf("answered %s %q", answer.Act, answer.Body)
	}
	dead := deadLettersOf(t, n, control.DeadLettersRequest{})
	if len(dead) != 1 || dead[0].Message.Path != bad || dead[0].Attempts != 0 || dead[0].Message.Body != "" || !strings.Contains(dead[0].Text, "The message cannot be read: ") {
		t.Errorf("the dead letters are %+v", dead)
	}
	eventually(t, "status warns of it no more", func() bool { return !warned(t, n, bad.String()) })
}

// A message that can be read again, as when the record has brought it back, is answered as if
// nothing had been.
func TestAMessageThatIsReadAgainIsAnswered(t *testing.T) {
	t.Parallel()
	n, _ := trying(t, initHome(t, nil))
	var reads atomic.Int32
	load := n.serving.Load
	n.serving.Load = func(it *fleet.Item) (*protocol.Message, error) {
		if reads.Add(1) < 6 {
			return nil, syscall.EIO
		}
		return load(it)
	}
	addExec(t, n, "mawjs", "cat")
	if answer := answerTo(t, n, say(t, n, "mawjs", "hello").Path); strings.TrimSpace(answer.Body) != "hello" {
		t.Errorf("answered %s %q", answer.Act, answer.Body)
	}
	if warned(t, n, "a message waits for mawjs") {
		t.Error("it was read, and status warns")
	}
}

func gitSays(t *testing.T, repo string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// damageObject turns bits over in the pack, at the beginning of an object.
func damageObject(t *testing.T, repo, name string) {
	t.Helper()
	hash := strings.TrimSpace(gitSays(t, repo, "rev-parse", name))
	indexes, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.idx"))
	if err != nil || len(indexes) == 0 {
		t.Fatal(indexes, err)
	}
	for _, index := range indexes {
		for line := range strings.Lines(gitSays(t, repo, "verify-pack", "--verbose", index)) {
			fields := strings.Fields(line)
			if len(fields) < 5 || fields[0] != hash {
				continue
			}
			pack := strings.TrimSuffix(index, "idx") + "pack"
			data, err := os.ReadFile(pack)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, c := range fields[4] {
				at = at*10 + int(c-'0')
			}
			for i := range 6 {
				data[at+10+i] ^= 0x55
			}
			if err := os.WriteFile(pack, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%s is in no pack", hash)
}
