package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// waker is an agent as slots know it.
func waker() chan struct{} { return make(chan struct{}, 1) }

// woken takes the token that an agent was woken with.
func woken(agent chan struct{}) bool {
	select {
	case <-agent:
		return true
	default:
		return false
	}
}

// Whoever has waited longest is next: an agent that always has more messages had kept
// all others from their first.
func TestSlotsGoRound(t *testing.T) {
	s := newSlots(1)
	busy, other, third := waker(), waker(), waker()
	if !s.claim(busy) || s.claim(busy) || s.claim(other) || s.claim(third) {
		t.Fatal("one command may run")
	}
	var order []string
	agents := map[string]chan struct{}{"busy": busy, "other": other, "third": third}
	running := busy
	for range 6 {
		s.release(running)
		for name, agent := range agents {
			if woken(agent) != (s.line[0] == agent) {
				t.Fatalf("%s was woken out of its turn", name)
			}
		}
		for name, agent := range agents { // whoever asks first, only the next in line gets it
			if agent != s.line[0] && s.claim(agent) {
				t.Fatalf("%s came before its turn", name)
			}
		}
		running = s.line[0]
		for name, agent := range agents {
			if agent == running {
				order = append(order, name)
			}
		}
		if !s.claim(running) || s.claim(running) {
			t.Fatal("the next in line gets one slot")
		}
	}
	if got := strings.Join(order, " "); got != "busy other third busy other third" {
		t.Errorf("the order was %s", got)
	}
}

// An agent that is paused or removed while it waits must not keep the slot for itself.
func TestSlotsWhoLeavesLetsTheNextIn(t *testing.T) {
	s := newSlots(1)
	a, b, c := waker(), waker(), waker()
	s.claim(a)
	s.claim(b)
	s.claim(c)
	s.release(a)
	if !woken(b) || woken(c) {
		t.Error("b is next")
	}
	s.leave(b)
	if !woken(c) || !s.claim(c) {
		t.Error("c is next once b has left")
	}
	s.leave(b)
	if used, waiting, most := s.usage(); used != 1 || waiting != 0 || most != 1 {
		t.Errorf("%d run, %d wait, %d may", used, waiting, most)
	}
}

// A slot that is lent counts for another agent only as long as its own command runs, and
// once for each command.
func TestSlotsLend(t *testing.T) {
	s := newSlots(1)
	asking, asked, third := waker(), waker(), waker()
	s.claim(asking)
	s.claim(asked)
	back, more := s.lend(asking), s.lend(asking)
	if !woken(asked) || !s.claim(asked) || s.claim(third) {
		t.Error("one slot was lent, to who waits longest")
	}
	more()
	back()
	if s.claim(third) {
		t.Error("too many run: no further one starts")
	}
	s.release(asked)
	if s.claim(third) {
		t.Error("the slot was taken back")
	}
	s.lend(asking)
	if !s.claim(third) {
		t.Error("it is lent once more")
	}
	s.release(asking)
	s.release(third)
	if !s.claim(third) || s.claim(asked) {
		t.Error("what an agent lends that runs nothing counts for nothing")
	}
}

// One message to many agents had started as many commands at once.
func TestNoMoreCommandsThanAllowedRunAtOnce(t *testing.T) {
	home := initHome(t, nil)
	config, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	config = []byte(strings.Replace(string(config), "max_commands: auto", "max_commands: 2", 1))
	if err := os.WriteFile(home.Config(), config, 0o600); err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, home)
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		addExec(t, n, name, "sh -c 'touch "+dir+"/ran-"+name+"; until test -e "+gate+"; do sleep 0.01; done; echo done'")
	}
	ran := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "ran-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	to := func() []string { return slices.Clone(names) }
	m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: to(), Body: "work"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "two run and the others wait for their turn", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, a := range s.Agents {
			if a.Held {
				held++
			}
		}
		return ran() == 2 && s.Commands == (control.CommandStatus{Running: 2, Most: 2, Waiting: 3}) && held == 3
	})
	note, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: to(), Act: "note", Body: "for your eyes"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all have answered, and have read the note", func() bool {
		answers, err := n.Replies(t.Context(), control.ThreadRequest{Path: m.Path.String()})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := n.Show(t.Context(), control.ShowRequest{Path: note.Path.String()})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, a := range shown.Addressees {
			if a.Stage == protocol.StageRead {
				read++
			}
		}
		return len(answers) == len(names) && read == len(names)
	})
	if used, waiting, _ := n.slots.usage(); used != 0 || waiting != 0 {
		t.Errorf("%d commands run, %d agents wait", used, waiting)
	}
}
