package talk

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// A person at a terminal gets a part; a program gets all there is.
func TestPeopleAreSpared(t *testing.T) {
	for _, test := range []struct {
		line     string
		terminal bool
		want     string
	}{
		{"log", true, `log {"last":50}`},
		{"log", false, `log {}`},
		{"log --json", true, `log {}`},
		{"log -n 0", true, `log {}`},
		{"inbox", true, `inbox {"limit":101}`},
		{"inbox", false, `inbox {}`},
		{"inbox --json", true, `inbox {}`},
		{"inbox -n 0", true, `inbox {}`},
	} {
		r := newRun(t)
		if test.terminal {
			r.AtTerminal(80)
		}
		r.Do(strings.Fields(test.line)...)
		if diff := cmp.Diff([]string{test.want}, r.Asked); diff != "" {
			t.Errorf("%s, terminal %v, asks (-want +got):\n%s", test.line, test.terminal, diff)
		}
	}
}

func TestMoreIsSaid(t *testing.T) {
	mail := []control.Message{clitest.Message("one"), clitest.Message("two"), clitest.Message("three")}
	for _, test := range []struct {
		line  string
		mail  []control.Message
		lines int // with the heading and the hint
		say   string
	}{
		{"inbox -n 2", mail, 4, "more is waiting than the first 2: -n 0 lists all\n"},
		{"inbox -n 3", mail, 5, ""},
		{"log -n 3", mail, 3, "the last 3; all of them: parley log -n 0\n"},
		{"log -n 3 --json", mail, 3, ""}, // a script may run it with a terminal as its standard error
		{"log -n 4", mail, 3, ""},
		{"log -n 0", mail, 3, ""},
	} {
		r := newRun(t)
		r.HasMail(test.mail)
		r.AtTerminal(80)
		r.Program.Now = func() time.Time { return mail[0].Timestamp }
		r.Do(strings.Fields(test.line)...)
		if got := strings.Count(r.Out.String(), "\n"); got != test.lines || r.Err.String() != test.say {
			t.Errorf("%s: %d lines, said %q, want %d and %q", test.line, got, r.Err.String(), test.lines, test.say)
		}
	}
}
