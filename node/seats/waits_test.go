package seats

import (
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A message is woken when the program took the bell for it, and no other is: not one that came later,
// not one to all, and none if the program did not take the bell (R69).
func TestWoken(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	f.program.deaf(true)
	first := f.mail(name, "hello", nil)
	f.mail(protocol.All, "hello all", func(m *protocol.Message) { m.Act = protocol.ActBroadcast })
	f.look(true)
	if len(f.woken) != 0 {
		t.Errorf("woken for %v by a bell that was not taken", f.woken)
	}
	f.program.deaf(false)
	f.wait(ringAgain)
	f.look(false)
	f.mail(name, "and more", nil)
	f.look(true)
	if !slices.Equal(f.woken, []protocol.Path{first}) {
		t.Errorf("woken for %v, want %s", f.woken, first)
	}
}

// Where the program asks its human something, that human is notified once, if mail waits for the
// answer. It prevents: a question in a window that nobody looks at, for which others wait; and a
// notification of each question that somebody sits before.
func TestAsksItsHuman(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	notified := func(what string, want int) {
		t.Helper()
		if f.look(true); len(f.notified) != want {
			t.Errorf("%s: notified of %v", what, f.notified)
		}
	}
	f.program.at(agentprogram.Waiting)
	s.tell(control.SessionPrompted)
	s.tell(control.SessionAsks)
	notified("nobody has written", 0)
	f.mail(s.by().Name.String(), "hello", nil)
	notified("somebody has", 1)
	notified("again", 1)
	f.wait(time.Second)
	s.tell(control.SessionUsedTool)
	s.tell(control.SessionAsks)
	notified("another question, in a turn of mail", 2)
	if state, _ := f.book.Sessions.At(s.by().Name, time.Time{}); state != control.AgentWaiting {
		t.Errorf("it is %s", state)
	}
	f.program.at(agentprogram.Idle) // its human has ended the turn, and no hook says so
	f.look(false)
	if state, _ := f.book.Sessions.At(s.by().Name, time.Time{}); state != control.AgentIdle {
		t.Errorf("when its human has ended the turn it is %s", state)
	}
}

// For what a session waits other hosts are told, until it goes on.
func TestSpent(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	began := f.clock()
	for range f.book.MaxTurns {
		if len(f.book.Waits()) > 0 {
			t.Fatal("spent before it is")
		}
		f.mail(name, "hello", nil)
		f.look(true)
		s.tell(control.SessionPrompted)
		s.tell(control.SessionStopped)
		f.book.work.Wait()
	}
	w := f.book.Waits()[name]
	if until := w.Time.Sub(began); w.For != protocol.WaitsForTurns || until < time.Hour || until > time.Hour+time.Second {
		t.Errorf("%+v", w)
	}
	f.wait(time.Hour)
	if len(f.book.Waits()) > 0 {
		t.Error("spent for more than an hour")
	}
}

// What keeps a session from hearing its mail is told to the hosts of those who wait for it: that its
// program runs no hooks of parley's, that it is muted, and that nobody has opened it.
func TestHinders(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name
	want := func(what string, want causes.ID) {
		t.Helper()
		if id, _, program := f.book.Hinders(name); id != want || id != "" && program == "" {
			t.Errorf("%s: %q of %q, want %q", what, id, program, want)
		}
	}
	want("its hook has told that it began", "")
	seat := f.book.held()[0]
	seat.Holder.Hooks, seat.Holder.Told = false, false // as if tools of parley alone had called
	s.tell(control.SessionThere)
	want("tools alone have called", causes.NoHooks)
	s.tell(control.SessionPrompted)
	want("a hook has told something", "")
	if _, err := f.book.Mute(t.Context(), s.by(), control.MuteSessionRequest{For: time.Hour}); err != nil {
		t.Fatal(err)
	}
	want("muted", causes.Muted)
	f.wait(2 * time.Hour)
	want("no longer", "")
	s.end()
	f.look(true)
	want("ended", causes.Gone)
	if id, _, _ := f.book.Hinders("nobody"); id != "" {
		t.Errorf("no session: %q", id)
	}
}
