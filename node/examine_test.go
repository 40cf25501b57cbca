package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// working is an agent of a node that works with another agent on "tmux design".
func working(n *Node, me, with string) topics.Speaker {
	return topics.Speaker{Record: n.record.ID(), Me: me, With: with, Topic: "tmux design"}
}

// do carries out commands of topics.
func do(t testing.TB, n *Node, commands ...affair.Command) (last protocol.Path) {
	t.Helper()
	for _, c := range commands {
		paths, err := n.decider.Do(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(paths) > 0 {
			last = paths[len(paths)-1]
		}
	}
	return last
}

// resultOf waits for the result of a check.
func resultOf(t testing.TB, n *Node, check protocol.Path) (r *topic.Result) {
	t.Helper()
	eventually(t, "the check is answered", func() bool {
		n.folded(func(s *fleet.State) {
			topic := fleet.Value(s, topics.Kind(n.record.ID()), check.Channel().String(), time.Now())
			for _, c := range topic.Checks {
				if c.Path == check {
					r = c.Result
				}
			}
		})
		return r != nil
	})
	return r
}

// rowsText is what a result says, one row a line.
func rowsText(r *topic.Result) string {
	var b strings.Builder
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "%s %s %s %s\n", row.Label, row.Score, row.Decision, row.Flag)
	}
	return b.String()
}

// addExamined adds an agent whose sync-checks the node answers. dir is where the agent works.
func addExamined(t testing.TB, n *Node, name, exec, dir string) {
	t.Helper()
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Exec: exec, Inbox: exec == "", Settings: control.Given{"examiner": {"mechanical"}, "dir": {dir}}}); err != nil {
		t.Fatal(err)
	}
}

// as sends a message of an agent.
func as(t testing.TB, n *Node, who, to, body string) control.Message {
	t.Helper()
	m, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: who, To: []string{to}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Work-with W38, W190: if the operator set `examiner: mechanical`, the node answers by what the
// agent itself wrote, decided and remembers, and starts no run. It never answers by the words of
// the one who asks, nor by the words of others who use the agent's name (R66).
func TestAMechanicalExaminer(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ψ/memory/learnings/keys.md":                 "---\ntags: keys\n---\n# Keys\n\nHeartbeat keys are four.\n",
		"ψ/memory/collaborations/skills/topics/x.md": "The view is evidence.\n",
		"ψ/inbox/from-skills.md":                     "The mail of others is evidence.\n",
		"ψ/memory/collaborations@mawjs/topics/x.md":  "The view is evidence.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := filepath.Join(t.TempDir(), "ran")
	addExamined(t, n, "mawjs", "sh -c 'touch "+ran+"; cat'", dir)
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "skills", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	said := as(t, n, "mawjs", "skills", "Pane titles include the team tag.")
	as(t, n, "skills", "nat", "The asker says it is so.")
	if _, err := control.AddMemory.Ask(t.Context(), n, control.AddMemoryRequest{As: "mawjs", Subject: "ports", Body: "The port is 4222."}); err != nil {
		t.Fatal(err)
	}
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	check := do(t, n, skills.Open(""), skills.Agree("Worktree isolation is on", 0), mawjs.Accept("A1", ""), skills.Agree("The asker says it is so", 0),
		skills.Agree("Colours are red", 0), mawjs.Reject("A3", "cyan"),
		skills.Check([]string{
			"Pane titles include the team tag", "The port is 4222", "Heartbeat keys are four", "The view is evidence", "The mail of others is evidence",
			"Pane titles show a team tag", "Nobody ever said this one",
		}, 0, protocol.Heard{}))
	r := resultOf(t, n, check)
	// A3 is rejected, so it is not claimed any more. The words of P1 are the seed's.
	want := "P1 0.0 REJECT not in memory\nA1 1.0 ACCEPT \nA2 0.0 REJECT not in memory\nC1 1.0 ACCEPT \nC2 0.2 PARTIAL \nC3 1.0 ACCEPT \n" +
		"C4 0.0 REJECT not in memory\nC5 0.0 REJECT not in memory\nC6 0.2 PARTIAL \nC7 0.0 REJECT not in memory\n"
	if got := rowsText(r); got != want || !r.Mechanical {
		t.Errorf("mechanical: %v\n%s\nwant\n%s", r.Mechanical, got, want)
	}
	for i, where := range map[int]string{3: said.Path.RepoPath() + ":", 4: "data/memories/", 5: "ψ/memory/learnings/keys.md:6 “Heartbeat keys are four.”"} {
		if e := r.Rows[i].Evidence; !strings.Contains(e, where) {
			t.Errorf("evidence of row %d is %q, want %s", i, e, where)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the agent's command was run for the check")
	}
	// The line that the evidence of a message names is the line in the message's file.
	data, err := n.record.Get(said.Path)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Count(string(data[:strings.Index(string(data), "Pane titles")]), "\n") + 1
	if !strings.Contains(r.Rows[3].Evidence, fmt.Sprintf(".md:%d “", line)) {
		t.Errorf("evidence %q, want line %d", r.Rows[3].Evidence, line)
	}
	// A1 is taken back: what the agent wrote elsewhere weighs no more than what it decided.
	check = do(t, n, mawjs.Revoke("A1", "we need it off", 0), skills.Check(nil, 0, protocol.Heard{}))
	if got := rowsText(resultOf(t, n, check)); !strings.Contains(got, "A1 0.2 PARTIAL") {
		t.Errorf("after it is taken back:\n%s", got)
	}
}

// A check came while nothing could be answered. It is answered once, at the next start, and never
// waits for the agent's command meanwhile.
func TestAnExaminationAfterAStart(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExamined(t, n, "mawjs", "cat", "")
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "skills", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	n.halts.Breaks("a test holds it up")
	skills := working(n, "skills", "mawjs")
	check := do(t, n, skills.Open(""), skills.Agree("Panes are four", 0), skills.Check(nil, 0, protocol.Heard{}))
	if jobs := queueOf(t, n, control.QueueRequest{Agent: "mawjs"}); len(jobs) > 0 {
		t.Errorf("the check waits for the agent's command: %+v", jobs)
	}
	stop()
	n, _ = runNode(t, home)
	if got := rowsText(resultOf(t, n, check)); got != "P1 0.0 REJECT not in memory\nA1 0.0 REJECT not in memory\n" {
		t.Errorf("answered:\n%s", got)
	}
	results := 0
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActSyncResult {
			results++
		}
	}
	if results != 1 {
		t.Errorf("%d results", results)
	}
	eventually(t, "nothing is unread", func() bool { // what runs nobody is acknowledged beside the check
		mail, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "mawjs"})
		if err != nil {
			t.Fatal(err)
		}
		return len(mail) == 0
	})
}

// Words that somebody else wrote in the agent's name are no evidence.
func TestForgedWordsAreNoEvidence(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	addExamined(t, n, "mawjs", "", "")
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "skills", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	clone := cloneOf(t, remote)
	forged := plainMail(t, clone, protocol.DeriveChannel(n.record.ID(), "mawjs", "skills").String(), "20260522T100000000", "mawjs", "skills", "The port is 4222.")
	push(t, clone)
	n.record.Ring()
	eventually(t, "the forged message is here", func() bool {
		_, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: forged.String()})
		return err == nil
	})
	skills := working(n, "skills", "mawjs")
	check := do(t, n, skills.Open(""), skills.Agree("The port is 4222", 0), skills.Check(nil, 0, protocol.Heard{}))
	if got := rowsText(resultOf(t, n, check)); got != "P1 0.0 REJECT not in memory\nA1 0.0 REJECT not in memory\n" {
		t.Errorf("answered:\n%s", got)
	}
}

// Work-with W34: an answer of an agent's command to a check counts as the result if it has the
// check's form, whatever stands around it. Prose stays a reply, and the check is unanswered (R65).
func TestAnAgentsAnswerToACheck(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	answers, err := filepath.Abs("../protocol/testdata/sync-answers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "skills", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	for file, result := range map[string]bool{"chatter-around.txt": true, "table.txt": true, "missing-rows.txt": true, "prose.txt": false, "refusal.txt": false} {
		t.Run(file, func(t *testing.T) {
			name := "mawjs-" + strings.TrimSuffix(file, ".txt")
			addExec(t, n, name, "cat "+filepath.Join(answers, file))
			skills := working(n, "skills", name)
			check := do(t, n, skills.Open(""), skills.Agree("Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", 0), skills.Agree("Pane titles include team tag", 0), skills.Check(nil, 0, protocol.Heard{}))
			m := answerTo(t, n, check)
			if result != (m.Act == protocol.ActSyncResult) {
				t.Fatalf("answered by %s:\n%s", m.Act, m.Body)
			}
			if result {
				r := resultOf(t, n, check)
				t.Logf("%s:\n%s", file, rowsText(r))
				if r.Counted == 0 || r.Mechanical {
					t.Errorf("result %+v", r)
				}
			}
		})
	}
}

// Two agents that work in one folder have one ψ. It prevents: a note there, which either of them
// may have written, makes a claim certain for both.
func TestNotesOfASharedFolderProveNothing(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	dir, own := t.TempDir(), t.TempDir()
	for _, at := range []string{dir, own} {
		if err := os.MkdirAll(filepath.Join(at, "ψ"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "ψ", "keys.md"), []byte("Heartbeat keys are four.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addExamined(t, n, "mawjs", "", dir)
	addExamined(t, n, "mawui", "", dir)
	addExamined(t, n, "volt", "", own)
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "skills", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]string{"mawjs": "C1 0.2 PARTIAL", "mawui": "C1 0.2 PARTIAL", "volt": "C1 1.0 ACCEPT"} {
		skills := working(n, "skills", who)
		check := do(t, n, skills.Open(""), skills.Check([]string{"Heartbeat keys are four"}, 0, protocol.Heard{}))
		if got := rowsText(resultOf(t, n, check)); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %s", who, got, want)
		}
	}
}
