package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// configured changes a line of a home's config.yaml.
func configured(t *testing.T, home configs.Home, was, is string) {
	t.Helper()
	data, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte("\n"+was+"\n"), []byte("\n"+is+"\n"), 1)
	if bytes.Equal(data, changed) {
		t.Fatalf("config.yaml has no %q", was)
	}
	if err := os.WriteFile(home.Config(), changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// guarded runs a node with two agents. The command of "worker" notes each start in a file. "boss"
// asks for its mail.
func guarded(t *testing.T, home configs.Home, now func() time.Time) (n *Node, stop func(), ran string) {
	t.Helper()
	n, stop = runNodeAt(t, home, now)
	ran = filepath.Join(t.TempDir(), "ran")
	addExec(t, n, "worker", counting(ran, "cat"))
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "boss", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	return n, stop, ran
}

// asks has boss ask worker something in the conversation of a message.
func asks(t *testing.T, n control.Service, re protocol.Path, body string) protocol.Path {
	t.Helper()
	m, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "boss", To: []string{"worker"}, Re: re.String(), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return m.Path
}

// waits waits until so many messages of an agent wait for a budget and nothing is at work.
func waits(t *testing.T, n control.Service, agent string, over int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d messages of %s wait for a budget", over, agent), func() bool {
		all, err := control.Agents.Ask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if a.Name.String() == agent {
				return a.Over == over && a.Queued == over && a.Running == 0
			}
		}
		return false
	})
}

// told returns the messages of an act.
func told(t *testing.T, n control.Service, act protocol.Act) (all []control.Message) {
	t.Helper()
	for _, m := range everything(t, n) {
		if m.Act == act {
			all = append(all, m)
		}
	}
	return all
}

func warned(t *testing.T, n control.Service, of string) bool {
	t.Helper()
	s, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.Join(s.Warned, "\n"), of)
}

// Runs that agents cause are bounded for an hour. What is over the bound waits, also across a
// restart, until that time passes or somebody lets it go on. It is told once (R13).
func TestRunsThatAgentsCauseAreBounded(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	configured(t, home, "max_runs: 60", "max_runs: 2")
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	n, stop, ran := guarded(t, home, now)
	q := say(t, n, "boss", "begin")
	for i := range 4 {
		asks(t, n, q.Path, fmt.Sprint("part ", i))
	}
	waits(t, n, "worker", 2)
	if starts := startsIn(t, ran); starts != 2 {
		t.Errorf("it was started %d times, want 2", starts)
	}
	eventually(t, "it is told", func() bool { return len(told(t, n, protocol.ActRunHeld)) > 0 })
	held := told(t, n, protocol.ActRunHeld)
	if m := held[0]; m.From != "oracle-world" || strings.Join(m.To, " ") != "boss nat" && strings.Join(m.To, " ") != "boss nat@oracle-world" ||
		!strings.Contains(m.Body, "max_runs is 2") || !strings.Contains(m.Body, "parley agent resume worker") {
		t.Errorf("it is told by %+v", m)
	}
	if !warned(t, n, "max_runs is 2") {
		t.Error("status does not say it")
	}

	// A message that a human writes is not held back, and is not counted.
	answerTo(t, n, say(t, n, "worker", "mine").Path)
	answerTo(t, n, say(t, n, "worker", "mine too").Path)

	stop()
	n, _ = runNodeAt(t, home, now)
	waits(t, n, "worker", 2)
	if starts := startsIn(t, ran); starts != 4 {
		t.Errorf("it was started %d times after the restart, want 4", starts)
	}

	// Somebody lets the agent go on.
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "worker"}); err != nil {
		t.Fatal(err)
	}
	waits(t, n, "worker", 0)
	eventually(t, "what waited was run", func() bool { return startsIn(t, ran) == 6 })
	if held := told(t, n, protocol.ActRunHeld); len(held) != 1 {
		t.Errorf("it was told %d times, want once", len(held))
	}
	eventually(t, "status is content", func() bool { return !warned(t, n, "max_runs") })

	// The agent also goes on when an hour has passed.
	late := asks(t, n, q.Path, "late")
	waits(t, n, "worker", 1)
	ahead.Store(int64(time.Hour + time.Minute))
	if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{Agent: "worker"}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, late)
	waits(t, n, "worker", 0)
}

// A conversation counts all that has come of runs on another host, and not what is under way there.
// Two hosts may each begin the last run of a conversation, and neither begins one more (R13).
func TestAConversationOverTwoHostsIsCountedFromTheRecord(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	one := func(home configs.Home) configs.Home {
		fastFetch(t, home)
		changeConfig(t, home, func(c *configs.Config) { c.MaxConversationRuns = 1 })
		return home
	}
	hub, _ := runNode(t, one(initHome(t, func(o *homes.Options) { o.Remote, o.Listen = bareRemote(t), "127.0.0.1:0" })))
	white, _ := runNode(t, one(homeLinkedTo(t, hub, "white")))
	begun, goOn := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "go-on")
	for agent, n := range map[string]*Node{"here": hub, "there": white} {
		addExec(t, n, agent, counting(begun, "until test -e "+goOn+"; do sleep 0.01; done; cat"))
	}
	if _, err := control.AddAgent.Ask(t.Context(), hub, control.AddAgentRequest{Name: "boss", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both are known", func() bool {
		return hub.reading(func() bool { return len(hub.state.People.Group("there", "")) == 1 })
	})
	q := say(t, hub, "boss", "begin").Path
	ask := func(agent string) protocol.Path {
		t.Helper()
		m, err := control.Send.Ask(t.Context(), hub, control.SendRequest{As: "boss", To: []string{agent}, Re: q.String(), Body: "your part"})
		if err != nil {
			t.Fatal(err)
		}
		return m.Path
	}
	asked := []protocol.Path{ask("here"), ask("there")}
	eventually(t, "both run", func() bool { return startsIn(t, begun) == 2 })
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range asked {
		answerTo(t, hub, p)
		answerTo(t, white, p)
	}
	ask("here")
	ask("there")
	waits(t, hub, "here", 1)
	waits(t, white, "there", 1)
	if starts := startsIn(t, begun); starts != 2 {
		t.Errorf("%d runs were begun, want 2", starts)
	}
}

// A message that waits for an agent's budget goes on an hour after the first run that counts, also
// if the clock was put back meanwhile. When the last waiting message is canceled, status warns of
// it no more. It prevents: a message that waits for ever, and a warning that stays for ever.
func TestWhatWaitsForAnHourIsNotForgotten(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	configured(t, home, "max_runs: 60", "max_runs: 1")
	c := new(clock)
	n, _, _ := guarded(t, home, c.now)
	q := say(t, n, "boss", "begin").Path
	answerTo(t, n, asks(t, n, q, "the one that there may be"))
	canceled := asks(t, n, q, "never mind")
	waits(t, n, "worker", 1)
	if !warned(t, n, "max_runs is 1") {
		t.Error("status does not say it")
	}
	if _, err := control.Cancel.Ask(t.Context(), n, control.CancelRequest{Message: canceled.String()}); err != nil {
		t.Fatal(err)
	}
	if warned(t, n, "max_runs is 1") {
		t.Error("nothing waits, and status warns")
	}

	late := asks(t, n, q, "an hour later")
	waits(t, n, "worker", 1)
	c.forward(time.Hour)
	if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{Agent: "worker"}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, late)
	if warned(t, n, "max_runs is 1") {
		t.Error("it has gone on, and status warns")
	}
}

// soon waits until so many messages of an agent wait for what is under way.
func soon(t *testing.T, n *Node, agent protocol.Name, count int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d messages of %s wait for what is under way", count, agent), func() bool {
		jobs := queueOf(t, n, control.QueueRequest{Agent: agent.String()})
		return len(jobs) == count && jobs[0].State == control.JobWaiting && jobs[0].Why == control.WhyNothing
	})
}

// A message that waits for another agent's run in its conversation goes on when that run is over,
// or when a human speaks. It prevents: nobody tells its agent, so that it waits until the agent is
// asked something else.
func TestABudgetThatFreesUpWakesEveryAgent(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	configured(t, home, "max_conversation_runs: 30", "max_conversation_runs: 2")
	n, _, _ := guarded(t, home, nil)
	begun, goOn := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "go-on")
	addExec(t, n, "slow", counting(begun, "until test -e "+goOn+"; do sleep 0.01; done; cat"))
	talk := func(starts int) (re, slow, waiting protocol.Path) {
		t.Helper()
		re = say(t, n, "boss", "begin").Path
		answerTo(t, n, asks(t, n, re, "the first of two"))
		m, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "boss", To: []string{"slow"}, Re: re.String(), Body: "take your time"})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the second one runs", func() bool { return startsIn(t, begun) == starts })
		waiting = asks(t, n, re, "one too many")
		soon(t, n, "worker", 1)
		return re, m.Path, waiting
	}

	_, slow, waiting := talk(1)
	if _, err := control.Cancel.Ask(t.Context(), n, control.CancelRequest{Message: slow.String()}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, waiting) // a canceled message is not counted

	re, slow, waiting := talk(2)
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{Re: re.String(), Body: "go on"}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, waiting) // beside the run that is under way
	asks(t, n, re, "one too many again")
	soon(t, n, "worker", 1)
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, slow)
	waits(t, n, "worker", 1)
	if !warned(t, n, "max_conversation_runs is 2") {
		t.Error("status does not say it")
	}
}

// Agents go on in a conversation without a human only for so long. Then the human is told once, and
// lets them go on by a word (R13).
func TestConversationsOfAgentsWaitForAHuman(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	configured(t, home, "max_conversation_runs: 30", "max_conversation_runs: 3")
	n, stop, ran := guarded(t, home, nil)
	q := say(t, n, "boss", "begin")
	for i := range 5 {
		asks(t, n, q.Path, fmt.Sprint("part ", i))
	}
	waits(t, n, "worker", 2)
	eventually(t, "it is told", func() bool { return len(told(t, n, protocol.ActTalkHeld)) > 0 })
	if m := told(t, n, protocol.ActTalkHeld)[0]; !strings.Contains(m.Body, "max_conversation_runs is 3") || !strings.Contains(m.Body, "--conversation") {
		t.Errorf("it is told by %+v", m)
	}
	if !warned(t, n, "max_conversation_runs is 3") {
		t.Error("status does not say it")
	}

	// A message that waits says why, and can be canceled.
	canceled := asks(t, n, q.Path, "never mind")
	waits(t, n, "worker", 3)
	jobs, err := control.Queue.Ask(t.Context(), n, control.QueueRequest{Agent: "worker"})
	if err != nil || len(jobs) != 3 || jobs[0].Why != control.WhyBudget || jobs[2].Path != canceled {
		t.Errorf("the queue is %+v, %v", jobs, err)
	}
	if jobs[0].Budget != jobs[2].Budget || !strings.Contains(jobs[0].Budget, "max_conversation_runs is 3") {
		t.Errorf("the queue does not say why the budget holds: %+v", jobs)
	}
	if _, err := control.Cancel.Ask(t.Context(), n, control.CancelRequest{Message: canceled.String()}); err != nil {
		t.Error(err)
	}
	waits(t, n, "worker", 2)

	// Another conversation goes on.
	other := say(t, n, "boss", "something else")
	answerTo(t, n, asks(t, n, other.Path, "a part of it"))
	if starts := startsIn(t, ran); starts != 4 {
		t.Errorf("it was started %d times, want 4", starts)
	}

	stop()
	n, _ = runNode(t, home)
	waits(t, n, "worker", 2)
	if held := told(t, n, protocol.ActTalkHeld); len(held) != 1 {
		t.Errorf("it was told %d times, want once", len(held))
	}

	// A human lets the conversation go on. The count begins anew.
	r := control.PauseRequest{Name: "worker", Conversation: q.Path.String()}
	if a, err := control.PauseAgent.Ask(t.Context(), n, r); err != nil || a.Paused {
		t.Fatal(a, err)
	}
	waits(t, n, "worker", 0)
	eventually(t, "what waited was run", func() bool { return startsIn(t, ran) == 6 })
	if said := told(t, n, protocol.ActResume); len(said) != 1 || said[0].From != "nat" {
		t.Errorf("the human said %+v", said)
	}
	asks(t, n, q.Path, "the third")
	last := asks(t, n, q.Path, "the fourth")
	waits(t, n, "worker", 1)

	// A human who writes in the conversation does the same.
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{Re: q.Path.String(), Body: "go on"}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, last)
	waits(t, n, "worker", 0)
	if held := told(t, n, protocol.ActTalkHeld); len(held) != 2 {
		t.Errorf("it was told %d times, want twice: the count began anew", len(held))
	}

	for _, wrong := range []control.PauseRequest{
		{Name: "worker", Paused: true, Conversation: q.Path.String()},
		{Name: "worker", Conversation: "nothing-like-it"},
		{Name: "nobody", Conversation: q.Path.String()},
	} {
		if _, err := control.PauseAgent.Ask(t.Context(), n, wrong); err == nil {
			t.Errorf("%+v was done", wrong)
		}
	}
}

// A program of the format that answers each answer, and says neither by `re` nor by receipts what it
// answers, is held after max_conversation_runs. It prevents: a loop of runs without end, of which
// nobody is told.
func TestAnAnswererWithoutReceiptsIsHeld(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	fastFetch(t, home)
	configured(t, home, "max_conversation_runs: 30", "max_conversation_runs: 2")
	n, _ := runNode(t, home)
	ran := filepath.Join(t.TempDir(), "ran")
	addExec(t, n, "mawjs", counting(ran, "cat"))
	clone, sent := cloneOf(t, remote), 0
	answers := func() protocol.Path { // by the clock of its host, which is months behind
		t.Helper()
		p := plainMail(t, clone, claimsChannel, fmt.Sprintf("20260523T19%02d00000", sent), "bob", "mawjs", fmt.Sprint("and again ", sent))
		sent++
		push(t, clone)
		return awaitHas(t, n, p)
	}
	for range 3 { // the first was caused by nobody
		answerTo(t, n, answers())
	}
	held := answers()
	answers()
	waits(t, n, "mawjs", 2)
	if starts := startsIn(t, ran); starts != 3 {
		t.Errorf("it was started %d times, want 3", starts)
	}
	if !warned(t, n, "max_conversation_runs is 2") {
		t.Error("status does not say it")
	}
	eventually(t, "it is told", func() bool { return len(told(t, n, protocol.ActTalkHeld)) > 0 })
	if m := told(t, n, protocol.ActTalkHeld); len(m) != 1 || !strings.HasPrefix(strings.Join(m[0].To, " "), "bob nat") {
		t.Errorf("it is told by %+v", m)
	}
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "mawjs", Conversation: held.String()}); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, held)
}
