package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// synced returns what a sync-check tells, each event as text: its kind, the agent that is asked, by
// which way, and what of the result counts.
func synced(t testing.TB, n *Node, r control.SyncRequest) (texts []string, events []control.SyncEvent) {
	t.Helper()
	err := control.Sync.Ask(t.Context(), n, r, func(e control.SyncEvent) error {
		text := fmt.Sprint(e.Kind, " ", e.With, " ", e.Transport)
		if e.Result != nil {
			text += fmt.Sprintf(" %s %d/%d", e.Result.Status, e.Result.Counted, len(e.Result.Rows))
		}
		if len(e.Validate) > 0 {
			text += " validate " + strings.Join(e.Validate, ",")
		}
		texts, events = append(texts, text), append(events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, events
}

// Work-with W30, W53, W54, W195: checks go to partners of this host and of another host, side by
// side. Each says by which way it goes, and the results are the same whichever way they come.
func TestSyncWithSeveralAtOnce(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, _, _ := linkedTo(t, hub, "white")
	addInbox(t, hub, "skills")
	addExamined(t, hub, "mawui", "", "")
	addExamined(t, white, "mawjs", "", "")
	eventually(t, "the agent of white is known", func() bool { return len(seenAs(t, hub, "white", control.HostLive).Agents) == 1 })
	for _, with := range []string{"mawui", "mawjs"} {
		s := working(hub, "skills", with)
		do(t, hub, s.Open(""), s.Agree("Panes are four", 0))
	}
	texts, events := synced(t, hub, control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: within, Claims: []string{"The port is 4222"}})
	slices.Sort(texts[2:]) // in the order of the names, whichever was faster
	want := "sent mawjs wormhole\nsent mawui hey\nresult mawjs wormhole DESYNC 3/3\nresult mawui hey DESYNC 3/3"
	if got := strings.Join(texts, "\n"); got != want {
		t.Errorf("told:\n%s\nwant\n%s", got, want)
	}
	for _, e := range events[2:] {
		r := e.Result
		if !r.Mechanical || r.Raw != protocol.NewScore(0) || r.Decayed != r.Raw || r.Tier != topic.TierNew || r.Rows[2].Label != "C1" || r.Rows[2].Flag != topic.NotInMemory {
			t.Errorf("result %+v", r)
		}
	}
	// One partner is named, with one topic, for an agent that works nowhere else; R59: it is the
	// agent that works here.
	eventually(t, "the agents of the hub are known", func() bool { return len(seenAs(t, white, "oracle-world", control.HostLive).Agents) == 2 })
	texts, _ = synced(t, white, control.SyncRequest{With: []string{"skills"}, Topic: "TMUX design", Wait: time.Nanosecond})
	if got := strings.Join(texts, "\n"); got != "sent skills wormhole\ntimeout skills wormhole" {
		t.Errorf("told:\n%s", got)
	}
}

// Work-with W52, W173: silence is observed and scores nothing. A result that comes later counts,
// and the next sync shows it once.
func TestALateResultCounts(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	do(t, n, skills.Open(""), skills.Agree("Panes are four", 0))
	ask := control.SyncRequest{Acting: control.Acting{As: "skills"}, With: []string{"mawjs"}, Wait: time.Nanosecond}
	texts, events := synced(t, n, ask)
	if got := strings.Join(texts, "\n"); got != "sent mawjs hey\ntimeout mawjs hey" {
		t.Fatalf("told:\n%s", got)
	}
	check, err := protocol.ParsePath(events[0].Check)
	if err != nil {
		t.Fatal(err)
	}
	do(t, n, mawjs.Answer(check, []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(1), Decision: protocol.DecisionAccept, Evidence: "memory"}}, ""))
	texts, events = synced(t, n, ask)
	if got := strings.Join(texts, "\n"); got != "late mawjs hey SYNCED 1/2\nsent mawjs hey\ntimeout mawjs hey" || !events[0].Result.Late {
		t.Errorf("told:\n%s", got)
	}
	if texts, _ = synced(t, n, ask); len(texts) != 2 {
		t.Errorf("told again:\n%s", strings.Join(texts, "\n"))
	}
	// No message tells the other agent of the timeout (R29).
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActTimeout {
			t.Errorf("a timeout was sent: %s", m.Body)
		}
	}
}

// Work-with W183: within sync alone, what was accepted is asked for again if a result contradicts
// it or is below 70%, and only once.
func TestSyncAsksWhetherItStillHolds(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "skills")
	addExec(t, n, "mawjs", `sh -c 'echo "SYNC-RESULT | from: mawjs"; echo "- [A1] SCORE: 0.0 | REJECT | EVIDENCE: notes.md:3"; echo "- [P1] SCORE: 1.0 | ACCEPT | EVIDENCE: x"'`)
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	do(t, n, skills.Open(""), skills.Agree("Panes are four", 0), mawjs.Accept("A1", ""))
	ask := control.SyncRequest{Acting: control.Acting{As: "skills"}, With: []string{"mawjs"}, Wait: within}
	if texts, _ := synced(t, n, ask); len(texts) != 2 || texts[1] != "result mawjs hey DEGRADED 2/2 validate A1" {
		t.Errorf("told: %q", texts)
	}
	if texts, _ := synced(t, n, ask); len(texts) != 2 || texts[1] != "result mawjs hey DEGRADED 2/2" {
		t.Errorf("told the second time: %q", texts)
	}
}

// An answer in prose is shown as prose, and the form is asked for once more. A command that fails
// is not waited for any longer (R65).
func TestSyncAnsweredInProse(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "skills")
	addExec(t, n, "mawjs", "echo I think so")
	addExec(t, n, "mawui", "sh -c 'exit 64'")
	for _, with := range []string{"mawjs", "mawui"} {
		s := working(n, "skills", with)
		do(t, n, s.Open(""), s.Agree("Panes are four", 0))
	}
	texts, events := synced(t, n, control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: within})
	slices.Sort(texts)
	if got := strings.Join(texts, "\n"); got != "failed mawui hey\nprose mawjs hey\nprose mawjs hey\nsent mawjs hey\nsent mawui hey" {
		t.Errorf("told:\n%s", got)
	}
	checks := 0
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActSyncCheck && slices.Contains(m.To, "mawjs") {
			checks++
		}
	}
	if checks != 2 {
		t.Errorf("%d checks were sent to who answers in prose, want 2: %+v", checks, events)
	}
}

// Work-with W14: for which agent a sync acts (R59), and what is refused.
func TestForWhomSyncActs(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	dir := t.TempDir()
	addInbox(t, n, "skills")
	addExamined(t, n, "mawjs", "", dir)
	skills := working(n, "skills", "mawjs")
	do(t, n, skills.Open(""))
	for _, c := range []struct {
		by   control.Caller
		r    control.SyncRequest
		want string
	}{
		{control.Itself(), control.SyncRequest{}, "nobody can tell for whom"},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{As: "nat"}}, "nat works on no topic with anybody"},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{As: "skills"}, Topic: "other"}, `no topic "other" of skills is open`},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{As: "skills"}, With: []string{"volt"}}, "skills works on no topic with volt"},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{As: "skills"}, Topic: "a/../|"}, "is no name of a topic"},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: -1}, "cannot wait"},
		{control.Itself(), control.SyncRequest{Acting: control.Acting{Dir: dir + "/sub"}, Wait: time.Nanosecond}, ""},
		{control.Caller{Kind: control.ByAgent, Name: "skills"}, control.SyncRequest{Wait: within}, ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		via := ""
		err := n.collab.Sync(ctx, c.by, c.r, func(e control.SyncEvent) error { via = e.Via; return nil })
		cancel()
		switch {
		case c.want == "" && (err != nil || via == ""):
			t.Errorf("%+v: %v", c.r, err)
		case c.want == "" && c.r.Dir != "" && via != "mawjs":
			t.Errorf("%s acted in the folder of mawjs", via)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
	// A check that a person had sent says so. A check that an agent sent by itself does not.
	var humans []string
	n.folded(func(s *fleet.State) {
		for it := range s.Ledger.Backward() {
			if it.Act == protocol.ActSyncCheck {
				humans = append(humans, it.From+" "+it.Human)
			}
		}
	})
	if got := strings.Join(humans, ", "); got != "skills , mawjs nat" {
		t.Errorf("checks: %s", got)
	}
}

// A failure with one partner is told, and the others are waited for. It prevents: the failure ends
// the sync of all.
func TestSyncGoesOnWhereOnePartnerFails(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	addExec(t, n, "mawui", `sh -c 'echo "SYNC-RESULT | from: mawui"; echo "- [P1] SCORE: 1.0 | ACCEPT | EVIDENCE: x"'`)
	for _, with := range []string{"mawjs", "mawui"} {
		do(t, n, working(n, "skills", with).Open(""))
	}
	var texts []string
	err := control.Sync.Ask(t.Context(), n, control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: within}, func(e control.SyncEvent) error {
		texts = append(texts, e.Kind+" "+e.With)
		if e.Kind != control.SyncSent || e.With != "mawjs" {
			return nil
		}
		do(t, n, working(n, "skills", "mawjs").Close("")) // so that the form cannot be asked for once more
		_, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "mawjs", To: []string{"skills"}, Re: e.Check, Body: "I think so"})
		return err
	})
	slices.Sort(texts)
	if got := strings.Join(texts, ", "); err != nil || got != "refused mawjs, result mawui, sent mawjs, sent mawui" {
		t.Errorf("told: %s; %v", got, err)
	}
}

// It prevents: a result to the first check is ignored once the form was asked for again.
func TestAResultAfterProseCounts(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	mawjs := working(n, "mawjs", "skills")
	do(t, n, working(n, "skills", "mawjs").Open(""))
	var texts []string
	var first string
	err := control.Sync.Ask(t.Context(), n, control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: within}, func(e control.SyncEvent) error {
		texts = append(texts, e.Kind)
		switch e.Kind {
		case control.SyncSent:
			first = e.Check
			_, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "mawjs", To: []string{"skills"}, Re: first, Body: "Let me look."})
			return err
		case control.SyncProse:
			p, err := protocol.ParsePath(first)
			if err == nil {
				do(t, n, mawjs.Answer(p, []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "P1"}, Score: protocol.NewScore(1), Decision: protocol.DecisionAccept, Evidence: "memory"}}, ""))
			}
			return err
		}
		return nil
	})
	if got := strings.Join(texts, ", "); err != nil || got != "sent, prose, result" {
		t.Errorf("told: %s; %v", got, err)
	}
}

// Work-with W183: at the end of a session it is asked whether what was agreed on another day still
// holds. What was agreed today is not asked about.
func TestForwardAsksWhetherItStillHolds(t *testing.T) {
	c := new(clock)
	n, _ := runNodeAt(t, initHome(t, nil), c.now)
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	do(t, n, skills.Open(""), skills.Agree("Panes are four", 0), mawjs.Accept("A1", ""))
	c.forward(48 * time.Hour)
	do(t, n, skills.Agree("Keys are four", 0), mawjs.Accept("A2", ""))
	forward := func() string {
		done, err := control.DoInTopic.Ask(t.Context(), n, control.TopicDeedRequest{
			Acting: control.Acting{As: "skills"}, With: "mawjs", Deed: protocol.ActCheckpoint, Text: "Both are settled.", Forward: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(done.Validate, ",")
	}
	if asked := forward(); asked != "A1" {
		t.Errorf("asked about %q, want A1", asked)
	}
	if asked := forward(); asked != "" {
		t.Errorf("asked again about %q", asked)
	}
}
