package agents

import (
	"strings"
	"testing"
)

// sits returns an agent as slots know it, and a function that takes the token with which the agent
// was woken.
func sits(s *Slots) (claimant *Claimant, woken func() bool) {
	wake := make(chan struct{}, 1)
	return s.Join(wake), func() bool {
		select {
		case <-wake:
			return true
		default:
			return false
		}
	}
}

// The agent that has waited longest is next. It prevents: an agent that always has more messages
// keeps all others from their first.
func TestSlotsGoRound(t *testing.T) {
	s := NewSlots(1)
	busy, busyWoken := sits(s)
	other, otherWoken := sits(s)
	third, thirdWoken := sits(s)
	woken := map[*Claimant]func() bool{busy: busyWoken, other: otherWoken, third: thirdWoken}
	if !s.Claim(busy) || s.Claim(busy) || s.Claim(other) || s.Claim(third) {
		t.Fatal("one command may run")
	}
	var order []string
	agents := map[string]*Claimant{"busy": busy, "other": other, "third": third}
	running := busy
	for range 6 {
		s.Release(running)
		for name, agent := range agents {
			if woken[agent]() != (s.line[0] == agent) {
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
	a, _ := sits(s)
	b, bWoken := sits(s)
	c, cWoken := sits(s)
	s.Claim(a)
	s.Claim(b)
	s.Claim(c)
	s.Release(a)
	if !bWoken() || cWoken() {
		t.Error("b is next")
	}
	s.Leave(b)
	if !cWoken() || !s.Claim(c) {
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
	asking, _ := sits(s)
	asked, woken := sits(s)
	third, _ := sits(s)
	s.Claim(asking)
	s.Claim(asked)
	back, more := s.Lend(asking), s.Lend(asking)
	if !woken() || !s.Claim(asked) || s.Claim(third) {
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

// It prevents: an agent with many or long runs has all slots, and the first message of another agent
// waits for one of them to end.
func TestSlotsKeepOneForEachAgent(t *testing.T) {
	for _, most := range []int{2, 3, 8, 64} {
		for agents := 2; agents <= most; agents++ {
			s := NewSlots(most)
			hog, woken := sits(s)
			others := []*Claimant{}
			for range agents - 1 {
				claimant, _ := sits(s)
				others = append(others, claimant)
			}
			for range 2 * most { // it stands first in the line from then on
				s.Claim(hog)
			}
			if used, _, _ := s.Usage(); used != most-len(others) {
				t.Errorf("of %d slots one of %d agents has %d", most, agents, used)
			}
			for _, claimant := range others {
				if !s.Claim(claimant) {
					t.Errorf("of %d slots none is left for one of %d agents", most, agents)
				}
			}
			woken()
			s.Release(others[0])
			if woken() || s.Claim(hog) {
				t.Errorf("of %d slots one of %d agents took another's", most, agents)
			}
			s.End(others[0])
			if !woken() || !s.Claim(hog) {
				t.Errorf("of %d slots one is kept for an agent that is gone", most)
			}
		}
	}
}

// With more agents than slots, one agent still never has all of them.
func TestSlotsOfManyAgents(t *testing.T) {
	s := NewSlots(8)
	hog, _ := sits(s)
	var others []*Claimant
	for range 20 {
		claimant, _ := sits(s)
		others = append(others, claimant)
	}
	for range 10 {
		s.Claim(hog)
	}
	if used, _, _ := s.Usage(); used != 4 {
		t.Errorf("one agent has %d of 8", used)
	}
	for i, claimant := range others[:5] {
		if got := s.Claim(claimant); got != (i < 4) {
			t.Errorf("the agent %d gets one: %v", i, got)
		}
	}
	s.End(hog)
	for range 4 {
		s.Release(hog)
	}
	if used, _, _ := s.Usage(); used != 4 || len(s.claimants) != 20 {
		t.Errorf("%d run, of %d agents", used, len(s.claimants))
	}
}
