package talk

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func TestShownForPeople(t *testing.T) {
	answered := clitest.Message("see \x1b[31mred\n\nend")
	answered.Act, answered.Re, answered.Stage, answered.Heard = protocol.ActReply, "2026/05/23/190000000Z-0badcafe.md", protocol.StagePushed, []protocol.Name{"blue"}
	for _, test := range []struct {
		name  string
		line  []string
		width int // 0: piped
		want  string
	}{
		{"inbox at 80 columns", []string{"inbox"}, 80, `
TIME        FROM         CHANNEL  ID        TEXT
2026-05-23  mawjs@white  direct   b2c3d4e5  hello there …
2026-05-23  名前         direct   b2c3d4e5  [unverified] [sync-chec…
2026-05-23  e␛vil@white  direct   b2c3d4e5  ␛[2J\u202egone
next: parley read b2c3d4e5   read the first; its sender gets a receipt
`},
		{"inbox, piped", []string{"inbox"}, 0, `
TIME                       FROM         CHANNEL  ID        TEXT
2026-05-23T21:01:00+02:00  mawjs@white  direct   b2c3d4e5  hello there …
2026-05-23T21:01:00+02:00  名前         direct   b2c3d4e5  [unverified] [sync-check] สวัสดี 世界 ` + strings.TrimSpace(strings.Repeat("long ", 40)) + `
2026-05-23T21:01:00+02:00  e␛vil@white  direct   b2c3d4e5  ␛[2J\u202egone
`},
		{"log at 80 columns", []string{"log"}, 80, `
2026-05-23 +02:00
21:01  mawjs@white → nat  b2c3d4e5  hello there …
21:01  名前 → nat         b2c3d4e5  [unverified] [sync-check] สวัสดี 世界 long lo…
21:01  e␛vil@white → nat  b2c3d4e5  ␛[2J\u202egone
`},
		{"show at a terminal", []string{"show", "b2c3d4e5"}, 80, `
from:   mawjs@white
to:     nat
time:   2026-05-23 21:01:00 +02:00
act:    reply
re:     2026/05/23/190000000Z-0badcafe.md
path:   ` + clitest.MessagePath + `
signed: valid
stage:  heard by blue · pushed

see ␛[31mred

end
`},
		{"read, piped: the text is unchanged", []string{"read", "b2c3d4e5"}, 0, `
from:   mawjs@white
to:     nat
time:   2026-05-23 21:01:00 +02:00
act:    reply
re:     2026/05/23/190000000Z-0badcafe.md
path:   ` + clitest.MessagePath + `
signed: valid
stage:  heard by blue · pushed

see ` + "\x1b[31m" + `red

end
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.HasMessage(answered)
			r.HasMail(clitest.MailOfStrangers())
			r.WantPrinted(t, test.width, test.line, test.want)
		})
	}
}

func TestLogAsJSONIsLines(t *testing.T) {
	r := newRun(t)
	r.HasMail(clitest.MailOfStrangers())
	r.Do("log", "--json", "--channel", "c", "-n", "3", "--all")
	if lines := strings.Count(r.Out.String(), "\n"); lines != 3 || strings.Contains(r.Out.String(), "\x1b") {
		t.Errorf("printed %d lines, want 3 without escapes:\n%s", lines, r.Out.String())
	}
	if want := `log {"channel":"c","last":3,"everything":true}`; r.Asked[0] != want {
		t.Errorf("asked %q, want %q", r.Asked[0], want)
	}
}

func TestRequestsThatRead(t *testing.T) {
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"inbox", "--all"}, `inbox {"all":true}`},
		{[]string{"inbox", "--as", "nat", "-n", "5"}, `inbox {"as":"nat","limit":6}`},
		{[]string{"log"}, `log {}`},
		{[]string{"log", "--channel", "sprint", "-n", "0"}, `log {"channel":"sprint"}`},
		{[]string{"thread", "b2c3d4e5"}, `thread {"path":"b2c3d4e5"}`},
		{[]string{"read", "b2c3d4e5"}, `read {"path":"b2c3d4e5"}`},
		{[]string{"log", "-f"}, `log {"last":10,"follow":true}`},
		{[]string{"log", "-f", "-n", "0"}, `log {"follow":true}`},
	} {
		r := newRun(t)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}

// JSON leaves C1 controls and bidi overrides as they are, and a terminal obeys them. At a terminal
// they become escapes, which mean the same.
func TestJSONAtTerminal(t *testing.T) {
	const evil = "\u009b2J\u202egone"
	for _, err := range []error{nil, errors.New(evil)} {
		r := newRun(t)
		r.Failure = err
		r.HasMessage(clitest.Message(evil))
		r.AtTerminal(80)
		r.Do("show", "b2c3d4e5", "--json")
		if shown := r.Out.String() + r.Err.String(); !strings.Contains(shown, `\u009b2J\u202egone`) || strings.Contains(shown, evil) {
			t.Errorf("where the error is %v: printed %q", err, shown)
		}
	}
}

// It prevents: nobody can tell which message each of several sessions of an agent has taken.
func TestInboxSaysWhatIsTaken(t *testing.T) {
	r := newRun(t)
	free, taken := clitest.Message("free"), clitest.Message("taken")
	taken.Claimed = &control.Claim{By: "left\x1b", Until: taken.Timestamp}
	r.HasMail([]control.Message{free, taken})
	r.WantPrinted(t, 0, []string{"inbox"}, `
TIME                       FROM         CHANNEL  ID        TEXT
2026-05-23T21:01:00+02:00  mawjs@white  direct   b2c3d4e5  free
2026-05-23T21:01:00+02:00  mawjs@white  direct   b2c3d4e5  [taken by left␛] taken
`)
	r = newRun(t)
	r.WantPrinted(t, 80, []string{"inbox", "--claim"}, `
Nothing is waiting that is not taken.
next: parley inbox   what is taken, and by whom
`)
	r = newRun(t)
	r.HasMail([]control.Message{taken}) // taken by the session that asks
	r.WantPrinted(t, 0, []string{"inbox", "--claim"}, `
TIME                       FROM         CHANNEL  ID        TEXT
2026-05-23T21:01:00+02:00  mawjs@white  direct   b2c3d4e5  taken
`)
}

// Whoever looks for answers that are not there is told what is known of the moment.
func TestNoRepliesYet(t *testing.T) {
	r := newRun(t)
	m := clitest.Message("hello")
	m.Addressees = []control.Addressee{{Name: "mawjs", Woken: true, Waits: &protocol.Waits{For: protocol.WaitsForHuman, Time: m.Timestamp}}}
	r.HasMessage(m)
	r.Do("replies", "b2c3d4e5")
	for _, want := range []string{"nobody has answered yet\n", "mawjs is woken\n", "mawjs waits for its human since 2026-05-23T"} {
		if !strings.Contains(r.Err.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, r.Err.String())
		}
	}
	if want := []string{`replies {"path":"b2c3d4e5"}`, `show {"path":"b2c3d4e5"}`}; !slices.Equal(r.Asked, want) {
		t.Errorf("asked %q", r.Asked)
	}
}
