package seats

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// monitor has a process beneath a session hear its bells, until the test ends or `end` is called.
func (s *session) monitor() (heard <-chan string, end func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	sentences, ended := make(chan string, 10), make(chan struct{})
	there := s.request
	there.Event = control.SessionThere
	select { // a token of before
	case <-s.book.news:
	default:
	}
	go func() {
		defer close(ended)
		err := s.book.Bells(ctx, s.by(), there, func(r control.SessionRing) error {
			sentences <- r.Sentence
			return nil
		})
		if err != nil {
			s.Error(err)
		}
	}()
	end = func() {
		cancel()
		<-ended
	}
	s.Cleanup(end)
	for listens := false; !listens; {
		<-s.book.news
		listens = s.book.monitors.of(s.process) != nil
	}
	return sentences, end
}

// ways wants the session list to say how a session can be rung.
func (s *session) ways(what string, want ...control.SessionWay) {
	s.Helper()
	list, err := s.book.List(s.Context(), control.Caller{Kind: control.Operator})
	if err != nil || len(list) != 1 || !slices.Equal(list[0].Ways, want) {
		s.Errorf("%s: %+v %v, want %q", what, list, err, want)
	} else if deaf := s.book.Waits()[list[0].Agent.String()].For == protocol.WaitsForTurn; deaf != (len(want) == 0 && list[0].State == control.AgentIdle) {
		s.Errorf("%s: other hosts are told that it hears at its next turn: %v", what, deaf)
	}
}

// A session whose program asks its human about what comes by the socket is rung by its monitor, and
// hears at its next turn once it has none. So does one of which that is not known yet, but there the
// socket is left. It prevents: a session without permissions is never rung.
func TestBellByTheMonitor(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	heard, _ := s.monitor()
	s.ways("never prompted", control.ByMonitor, control.BySocket)
	s.request.Holds = true
	s.tell(control.SessionPrompted)
	s.tell(control.SessionStopped)
	s.ways("it holds", control.ByMonitor)
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	f.rung("by the socket", 0)
	<-heard
	s.request.Session, s.request.Holds = "s-2", false
	s.tell(control.SessionStarted) // its context was cleared
	s.ways("cleared", control.ByMonitor)
	s.request.Holds = false
	s.tell(control.SessionPrompted)
	s.ways("it holds no more", control.BySocket, control.ByMonitor)
}

// Of a bell nothing comes while the program says that its session is idle: the next way is tried
// after 30 seconds, with the same word, and the text is handed over once. A session that works is
// left alone. The way that it has heard by is the first one from then on.
func TestNextWay(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	heard, _ := s.monitor()
	s.tell(control.SessionStopped)
	s.ways("at first", control.BySocket, control.ByMonitor)
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	f.rung("at first", 1)
	f.program.at(agentprogram.Busy)
	f.wait(time.Hour)
	f.look(true)
	f.program.at(agentprogram.Waiting)
	f.look(true)
	f.rung("while it works", 1)
	if len(heard) != 0 {
		t.Error("a session that works was rung by another way")
	}
	f.program.at(agentprogram.Idle)
	f.look(false)
	f.rung("when it is idle", 1)
	if first := f.program.rung()[0]; <-heard != first {
		t.Errorf("the monitor did not hear %q", first)
	}
	s.request.Typed, s.request.Bell = false, f.book.held()[0].Rung.Word
	if a := s.tell(control.SessionPrompted); a.Nonce == "" {
		t.Error("the bell begins a turn without the mail")
	}
	if a := s.tell(control.SessionPrompted); a.Text != "" {
		t.Errorf("the bell of the other way is told once more %q", a.Text)
	}
	s.tell(control.SessionStopped)
	f.book.work.Wait()
	s.ways("as it has heard", control.ByMonitor, control.BySocket)
}

// What cannot be rung by one way is rung by the next at once.
func TestNextWayAtOnce(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	heard, end := s.monitor()
	s.tell(control.SessionStopped)
	f.program.deaf(true)
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	<-heard
	end()
	s.ways("without a monitor", control.BySocket)
}

// A session that began while no node ran is known from the moment its monitor finds the node. Within
// a run, nobody is.
func TestMonitorMakesKnown(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	if err := f.book.leave(f.book.held()[0]); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	by := s.by()
	by.Run = "0badcafe"
	if err := f.book.Bells(ctx, by, s.request, nil); err != nil || len(f.book.held()) != 0 {
		t.Errorf("within a run: %v, %d", err, len(f.book.held()))
	}
	s.monitor()
	s.ways("never prompted", control.ByMonitor, control.BySocket)
	if list, err := f.book.List(t.Context(), control.Caller{Kind: control.Operator}); err != nil || list[0].State != control.AgentIdle {
		t.Errorf("%+v %v", list, err)
	}
}

// Codex keeps what rings it until the session takes it, or for ever. So it is said once, new mail or
// not, and after 30 seconds it is shown that the session hears at its next turn. It prevents: five
// turns without a message, begun by bells that waited for somebody to resume the thread.
func TestQueuedOnce(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	f.book.Installed = func(string) (path, home string) { return "/bin/codex", "/home" }
	f.program.at(agentprogram.Unknown)
	f.book.held()[0].Program, s.request.Program = "codex", "codex"
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	f.rung("at first", 1)
	s.ways("just rung", control.ByQueue)
	f.wait(ringAgain)
	s.ways("in vain")
	f.wait(time.Hour)
	f.mail(s.by().Name.String(), "hello again", nil)
	f.look(true)
	f.rung("an hour later", 1)
	s.request.Bell = f.book.held()[0].Rung.Word
	s.tell(control.SessionPrompted)
	s.tell(control.SessionStopped)
	f.book.work.Wait()
	f.mail(s.by().Name.String(), "and again", nil)
	f.look(true)
	f.rung("after it has heard", 2)
	f.program.once = true
	s.ways("codex exec")
}

// Whoever listens beside the session's monitor, and leaves, does not take its place. It prevents: a
// session that nothing wakes any more, because somebody looked.
func TestMonitorBesideAnother(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	heard, _ := s.monitor()
	_, end := s.monitor()
	end()
	s.program.fails = errors.New("nobody takes it")
	s.tell(control.SessionStopped)
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	<-heard // by the monitor that stayed
	f.book.mu.Lock()
	defer f.book.mu.Unlock()
	if way := f.book.here[0].Holder.Way; way != control.ByMonitor {
		t.Errorf("the way that was taken after another was not is remembered as %q", way)
	}
}

// A broadcast begins no new tries of a bell that was rung in vain. It prevents: turns that are spent on
// mail that may begin none.
func TestBroadcastRenewsNoTries(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	s.tell(control.SessionStopped)
	f.mail(s.by().Name.String(), "hello", nil)
	for range mostTries + 1 {
		f.look(true)
		f.wait(time.Hour)
	}
	f.rung("in vain", mostTries)
	f.mail(protocol.All, "hello all", func(m *protocol.Message) { m.Act = protocol.ActBroadcast })
	f.look(true)
	f.rung("after a broadcast", mostTries)
}
