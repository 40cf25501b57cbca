package agents

import (
	"strings"
	"testing"
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

// The agent that has waited longest is next. It prevents: an agent that always has more messages
// keeps all others from their first.
func TestSlotsGoRound(t *testing.T) {
	s := NewSlots(1)
	busy, other, third := waker(), waker(), waker()
	if !s.Claim(busy) || s.Claim(busy) || s.Claim(other) || s.Claim(third) {
		t.Fatal("one command may run")
	}
	var order []string
	agents := map[string]chan struct{}{"busy": busy, "other": other, "third": third}
	running := busy
	for range 6 {
		s.Release(running)
		for name, agent := range agents {
			if woken(agent) != (s.line[0] == agent) {
				t.Fatalf("%s was woken out of its turn", name)
			}
		}
		for name, agent := range agents { // all ask, and only the next in line gets it
			if agent != s.line[0] && s.Claim(agent) {
				t.Fatalf("%s came before its turn", name)
			}
		}
		running = s.line[0]
		for name, agent := range agents {
			if agent == running {
				order = append(order, name)
			}
		}
		if !s.Claim(running) || s.Claim(running) {
			t.Fatal("the next in line gets one slot")
		}
	}
	if got := strings.Join(order, " "); got != "busy other third busy other third" {
		t.Errorf("the order was %s", got)
	}
}

// An agent that is paused or removed while it waits must not keep the slot for itself.
func TestSlotsWhoLeavesLetsTheNextIn(t *testing.T) {
	s := NewSlots(1)
	a, b, c := waker(), waker(), waker()
	s.Claim(a)
	s.Claim(b)
	s.Claim(c)
	s.Release(a)
	if !woken(b) || woken(c) {
		t.Error("b is next")
	}
	s.Leave(b)
	if !woken(c) || !s.Claim(c) {
		t.Error("c is next once b has left")
	}
	s.Leave(b)
	if used, waiting, most := s.Usage(); used != 1 || waiting != 0 || most != 1 {
		t.Errorf("%d run, %d wait, %d may", used, waiting, most)
	}
}

// A slot that is lent counts for another agent only while its own command runs, and once for each
// command.
func TestSlotsLend(t *testing.T) {
	s := NewSlots(1)
	asking, asked, third := waker(), waker(), waker()
	s.Claim(asking)
	s.Claim(asked)
	back, more := s.Lend(asking), s.Lend(asking)
	if !woken(asked) || !s.Claim(asked) || s.Claim(third) {
		t.Error("one slot was lent, to who waits longest")
	}
	more()
	back()
	if s.Claim(third) {
		t.Error("too many run: no further one starts")
	}
	s.Release(asked)
	if s.Claim(third) {
		t.Error("the slot was taken back")
	}
	s.Lend(asking)
	if !s.Claim(third) {
		t.Error("it is lent once more")
	}
	s.Release(asking)
	s.Release(third)
	if !s.Claim(third) || s.Claim(asked) {
		t.Error("what an agent lends that runs nothing counts for nothing")
	}
}
