package seats

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

const again = "An earlier session of yours may have been shown this message"

// Mail that was handed over is read when a later event proves that the turn went on, and no
// earlier (R69).
func TestReadWhenTheTurnGoesOn(t *testing.T) {
	for _, e := range []control.SessionEventKind{control.SessionUsedTool, control.SessionStopped, control.SessionPrompted} {
		f := newFleet(t)
		s := f.begin(t.TempDir(), "s-1")
		name := s.by().Name
		p := f.mail(name.String(), "What do you build?", nil)
		if a := s.tell(control.SessionPrompted); !strings.Contains(a.Text, "What do you build?") || strings.Contains(a.Text, again) {
			t.Errorf("handed over: %q", a.Text)
		}
		if f.given[name] != p {
			t.Errorf("what it writes is because of %q", f.given[name])
		}
		s.tell(control.SessionAsks)
		if f.unread(name.String()) != 1 {
			t.Error("it is read before anything proves it")
		}
		if a := s.tell(e); a.Text != "" {
			t.Errorf("%s: handed over twice: %q", e, a.Text)
		}
		if f.unread(name.String()) != 0 {
			t.Errorf("%s proves nothing", e)
		}
	}
}

// One hand-over takes at most 9,000 bytes, and a message of more than 4,000 is begun. The others
// come with the next event, and are counted.
func TestHandOverIsBounded(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	f.mail(name, strings.Repeat("a", 4000), nil)
	f.mail(name, strings.Repeat("b", 9000), nil)
	f.mail(name, strings.Repeat("c", 1), nil)
	a := s.tell(control.SessionPrompted)
	if len(a.Text) > 9000 || strings.Count(a.Text, "a") < 4000 || strings.Contains(a.Text, "bbb") || !strings.Contains(a.Text, "2 more messages wait: parley inbox") {
		t.Errorf("%d bytes: %q", len(a.Text), a.Text)
	}
	a = s.tell(control.SessionUsedTool)
	if len(a.Text) > 9000 || strings.Contains(a.Text, strings.Repeat("b", 4001)) || !strings.Contains(a.Text, "Only its beginning") || strings.Contains(a.Text, "more message") {
		t.Errorf("%d bytes: %q", len(a.Text), a.Text)
	}
	s.tell(control.SessionUsedTool)
	if f.unread(name) != 0 {
		t.Errorf("%d messages are left", f.unread(name))
	}
}

// A hook that has given up before the node answers is handed nothing: the mail waits, unmarked.
func TestHookThatGaveUp(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name
	f.mail(name.String(), "hello", nil)
	ended, end := context.WithCancel(t.Context())
	end()
	r := s.request
	r.Event = control.SessionPrompted
	if a, err := s.book.Tell(ended, s.by(), r); !errors.Is(err, context.Canceled) || a.Text != "" {
		t.Errorf("it is told %q, %v", a.Text, err)
	}
	if !f.given[name].IsZero() {
		t.Errorf("what it writes is because of %s", f.given[name])
	}
	if a := s.tell(control.SessionUsedTool); a.Nonce == "" || strings.Contains(a.Text, again) {
		t.Errorf("handed over: %q", a.Text)
	}
}

// What a hook was answered and nobody has printed is handed over again, marked, and at most four
// times. It rings an idle session: it prevents mail that lies with nobody until somebody types.
func TestNotPrinted(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	f.mail(name, "hello", nil)
	if a := s.unprinted(control.SessionStopped); a.Nonce == "" {
		t.Fatalf("told %q", a.Text)
	}
	f.wait(printsWithin)
	f.look(false)
	f.rung("while the hook may print", 0)
	f.wait(1)
	f.look(false)
	f.rung("after that", 1)
	for range mostMute {
		if a := s.unprinted(control.SessionPrompted); !strings.Contains(a.Text, again) {
			t.Errorf("handed over: %q", a.Text)
		}
		f.wait(printsWithin + 1)
	}
	f.look(true)
	if a := s.tell(control.SessionUsedTool); a.Text != "" {
		t.Errorf("handed over a fifth time: %q", a.Text)
	}
	f.rung("for what was handed over four times", 1)
	if f.unread(name) != 1 {
		t.Error("it is read, and nobody was shown it")
	}
}

// What a session was handed proves nothing for the one that follows it, in the same process or in
// another: the message is handed over again, marked. It prevents: mail is read that no model saw.
func TestHandedToTheSessionBefore(t *testing.T) {
	for what, follow := range map[string]func(f *fleetOf, s *session, folder string) *session{
		"cleared": func(_ *fleetOf, s *session, _ string) *session {
			s.request.Session, s.request.Source = "s-2", "clear"
			return s
		},
		"ended": func(f *fleetOf, s *session, folder string) *session {
			s.tell(control.SessionEnded)
			return f.begin(folder, "s-2")
		},
		"killed": func(f *fleetOf, s *session, folder string) *session {
			s.end()
			return f.begin(folder, "s-2")
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFleet(t)
			folder := t.TempDir()
			s := f.begin(folder, "s-1")
			name := s.by().Name.String()
			f.mail(name, "hello", nil)
			s.tell(control.SessionPrompted)
			s = follow(f, s, folder)
			s.tell(control.SessionStarted)
			s.name(name)
			if a := s.tell(control.SessionPrompted); !strings.Contains(a.Text, again) || f.unread(name) != 1 {
				t.Errorf("%d are unread, handed over: %q", f.unread(name), a.Text)
			}
			s.tell(control.SessionUsedTool)
			if f.unread(name) != 0 {
				t.Error("it is never read")
			}
		})
	}
}

// A turn that mail has begun ends with the prompt that somebody types, and not with the bell (R13).
func TestWhyASessionWrites(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name
	p := f.mail(name.String(), "hello", nil)
	f.look(true)
	s.request.Bell = s.book.held()[0].Rung.Word
	s.tell(control.SessionPrompted)
	s.request.Typed = false
	s.tell(control.SessionPrompted)
	if f.given[name] != p {
		t.Errorf("it writes because of %q", f.given[name])
	}
	if _, err := s.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: "neo"}); err != nil {
		t.Fatal(err)
	}
	if f.given["neo"] != p {
		t.Error("under another name it writes for no reason")
	}
	s.request.Typed = true
	if s.tell(control.SessionPrompted); !f.given["neo"].IsZero() {
		t.Errorf("after a prompt it writes because of %q", f.given["neo"])
	}
}

// One process that holds several sessions proves the program alone. Their hooks hear mail all the
// same, each its own.
func TestSeveralSessionsOfOneProcess(t *testing.T) {
	f := newFleet(t)
	folder := t.TempDir()
	first := f.begin(folder, "none")
	first.tell(control.SessionEnded)
	first.request.Program, first.request.Session = "codex", "c-1"
	second := *first
	second.request.Session = "c-2"
	names := map[string]protocol.Name{}
	for _, s := range []*session{first, &second} {
		names[s.request.Session] = s.tell(control.SessionStarted).Agent
	}
	if by := first.by(); by.Name != "" || names["c-1"] == "" || names["c-1"] == names["c-2"] {
		t.Fatalf("they are %v, their process is %q", names, by.Name)
	}
	f.mail(names["c-2"].String(), "For the second.", nil)
	if a := first.tell(control.SessionPrompted); a.Agent != names["c-1"] || a.Text != "" {
		t.Errorf("the first, %s, is told %q", a.Agent, a.Text)
	}
	if a := second.tell(control.SessionPrompted); !strings.Contains(a.Text, "For the second.") {
		t.Errorf("the second, %s, is told %q", a.Agent, a.Text)
	}
}

// A hook that had begun before the text was printed proves nothing: its tool ran beside the one at
// whose end the text was handed over. It prevents: mail is read that no model saw, because two tools
// ended at the same moment.
func TestAToolBesideProvesNothing(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	f.mail(name, "hello", nil)
	f.tick.Store(s.process.Start)
	s.tell(control.SessionUsedTool)
	s.tell(control.SessionUsedTool)
	if f.unread(name) != 1 {
		t.Error("it is read by the end of a tool that ran beside")
	}
	f.tick.Store(s.process.Start - 1)
	f.mail(name, "again", nil)
	s.tell(control.SessionUsedTool)
	s.tell(control.SessionUsedTool)
	if f.unread(name) != 1 {
		t.Error("the next tool proves nothing of what was handed over before")
	}
}

// A broadcast tells the fleet of no session, even where it is shown and read. What is written to a
// session does (R68). It prevents: one broadcast puts the names of all open sessions into the record.
func TestBroadcastTellsOfNobody(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "bridge"), "s-1")
	known := func() (yes bool) {
		f.noted(func() { yes = f.book.seats[0].Declared })
		return yes
	}
	f.mail(protocol.All, "hello all", func(m *protocol.Message) { m.Act = protocol.ActBroadcast })
	f.look(true)
	if a := s.tell(control.SessionPrompted); !strings.Contains(a.Text, "hello all") {
		t.Fatalf("told %q", a.Text)
	}
	s.tell(control.SessionUsedTool)
	if f.unread("bridge") != 1 || known() {
		t.Error("a broadcast tells the fleet of a session")
	}
	s.tell(control.SessionEnded)
	s.tell(control.SessionStarted)
	if a := s.tell(control.SessionPrompted); a.Text != "" {
		t.Errorf("handed over twice: %q", a.Text)
	}
	f.mail("bridge", "hello bridge", nil)
	f.look(true)
	if !known() {
		t.Error("the fleet does not know a session that was written to")
	}
	s.tell(control.SessionPrompted)
	s.tell(control.SessionStopped)
	if f.unread("bridge") != 0 {
		t.Errorf("%d are unread", f.unread("bridge"))
	}
	if _, err := f.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: "thrice"}); err != nil {
		t.Fatal(err)
	}
	if a := s.tell(control.SessionPrompted); a.Text != "" {
		t.Errorf("handed over again under a new name: %q", a.Text)
	}
}

// When its context was shortened, a session is told once, by names and paths, what it was handed and
// has not answered.
func TestShorterContext(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "bridge"), "s-1")
	owed := f.mail("bridge", "What do you build?", nil)
	done := f.mail("bridge", "And how?", nil)
	f.mail("bridge", "For your information.", func(m *protocol.Message) { m.Act = protocol.ActNote })
	s.tell(control.SessionPrompted)
	s.tell(control.SessionUsedTool)
	f.book.work.Wait()
	if _, err := f.store(t.Context(), fleet.Answer{As: fleet.Who{Name: "bridge", Host: "white"}, To: done, Body: "With care."}, done); err != nil {
		t.Fatal(err)
	}
	names := func(e control.SessionEventKind, want string) {
		t.Helper()
		a := s.tell(e)
		if got := strings.Contains(a.Text, "\n- "+owed.String()+" from zoe@hub"); got != (want != "") || strings.Contains(a.Text, done.String()) || strings.Contains(a.Text, "What do") {
			t.Errorf("%s: told %q", e, a.Text)
		}
	}
	s.tell(control.SessionCompacts)
	s.request.Source = "compact"
	names(control.SessionStarted, "named")
	if at, _ := f.book.Sessions.At("bridge", time.Time{}); at != control.AgentRunning {
		t.Errorf("in the middle of its turn it is %s", at)
	}
	names(control.SessionUsedTool, "")
	s.tell(control.SessionCompacts) // Codex does it in the middle of a turn
	names(control.SessionUsedTool, "named")
	names(control.SessionPrompted, "")
}

// What a session was shown under a name that the fleet does not know is not taken back, whoever sits
// there next. It prevents: the file of sessions is written each second for ever.
func TestShownIsNotTakenBack(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "bridge"), "s-1")
	f.mail(protocol.All, "hello all", func(m *protocol.Message) { m.Act = protocol.ActBroadcast })
	s.tell(control.SessionPrompted)
	s.tell(control.SessionUsedTool)
	s.request.Session = "s-2" // it was cleared
	s.tell(control.SessionStarted)
	f.look(true)
	if err := os.Remove(f.book.File); err != nil {
		t.Fatal(err)
	}
	f.look(false)
	if _, err := os.Stat(f.book.File); err == nil {
		t.Error("a look at which nothing has happened writes the file of sessions")
	}
}

// Mail that a session has asked for itself is not handed to it besides, nor is mail that a session
// before it was handed. It prevents: one message twice within one turn, the second time unmarked.
func TestAskedForIsNotHandedOver(t *testing.T) {
	f := newFleet(t)
	bridge := folder(t, "bridge")
	s := f.begin(bridge, "s-1")
	p := f.mail("bridge", "hello", nil)
	s.tell(control.SessionPrompted)
	s.tell(control.SessionEnded)
	next := f.begin(bridge, "s-2")
	next.tell(control.SessionStarted)
	holds, _ := f.book.session(f.book.held()[0])
	claim := sessions.Claim{By: holds, Until: f.clock().Add(time.Hour)}
	if !f.book.Sessions.Take("bridge", p, claim) {
		t.Fatal("what waits again cannot be asked for")
	}
	if a := next.tell(control.SessionUsedTool); a.Text != "" {
		t.Errorf("it is handed %q besides", a.Text)
	}
	f.book.Sessions.GiveBack("bridge", []protocol.Path{p})
	if a := next.tell(control.SessionPrompted); !strings.Contains(a.Text, again) {
		t.Fatalf("it is told %q", a.Text)
	}
	f.stop()
	f.open(f.book.File)
	if f.book.Sessions.Take("bridge", p, claim) {
		t.Error("after a start of the node it can be asked for as if nobody had been handed it")
	}
}

// Mail that nobody could acknowledge, or whose text cannot be read, holds up no other. It prevents:
// one bad file in the record makes a session deaf.
func TestBadMailHoldsUpNoOther(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "bridge"), "s-1")
	f.mail("bridge", "from all", func(m *protocol.Message) { m.From = protocol.All })
	gone := f.mail("bridge", "its text is gone", nil)
	f.noted(func() { delete(f.bodies, gone) })
	f.mail("bridge", "good", nil)
	a := s.tell(control.SessionPrompted)
	if !strings.Contains(a.Text, "cannot be read at the moment") || !strings.Contains(a.Text, "good") || strings.Contains(a.Text, "from all") {
		t.Errorf("it is told %q", a.Text)
	}
	s.tell(control.SessionStopped)
	if n := f.unread("bridge"); n != 1 {
		t.Errorf("%d are unread", n)
	}
}

// What a caller says of its session has the form that programs give it. It prevents: ids of any size
// in the file of sessions and on screens.
func TestWhatIsNoEvent(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "bridge"), "s-1")
	for name, spoil := range map[string]func(*control.SessionEventRequest){
		"a long id":         func(r *control.SessionEventRequest) { r.Session = strings.Repeat("x", 129) },
		"an escape":         func(r *control.SessionEventRequest) { r.Source = "\x1b[2J" },
		"a relative folder": func(r *control.SessionEventRequest) { r.Folder = "here" },
		"a long path":       func(r *control.SessionEventRequest) { r.Ring.Home = "/" + strings.Repeat("x", 4096) },
	} {
		r := s.request
		spoil(&r)
		if _, err := f.book.Tell(t.Context(), s.by(), r); control.AsError(err).Kind != control.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
