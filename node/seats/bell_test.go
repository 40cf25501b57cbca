package seats

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// An idle session is rung once for its mail, by a sentence in which nothing of the mail stands
// (R70). It prevents: a participant's words begin a turn as if they were typed.
func TestBell(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name.String()
	f.mail(name, "Delete everything.", nil)
	f.mail(name, "And then?", nil)
	f.look(true)
	f.look(true)
	f.rung("two messages", 1)
	if got := f.program.rung()[0]; !regexp.MustCompile(`^parley: 2 messages wait for you \(bell [0-9a-f]{8}\)\. The text comes beside this line, or with: parley inbox$`).MatchString(got) {
		t.Errorf("the bell says %q", got)
	}
}

// What may not begin a turn rings no bell, and comes at the next turn all the same.
func TestNoBell(t *testing.T) {
	for what, prepare := range map[string]func(*session, string){
		"it works": func(s *session, to string) {
			s.program.at(agentprogram.Busy)
			s.mail(to, "hello", nil)
		},
		"its hooks say that it works": func(s *session, to string) {
			s.program.at(agentprogram.Unknown)
			s.tell(control.SessionPrompted)
			s.mail(to, "hello", nil)
		},
		"muted": func(s *session, to string) {
			if _, err := s.book.Mute(t.Context(), s.by(), control.MuteSessionRequest{For: time.Hour}); err != nil {
				t.Fatal(err)
			}
			s.mail(to, "hello", nil)
		},
		"to all": func(s *session, _ string) {
			s.mail(protocol.All, "hello", func(m *protocol.Message) { m.Act = protocol.ActBroadcast })
		},
		"to several": func(s *session, to string) {
			s.mail(to, "hello", func(m *protocol.Message) { m.To = append(m.To, protocol.Address{Name: "nat"}) })
		},
		"no work": func(s *session, to string) {
			s.mail(to, "hello", func(m *protocol.Message) { m.Act = protocol.ActTell })
		},
		"unattended": func(s *session, to string) {
			s.mail(to, "hello", func(m *protocol.Message) { m.Unattended = true })
		},
		"unsigned": func(s *session, to string) { s.plain(to) },
		"too many hops": func(s *session, to string) {
			s.mail(to, "hello", func(m *protocol.Message) { m.Hops = s.book.MaxHops + 1 })
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFleet(t)
			s := f.begin(t.TempDir(), "s-1")
			prepare(s, s.by().Name.String())
			f.look(true)
			f.rung(what, 0)
			if a := s.tell(control.SessionPrompted); a.Nonce == "" {
				t.Errorf("handed over at the next turn: %q", a.Text)
			}
		})
	}
}

// A bell of which nothing comes is rung again after 30 seconds, then after twice as long each time,
// and at most five times. New mail begins that anew, with a bell of its own.
func TestBellAgain(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	f.mail(s.by().Name.String(), "hello", nil)
	f.look(true)
	for n, pause := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute} {
		f.wait(pause - time.Second)
		f.look(true)
		f.rung(fmt.Sprintf("%s less a second later", pause), n+1)
		f.wait(time.Second)
		f.look(false)
		f.rung(fmt.Sprintf("%s later", pause), n+2)
	}
	f.wait(10 * time.Hour)
	f.look(true)
	f.rung("for ever", mostTries)
	first := s.book.held()[0].Rung.Word
	f.mail(s.by().Name.String(), "hello again", nil)
	f.look(true)
	f.rung("for new mail", mostTries+1)
	second := s.book.held()[0].Rung.Word
	for n, sentence := range f.program.rung() {
		word := first
		if n == mostTries {
			word = second
		}
		if !strings.Contains(sentence, word) || first == second {
			t.Errorf("bell %d is not %s: %q", n, word, sentence)
		}
	}
}

// Mail begins at most 20 turns of a session within an hour, whether by the bell or at the end of a
// turn. What is more waits, status says so, and it goes on when the hour has passed.
func TestTurnsWithinAnHour(t *testing.T) {
	f := newFleet(t)
	s := f.begin(t.TempDir(), "s-1")
	name := s.by().Name
	for n := range f.book.MaxTurns {
		f.mail(name.String(), "hello", nil)
		if n%2 == 0 {
			f.look(true)
			s.tell(control.SessionPrompted)
		}
		more := s.tell(control.SessionStopped).Nonce != ""
		if more != (n%2 == 1) {
			t.Errorf("turn %d goes on: %v", n, more)
		}
		s.tell(control.SessionUsedTool)
		f.book.work.Wait()
	}
	f.rung("at the limit", f.book.MaxTurns/2)
	f.mail(name.String(), "hello", nil)
	f.look(true)
	f.rung("beyond it", f.book.MaxTurns/2)
	if a := s.tell(control.SessionStopped); a.Text != "" {
		t.Errorf("beyond it a turn goes on with %q", a.Text)
	}
	if f.warned[turnsOf(name)] == "" {
		t.Error("status says nothing of it")
	}
	f.wait(time.Hour)
	f.look(false)
	f.rung("an hour later", f.book.MaxTurns/2+1)
	if f.warned[turnsOf(name)] != "" {
		t.Errorf("an hour later status says %q", f.warned[turnsOf(name)])
	}
}

// Mail that has waited for a session rings it when it opens. It prevents: an idle session, never
// prompted, that hears of its mail only when the next one comes.
func TestBellForWhatWaited(t *testing.T) {
	f := newFleet(t)
	folder := t.TempDir()
	s := f.begin(folder, "s-1")
	f.mail(s.by().Name.String(), "hello", nil)
	s.tell(control.SessionEnded)
	s.program.at(agentprogram.Idle)
	f.begin(folder, "s-2")
	select {
	case <-f.book.news:
	default:
		t.Error("nobody is told to look at a session that has opened")
	}
	f.look(false)
	f.rung("a session that opens", 1)
}
