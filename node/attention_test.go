package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// wakes adds an agent with an inbox. Its wake command appends what it is given to a file, and then
// a line with three dashes. The command ends once the file "go" is there, and fails if the file
// "fail" is.
func wakes(t *testing.T, n control.Service, quiet ...string) (given func() string, dir string) {
	t.Helper()
	dir = t.TempDir()
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{
		Name: "mawjs", Inbox: true, Settings: control.Given{
			"dir": {dir}, "quiet": quiet, "wake": {`sh -c "cat >>given; echo --- >>given; until [ -e go ]; do sleep 0.01; done; [ ! -e fail ]"`},
		},
	}); err != nil {
		t.Fatal(err)
	}
	return func() string {
		data, err := os.ReadFile(filepath.Join(dir, "given"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}, dir
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// woken is how often the wake command has run and read what it was given.
func woken(given string) int { return strings.Count(given, "---\n") }

func wantDigest(t *testing.T, given string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(given, part) {
			t.Errorf("the digest lacks %q:\n%s", part, given)
		}
	}
}

// It prevents: adding an agent with a wake command runs that command, which may cost money, for all
// the mail that the name has ever got (R8).
func TestOldMailWakesNobody(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	old, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"mawjs"}, Body: "from before", Anyway: true})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is recorded", func() bool { return n.record.Status().Unrecorded == 0 })
	given, dir := wakes(t, n)
	touch(t, dir, "go")
	fresh := say(t, n, "mawjs", "fresh")
	wanted := func(times int) {
		t.Helper()
		eventually(t, "it is woken", func() bool { return woken(given()) == times })
		if strings.Contains(given(), old.Path.String()) || strings.Count(given(), "1 new in the inbox") != times {
			t.Errorf("the digests are\n%s", given())
		}
	}
	wanted(1)
	wantDigest(t, given(), fresh.Path.String())
	if mail, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "mawjs"}); err != nil || len(mail) != 2 {
		t.Errorf("its inbox has %d messages: %v", len(mail), err)
	}
	stop()
	_, _ = runNode(t, home) // which tells again what waits, and nothing older
	wanted(2)
}

// An agent that is away is woken at once. What comes while its wake command runs is one more digest
// at the end. Messages that the agent was told of wake it no more.
func TestWakeAtOnceThenADigest(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	given, dir := wakes(t, n)
	first := say(t, n, "mawjs", "first\nand more")
	eventually(t, "it is woken", func() bool { return woken(given()) == 1 })
	wantDigest(t, given(), "1 new in the inbox of mawjs, from nat.", first.Path.String()+" from nat: \"first\"\n", "parley inbox")
	if strings.Contains(given(), "and more") {
		t.Error("the digest holds more than the first line")
	}
	wantPresence(t, n, "mawjs", control.AgentRunning)
	second, third := say(t, n, "mawjs", "second"), say(t, n, "mawjs", "third")
	touch(t, dir, "go")
	eventually(t, "it is woken again", func() bool { return woken(given()) == 2 })
	digest := given()[strings.Index(given(), "---\n"):]
	wantDigest(t, digest, "2 new in the inbox", second.Path.String(), third.Path.String())
	if strings.Contains(digest, first.Path.String()) {
		t.Error("it was told of the first message again")
	}
	eventually(t, "it sleeps", func() bool { return presenceOf(t, n, "mawjs") == control.AgentAway })
	fourth := say(t, n, "mawjs", "fourth")
	eventually(t, "it is woken for what is new", func() bool { return woken(given()) == 3 })
	wantDigest(t, given(), fourth.Path.String())
}

// A program that works, or that waits for a human, is left alone. At the end it is given one
// digest.
func TestNotWokenAtWork(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	given, dir := wakes(t, n)
	touch(t, dir, "go")
	isAt(t, n, "left", control.AgentRunning)
	say(t, n, "mawjs", "first")
	isAt(t, n, "left", control.AgentWaiting)
	say(t, n, "mawjs", "second")
	isAt(t, n, "right", control.AgentIdle) // the other session still waits
	addExec(t, n, "echo", "cat")
	answerTo(t, n, say(t, n, "echo", "hi").Path) // runs of other agents are looked at too
	if got := woken(given()); got != 0 {
		t.Fatalf("it was woken %d times at work", got)
	}
	isAt(t, n, "left", control.AgentIdle)
	eventually(t, "it is woken", func() bool { return woken(given()) == 1 })
	wantDigest(t, given(), "2 new in the inbox", ": \"first", ": \"second")
}

// If a wake command fails, status says so, and the command is tried again after a pause.
func TestWakeFails(t *testing.T) {
	c := new(clock)
	n, _ := runNodeAt(t, initHome(t, nil), c.now)
	given, dir := wakes(t, n)
	touch(t, dir, "go")
	touch(t, dir, "fail")
	say(t, n, "mawjs", "first")
	eventually(t, "status says so", func() bool { return strings.Contains(strings.Join(n.warnings(), "\n"), "cannot wake mawjs: ") })
	say(t, n, "mawjs", "second")
	answerless := woken(given())
	if answerless != 1 {
		t.Errorf("it was tried %d times within the pause", answerless)
	}
	if err := os.Remove(filepath.Join(dir, "fail")); err != nil {
		t.Fatal(err)
	}
	c.forward(10 * time.Second)
	n.serving.Look()
	eventually(t, "it is woken", func() bool { return woken(given()) == 2 })
	wantDigest(t, given(), "2 new in the inbox")
	eventually(t, "status says it no more", func() bool { return !strings.Contains(strings.Join(n.warnings(), "\n"), "cannot wake") })
}

// quietNow are quiet hours that began some minutes ago and last an hour, by the node's clock.
func quietNow(now time.Time) string {
	minute := func(at time.Time) int { return at.Hour()*60 + at.Minute() }
	now = now.Local()
	return configs.QuietSpan{From: minute(now.Add(-10 * time.Minute)), To: minute(now.Add(50 * time.Minute))}.String()
}

// In quiet hours nobody is woken, and no command is run for what agents cause. A command is run for
// what a human writes.
func TestQuietHoursHold(t *testing.T) {
	c := new(clock)
	n, _ := runNodeAt(t, initHome(t, nil), c.now)
	quiet := quietNow(c.now())
	given, dir := wakes(t, n, quiet)
	touch(t, dir, "go")
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "echo", Exec: "cat", Settings: control.Given{"quiet": {quiet}}}); err != nil {
		t.Fatal(err)
	}
	cause := say(t, n, "mawjs", "first")
	byAgent, err := n.talk.Outbox.Send(t.Context(), control.Caller{Kind: control.ByAgent, Name: "mawjs", Because: cause.Path}, control.SendRequest{To: []string{"echo"}, Body: "by an agent"})
	if err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, say(t, n, "echo", "by a human").Path)
	served, err := control.Agents.Ask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range served {
		if a.QuietUntil.IsZero() {
			t.Errorf("%s is not shown to be in quiet hours", a.Name)
		}
	}
	if got := served[0]; got.Name != "echo" || got.Queued != 1 {
		t.Errorf("%s has %d messages waiting, want 1", got.Name, got.Queued)
	}
	if got := woken(given()); got != 0 {
		t.Errorf("mawjs was woken %d times in quiet hours", got)
	}
	c.forward(time.Hour)
	n.serving.Nudge()
	n.serving.Look()
	answerTo(t, n, byAgent.Path)
	eventually(t, "it is woken", func() bool { return woken(given()) > 0 })
	wantDigest(t, given(), ": \"first")
}

// At the end of its work, an agent without a wake command is told once what came meanwhile.
func TestDigestAtTheEndOfWork(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "mawjs")
	say(t, n, "mawjs", "before")
	at := func(state control.AgentState) string {
		t.Helper()
		p, err := control.SetPresence.Ask(t.Context(), n, control.PresenceRequest{As: "mawjs", State: state, Session: "left"})
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	if got := at(control.AgentIdle); got != "" {
		t.Errorf("without work before it is told:\n%s", got)
	}
	at(control.AgentRunning)
	say(t, n, "mawjs", "first")
	at(control.AgentWaiting)
	say(t, n, "mawjs", "second")
	digest := at(control.AgentIdle)
	wantDigest(t, digest, "2 new in the inbox", ": \"first", ": \"second")
	if strings.Contains(digest, "before") {
		t.Errorf("it is told what waited before:\n%s", digest)
	}
	at(control.AgentRunning)
	if got := at(control.AgentIdle); got != "" {
		t.Errorf("it is told again:\n%s", got)
	}
}

// Agents that have written to each other for too long wake nobody by it. The next digest has these
// messages. It prevents: two agents that wake each other for ever.
func TestWakesEnd(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	given, dir := wakes(t, n)
	touch(t, dir, "go")
	addInbox(t, n, "volt")
	cause := say(t, n, "volt", "begin")
	from := []string{"volt", "mawjs"}
	isAt(t, n, "left", control.AgentRunning)
	for hop := range n.cfg.MaxHops + 2 {
		m, err := n.talk.Outbox.Send(t.Context(), control.Caller{Kind: control.ByAgent, Name: "volt", Because: cause.Path},
			control.SendRequest{To: []string{from[(hop+1)%2]}, Body: "on and on", As: from[hop%2]})
		if err != nil {
			t.Fatal(err)
		}
		cause = m
	}
	if cause.Path.IsZero() {
		t.Fatal("nothing was sent")
	}
	if _, err := control.ReadAll.Ask(t.Context(), n, control.ReadAllRequest{As: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	late, err := n.talk.Outbox.Send(t.Context(), control.Caller{Kind: control.ByAgent, Name: "volt", Because: cause.Path}, control.SendRequest{To: []string{"mawjs"}, Body: "too late"})
	if err != nil {
		t.Fatal(err)
	}
	isAt(t, n, "left", control.AgentIdle)
	addExec(t, n, "echo", "cat")
	answerTo(t, n, say(t, n, "echo", "hi").Path)
	if got := woken(given()); got != 0 {
		t.Errorf("it was woken for %s", late.Path)
	}
	say(t, n, "mawjs", "a human speaks")
	eventually(t, "it is woken", func() bool { return woken(given()) == 1 })
	wantDigest(t, given(), "2 new in the inbox", ": \"too late", ": \"a human speaks")
}
