package sessions

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// world is a clock and the processes that run, as a test sets them.
type world struct {
	at   time.Time
	dead map[process.ID]bool
}

func newWorld() (*world, *Book) {
	w := &world{time.Unix(1_800_000_000, 0), map[process.ID]bool{}}
	return w, New(func() time.Time { return w.at }, func(id process.ID) bool { return !w.dead[id] })
}

func letter(suffix uint32) protocol.Path {
	return protocol.NewPath(protocol.SystemChannel("record"), time.Unix(1_700_000_000, 0).UTC(), suffix)
}

var (
	one   = Session{Process: process.ID{PID: 101, Start: 1}}
	other = Session{Process: process.ID{PID: 102, Start: 2}}
	named = Session{Name: "left pane"}
)

func (w *world) claim(s Session) Claim { return Claim{By: s, Until: w.at.Add(15 * time.Minute)} }

func wantTaken(t *testing.T, b *Book, p protocol.Path, by Session) {
	t.Helper()
	if c, taken := b.Taken("mawjs", p); !taken || c.By != by {
		t.Errorf("%s is taken: %v by %s, want it taken by %s", p, taken, c.By, by)
	}
}

func wantFree(t *testing.T, b *Book, p protocol.Path) {
	t.Helper()
	if c, taken := b.Taken("mawjs", p); taken {
		t.Errorf("%s is taken by %s, want it free", p, c.By)
	}
}

// A message that one session took is given to no other session, and not to this one again. In
// somebody else's mail, the same message is another matter.
func TestTakenOnce(t *testing.T) {
	w, b := newWorld()
	if !b.Take("mawjs", letter(1), w.claim(one)) {
		t.Fatal("what nobody has cannot be taken")
	}
	for _, s := range []Session{one, other, named} {
		if b.Take("mawjs", letter(1), w.claim(s)) {
			t.Errorf("%s is given what was given already", s)
		}
	}
	if !b.Take("volt", letter(1), w.claim(other)) || !b.Take("mawjs", letter(2), w.claim(other)) {
		t.Error("what somebody has taken keeps others from what is theirs")
	}
	b.GiveBack("mawjs", []protocol.Path{letter(1)})
	if !b.Take("mawjs", letter(1), w.claim(other)) {
		t.Error("what was given back cannot be taken")
	}
	wantTaken(t, b, letter(2), other)
}

// When the process of a session ends, what the session took is given back, and nothing else.
func TestSessionEnds(t *testing.T) {
	w, b := newWorld()
	b.Take("mawjs", letter(1), w.claim(one))
	b.Take("mawjs", letter(2), w.claim(other))
	b.Take("mawjs", letter(3), w.claim(named))
	w.dead[one.Process] = true
	freed := b.Freed()
	if !b.Sweep() {
		t.Error("nothing is left to watch, though two sessions have mail")
	}
	wantFree(t, b, letter(1))
	wantTaken(t, b, letter(2), other)
	wantTaken(t, b, letter(3), named)
	select {
	case <-freed:
	default:
		t.Error("who waits for mail is not told that some was given back")
	}
}

// A session that says that it is away gives back only its own agent's mail. It prevents: an agent
// gives back what another agent's session of the same name has taken, which is then worked on
// twice.
func TestAwayGivesBackOnesOwn(t *testing.T) {
	for _, s := range []Session{named, {}} {
		w, b := newWorld()
		b.Take("mawjs", letter(1), w.claim(s))
		b.Say("volt", s, control.AgentAway)
		wantTaken(t, b, letter(1), s)
		b.Say("mawjs", s, control.AgentAway)
		wantFree(t, b, letter(1))
	}
}

// An agent that makes up one session name after the other must not fill the memory of the node.
// What it said last counts.
func TestSessionsAreBounded(t *testing.T) {
	w, b := newWorld()
	for i := range mostSessions + 10 {
		w.at = w.at.Add(time.Second)
		b.Say("mawjs", Session{Name: fmt.Sprint(i)}, control.AgentIdle)
	}
	said := b.desks["mawjs"].said
	if _, last := said[Session{Name: fmt.Sprint(mostSessions + 9)}]; len(said) != mostSessions || !last {
		t.Errorf("%d sessions are known, the last one among them: %v", len(said), last)
	}
	for name, ok := range map[string]bool{
		"": true, "left pane": true, strings.Repeat("x", maxSessionName): true, strings.Repeat("x", maxSessionName+1): false, "a\x1b[2J": false, "a\nb": false, "\xff": false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A claim has an end, also the claim of a session whose end nobody sees.
func TestClaimHasAnEnd(t *testing.T) {
	w, b := newWorld()
	b.Take("mawjs", letter(1), w.claim(Session{}))
	w.at = w.at.Add(10 * time.Minute)
	b.Take("mawjs", letter(2), w.claim(Session{}))
	w.at = w.at.Add(5*time.Minute - time.Nanosecond)
	b.Sweep()
	wantTaken(t, b, letter(1), Session{})
	w.at = w.at.Add(time.Nanosecond)
	b.Sweep()
	wantFree(t, b, letter(1))
	wantTaken(t, b, letter(2), Session{})
	w.at = w.at.Add(time.Hour)
	if b.Sweep() {
		t.Error("something is left to watch, and nobody has anything")
	}
}

// Watching ends with its context, whether there is something to watch or not.
func TestWatchEnds(t *testing.T) {
	for _, has := range []bool{false, true} {
		w, b := newWorld()
		if has {
			b.Take("mawjs", letter(1), w.claim(one))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.Watch(ctx)
		}()
		cancel()
		<-ended
	}
}

// The session of a command is the program that started it. Shells that were started only for its
// command line do not count. It prevents: a claim is given back at once if a program runs its
// commands by a shell.
func TestRunsOneLine(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want bool
	}{
		{[]string{"/bin/sh", "-c", "parley inbox --claim"}, true},
		{[]string{"bash", "-lc", "parley inbox"}, true},
		{[]string{"-zsh", "--login", "-c", "parley inbox"}, true},
		{[]string{"bash"}, false},
		{[]string{"-bash"}, false},
		{[]string{"sh", "loop.sh", "-c"}, false},
		{[]string{"bash", "--norc", "loop.sh"}, false},
		{[]string{"sh", "-"}, false},
		{[]string{"python3", "-c", "import os"}, false},
		{nil, false},
	} {
		if got := runsOneLine(test.argv); got != test.want {
			t.Errorf("%q runs one line: %v, want %v", test.argv, got, test.want)
		}
	}
}

func TestOf(t *testing.T) {
	self, err := process.Find(os.Getpid())
	if err != nil {
		t.Skipf("processes cannot be seen here: %v", err)
	}
	if got := Of("left pane", self); got != named {
		t.Errorf("the session that is named is %s", got)
	}
	got := Of("", self)
	if got.Process == self {
		t.Error("the process that calls is its own session: it ends with the call")
	}
	if got.Process.PID > 0 && got.over(process.ID.Alive) {
		t.Errorf("the session %s of a test that runs is over", got)
	}
	self.Start++
	if got := Of("", self); got != (Session{}) {
		t.Errorf("the session of a process that has ended is %s", got)
	}
	if got := Of("", process.ID{}); got != (Session{}) {
		t.Errorf("the session of nobody is %s", got)
	}
}

// What a session whose process lives has said counts until it ends, however long it sits there. It
// prevents: a session that is open over night is not rung in the morning.
func TestOpenOverNight(t *testing.T) {
	w, b := newWorld()
	b.Say("mawjs", one, control.AgentIdle)
	b.Say("volt", named, control.AgentIdle)
	w.at = w.at.Add(saidLasts + time.Hour)
	b.Sweep()
	if state, _ := b.At("mawjs", time.Time{}); state != control.AgentIdle {
		t.Errorf("the one with a process is %s", state)
	}
	if state, _ := b.At("volt", time.Time{}); state != control.AgentAway {
		t.Errorf("the one whose end nobody sees is %s", state)
	}
}
