package seats

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// declare has white tell the fleet of its agents.
func (f *fleetOf) declare(agents ...protocol.Name) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err := f.pair["white"].PublicKey()
	if err != nil {
		f.Fatal(err)
	}
	state := protocol.HostState{Host: "white", Key: key, Humans: []protocol.Name{"nat"}}
	for _, a := range agents {
		state.Agents = append(state.Agents, protocol.HostedAgent{Name: a, Tiers: []protocol.Tier{{Name: protocol.SessionTier, Count: 1}}})
	}
	f.write("white", protocol.SystemChannel(testRecord), protocol.Message{
		From: "white", To: []protocol.Address{{Name: "white"}}, Act: protocol.ActHostAgents, Type: protocol.TypeText, Body: protocol.FormatHostWord(protocol.ActHostAgents, state),
	})
}

// writes has the session write to another one, as its model would because of what it was told.
func (s *session) writes(to protocol.Name, text string) {
	s.Helper()
	by := s.by()
	c := fleet.Called{Command: fleet.Say{As: fleet.Who{Name: by.Name.String(), Host: "white"}, To: []string{to.String()}, Body: text, ByAgent: true}, Because: by.Because}
	if _, err := s.store(s.Context(), c, protocol.Path{}); err != nil {
		s.Fatal(err)
	}
}

// turn is one turn of an idle session that the bell begins, in which it writes to another one. It
// reports whether the bell rang.
func (s *session) turn(to protocol.Name) bool {
	s.Helper()
	before := len(s.program.rung())
	s.look(true)
	if len(s.program.rung()) == before {
		return false
	}
	for _, seat := range s.book.held() {
		if seat.Name == s.by().Name && seat.Rung != nil {
			s.request.Bell = seat.Rung.Word
		}
	}
	s.tell(control.SessionPrompted)
	s.writes(to, "And you?")
	s.tell(control.SessionStopped)
	s.book.work.Wait()
	return true
}

// told is how often white has told that a conversation waits.
func (f *fleetOf) told() (n int) {
	f.noted(func() {
		for _, body := range f.bodies {
			if strings.HasPrefix(body, "TALK-HELD") {
				n++
			}
		}
	})
	return n
}

// Two sessions that answer each other end when the budget of their conversation is spent. Both
// sides are told once. A prompt that somebody types in one of them lets the conversation go on on
// this host, for as long again (R13, R70). It prevents: a loop of sessions that nobody hears of, and
// one that nobody can have go on.
func TestLoopEnds(t *testing.T) {
	f := newFleet(t)
	f.book.MaxHops = 4
	one, two := f.begin(folder(t, "one"), "s-1"), f.begin(folder(t, "two"), "s-2")
	f.declare("one", "two")
	f.mail("one", "Talk to two.", nil)
	turns := func() (n int) {
		for one.turn("two") && two.turn("one") {
			n++
		}
		return n
	}
	if n := turns(); n != 2 || f.told() != 1 {
		t.Fatalf("%d rounds, told %d times", n, f.told())
	}
	if f.look(true); f.told() != 1 {
		t.Errorf("told %d times", f.told())
	}
	waits := f.warned[talksOf("two")] + f.warned[talksOf("one")]
	if !strings.Contains(waits, "answers of agents in a row (max_hops is 4); what is more waits until somebody types in its session") {
		t.Errorf("status says %q", waits)
	}
	held := one
	if f.unread("two") > 0 {
		held = two
	}
	other := map[*session]protocol.Name{one: "two", two: "one"}[held]
	held.request.Bell, held.request.Typed = "", true
	if a := held.tell(control.SessionPrompted); !strings.Contains(a.Text, "And you?") {
		t.Fatalf("told %q", a.Text)
	}
	held.writes(other, "Go on.")
	held.tell(control.SessionStopped)
	first, second := one, two
	if held == one {
		first, second = two, one
	}
	n := 0
	for first.turn(held.by().Name) {
		n++
		if !second.turn(other) {
			break
		}
		n++
	}
	if n != 4 || f.told() != 2 {
		t.Errorf("after a prompt %d turns, told %d times", n, f.told())
	}
	again := New(f.book.Options)
	if len(again.find("one").Anew)+len(again.find("two").Anew) == 0 {
		t.Error("a node that starts again does not know what began anew")
	}
}
