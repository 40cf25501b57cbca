package node

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// mostTraced is for how many messages a trace tells the steps.
const mostTraced = 4 * protocol.MaxTraced

func traceOf(t *testing.T, n control.Service, r control.TraceRequest) []control.TraceStep {
	t.Helper()
	steps, err := control.Trace.Ask(t.Context(), n, r)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// linesOfTrace returns a trace as a person would tell it, without times and paths.
func linesOfTrace(steps []control.TraceStep) (lines []string) {
	for _, s := range steps {
		line := fmt.Sprintf("%s%s %s", strings.Repeat("  ", s.Depth), s.Host, s.Step)
		for _, word := range []string{s.Agent, s.By, s.From, strings.Join(s.To, "+"), s.Failure, s.Text} {
			if word != "" {
				line += " " + word
			}
		}
		if s.Attempt > 0 {
			line += fmt.Sprintf(" #%d", s.Attempt)
		}
		lines = append(lines, line)
	}
	return lines
}

// The trace says what each host knows, in one order, and what was sent because of it. It prevents:
// a person who asks why there is no answer has to look into the logs of two machines.
func TestTraceAcrossTheFleet(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	hub, _ := aHub(t)
	home := homeLinkedTo(t, hub, "white")
	white, stopWhite := trying(t, home)
	starts := filepath.Join(t.TempDir(), "starts")
	addExec(t, white, "mawjs", counting(starts, `test $n -lt 2 && exit 3; echo done`))
	addExec(t, hub, "volt", "cat")
	for n, other := range map[*Node]string{hub: "white", white: "oracle-world"} {
		seenAs(t, n, other, control.HostLive)
	}
	eventually(t, "the agent can be written to", func() bool {
		_, err := control.FindTalk.Ask(t.Context(), hub, control.TalkRequest{To: "mawjs"})
		return err == nil
	})
	setPaused(t, white, "mawjs", true)
	m := say(t, hub, "mawjs", "do it")
	var last []string
	has := func(n *Node, lines ...string) func() bool {
		return func() bool {
			all := linesOfTrace(traceOf(t, n, control.TraceRequest{Path: m.Path.String()}))
			last = all
			return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(all, line) })
		}
	}
	eventually(t, "the message waits on white", has(hub, "white waits mawjs paused"))
	setPaused(t, white, "mawjs", false)
	answerTo(t, hub, m.Path)
	// This is what the agent's run would have sent, by its token.
	send := control.SendRequest{To: []string{"volt"}, Body: "which one?"}
	if err := white.verbs.AnswerTo(t.Context(), control.Caller{Kind: control.ByAgent, Name: "mawjs", Because: m.Path}, control.Send.VerbSpec, send,
		func(any) error { return nil }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"oracle-world written nat mawjs",
		"oracle-world stored", "oracle-world heard white", "white came bus", "oracle-world recorded", "oracle-world pushed",
		"white queued mawjs", "white started mawjs #1", "white ended mawjs exit-status #1", "white again mawjs #1",
		"white started mawjs #2", "white ended mawjs #2", "white read mawjs", "white answered mawjs",
		"  white sent mawjs volt", "  oracle-world came bus", "  oracle-world queued volt", "  oracle-world started volt #1", "  oracle-world ended volt #1",
		"  oracle-world answered volt", "  oracle-world read volt",
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("told last: %q", last)
		}
	})
	eventually(t, "all is told, on either host", func() bool { return has(hub, want...)() && has(white, want...)() })
	steps := traceOf(t, hub, control.TraceRequest{Path: m.Path.String()})
	if steps[0].Step != control.TraceWritten || steps[0].Path != m.Path {
		t.Errorf("the first step is %+v, want that it was written", steps[0])
	}
	var order []string
	for _, line := range linesOfTrace(steps) {
		if strings.HasPrefix(line, "white ") && !strings.Contains(line, "recorded") && !strings.Contains(line, "pushed") {
			order = append(order, line)
		}
	}
	inOrder := []string{
		"white came bus", "white queued mawjs", "white started mawjs #1", "white ended mawjs exit-status #1", "white again mawjs #1",
		"white started mawjs #2", "white ended mawjs #2", "white read mawjs", "white answered mawjs",
	}
	if diff := cmp.Diff(inOrder, order); diff != "" {
		t.Errorf("on white (-want +got):\n%s", diff)
	}
	if here := linesOfTrace(traceOf(t, hub, control.TraceRequest{Path: m.Path.String(), Here: true})); slices.Contains(here, "white queued mawjs") || !slices.Contains(here, "white read mawjs") {
		t.Errorf("without asking others: %q, want what the record says", here)
	}

	// A host of an older version does not know the question, and a host that left cannot be asked.
	// The trace says so, and tells the rest all the same.
	white.currentBus().Serve(protocol.AskTrace, nil)
	silent := func(step string) control.TraceStep {
		steps := traceOf(t, hub, control.TraceRequest{Path: m.Path.String()})
		i := slices.IndexFunc(steps, func(s control.TraceStep) bool { return s.Host == "white" && s.Step == step })
		if i < 0 {
			return control.TraceStep{}
		}
		return steps[i]
	}
	if s := silent(control.TraceNoAnswer); !strings.Contains(s.Text, "does not know the question") {
		t.Errorf("of an older version: %+v", s)
	}
	white.currentBus().Serve(protocol.AskTrace, func(context.Context, protocol.Name, []byte) ([]byte, error) { return []byte("[{}]"), nil })
	if s := silent(control.TraceNoAnswer); !strings.Contains(s.Text, "cannot read what a host knows of messages") {
		t.Errorf("an answer without sense: %+v", s)
	}
	stopWhite()
	seenAs(t, hub, "white", control.HostAway)
	if s := silent(control.TraceNotAsked); s.By != string(control.HostAway) {
		t.Errorf("away: %+v", s)
	}

	// Attempts outlast the node that made them.
	white, _ = trying(t, home)
	eventually(t, "white tells it after its restart", func() bool {
		return slices.Contains(linesOfTrace(traceOf(t, white, control.TraceRequest{Path: m.Path.String(), Here: true})), "white ended mawjs exit-status #1")
	})
}

// No agent was run for the message, on a host that is alone.
func TestTraceOfWhatWasNeverRun(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Second)
	m := say(t, n, "mawjs", "hello")
	if _, err := control.Read.Ask(t.Context(), n, control.ReadRequest{As: "mawjs", Path: m.Path.String()}); err != nil {
		t.Fatal(err)
	}
	want := []string{"oracle-world read mawjs", "oracle-world recorded", "oracle-world stored", "oracle-world written nat mawjs"}
	eventually(t, "it is recorded, and noted when", func() bool {
		steps := traceOf(t, n, control.TraceRequest{Path: m.Path.Suffix()})
		untimed := slices.ContainsFunc(steps, func(s control.TraceStep) bool { return s.Time.IsZero() })
		return !untimed && slices.Equal(slices.Sorted(slices.Values(linesOfTrace(steps))), want)
	})
	for _, s := range traceOf(t, n, control.TraceRequest{Path: m.Path.String()}) {
		if s.Time.Before(began) || s.Time.After(time.Now().Add(time.Second)) || s.Path != m.Path {
			t.Errorf("%+v, want a step of the message and of now", s)
		}
	}
	_, err := control.Trace.Ask(t.Context(), n, control.TraceRequest{Path: "00000000"})
	if err == nil || !strings.Contains(err.Error(), "there is no message") {
		t.Errorf("of no message: %v", err)
	}
}

// sendAs sends a message as an agent that runs because of another message.
func sendAs(t *testing.T, n *Node, agent protocol.Name, because protocol.Path, to string) (m control.Message) {
	t.Helper()
	by := control.Caller{Kind: control.ByAgent, Name: agent, Because: because}
	if err := n.verbs.AnswerTo(t.Context(), by, control.Send.VerbSpec, control.SendRequest{To: []string{to}, Body: "?"}, func(answer any) error {
		m = answer.(control.Message)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

// more says how many messages a trace leaves out below a message.
func more(steps []control.TraceStep, p protocol.Path) string {
	for _, s := range steps {
		if s.Step == control.TraceMore && s.Path == p {
			return s.Text
		}
	}
	return ""
}

// An agent can send much because of a message. Each question to a host is bounded.
func TestTraceOfAnAgentThatWritesToMany(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "mawjs", "cat")
	m := say(t, n, "mawjs", "ask everybody")
	for range mostTraced + 4 {
		sendAs(t, n, "mawjs", m.Path, "nat")
	}
	steps := traceOf(t, n, control.TraceRequest{Path: m.Path.String()})
	sent := 0
	for _, s := range steps {
		if s.Step == control.TraceSent {
			sent++
		}
	}
	if left := more(steps, m.Path); sent != mostTraced-1 || left != "5" {
		t.Errorf("%d messages that it sent, and %q more; want %d and 5", sent, left, mostTraced-1)
	}
}

// Two agents write to each other. It prevents: the steps of all that followed tear the steps of the
// message itself apart, so that times run backwards; and of what was left out only the first
// message counts.
func TestTraceOfALongConversation(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	for _, agent := range []string{"ping", "pong"} {
		addExec(t, n, agent, "cat")
		setPaused(t, n, agent, true)
	}
	m := say(t, n, "ping", "begin")
	last, deepest := m.Path, m.Path
	for i := range mostTraced + 9 {
		from, to := protocol.Name("ping"), "pong"
		if i%2 == 1 {
			from, to = "pong", "ping"
		}
		last = sendAs(t, n, from, last, to).Path
		if i == mostTraced-2 {
			deepest = last
		}
	}
	steps := traceOf(t, n, control.TraceRequest{Path: m.Path.String()})
	depth, at := 0, time.Time{}
	for i, s := range steps {
		if s.Depth < depth {
			t.Fatalf("step %d is of depth %d, behind one of %d: %q", i, s.Depth, depth, linesOfTrace(steps))
		}
		if s.Depth > depth {
			depth, at = s.Depth, time.Time{}
		}
		if !s.Time.IsZero() && s.Step != control.TraceWritten && s.Step != control.TraceSent {
			if s.Time.Before(at) {
				t.Errorf("step %d, %s, was before the one above it", i, s.Step)
			}
			at = s.Time
		}
	}
	if left := more(steps, deepest); left != "10" || depth != mostTraced-1 {
		t.Errorf("%q more below the last of depth %d, want 10 below %d", left, depth, mostTraced-1)
	}
}

// A trace, a queue and a command that waits call a failure by the same words. The test looks
// whether a new failure has words too.
func TestEveryFailureHasWords(t *testing.T) {
	for f := door.NotStarted; f <= door.Limited; f++ {
		if text := control.FailureText(f.String(), 3); text == f.String() {
			t.Errorf("%s has no words in control.FailureText", f)
		}
	}
	if next := door.Limited + 1; !strings.HasPrefix(next.String(), "failure(") {
		t.Errorf("%s is not looked at here", next)
	}
}
