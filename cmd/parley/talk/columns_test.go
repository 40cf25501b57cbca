package talk

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// aDay returns mail of today, of yesterday and of another year, in channels of all kinds.
func aDay() []control.Message {
	at := func(ago time.Duration, channel string, direct bool, body string, to ...string) control.Message {
		m := clitest.Message(body)
		m.Timestamp, m.ChannelName, m.Direct, m.To = m.Timestamp.Add(-ago), channel, direct, to
		return m
	}
	wide := at(time.Hour, "会議室 of the whole team", false, "明日の会議は十時からです。資料を読んでおいてください。よろしくお願いします。", "名前の長い人", "nat")
	wide.From, wide.Host = "リリース担当者の名前", "東京"
	return []control.Message{
		at(365*24*time.Hour, "", true, "long ago", "nat"),
		at(24*time.Hour, "sprint", false, "yesterday "+strings.Repeat("and so on ", 9), "all"),
		wide,
		at(0, "", true, "to all", protocol.All),
		at(0, "", false, "from a group's channel", "nat"),
		at(0, "", true, strings.Repeat("สวัสดี", 30), "nat"),
	}
}

// It prevents: at 80 columns a line tells day and zone of this very minute, and nothing of the
// channel.
func TestLinesFitTheTerminal(t *testing.T) {
	for _, test := range []struct {
		line string
		want string
	}{
		{"inbox", `
TIME        FROM                 CHANNEL     ID        TEXT
2025-05-23  mawjs@white          direct      b2c3d4e5  long ago
2026-05-22  mawjs@white          sprint      b2c3d4e5  yesterday and so on and…
20:01       リリース担当者の名…  会議室 of…  b2c3d4e5  明日の会議は十時からで…
21:01       mawjs@white          all         b2c3d4e5  to all
21:01       mawjs@white          adfe0356…   b2c3d4e5  from a group's channel
21:01       mawjs@white          direct      b2c3d4e5  สวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวัส…
next: parley read b2c3d4e5   read the first; its sender gets a receipt
`},
		{"log", `
2025-05-23 +02:00
21:01  mawjs@white → nat                       b2c3d4e5  long ago
2026-05-22 +02:00
21:01  mawjs@white → all         sprint        b2c3d4e5  yesterday and so on an…
2026-05-23 +02:00
20:01  リリース担当者の名前@東…  会議室 of t…  b2c3d4e5  明日の会議は十時からで…
21:01  mawjs@white → all                       b2c3d4e5  to all
21:01  mawjs@white → nat         adfe0356…     b2c3d4e5  from a group's channel
21:01  mawjs@white → nat                       b2c3d4e5  สวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวั…
`},
		{"log --channel sprint", `
2025-05-23 +02:00
21:01  mawjs@white → nat         b2c3d4e5  long ago
2026-05-22 +02:00
21:01  mawjs@white → all         b2c3d4e5  yesterday and so on and so on and so…
2026-05-23 +02:00
20:01  リリース担当者の名前@東…  b2c3d4e5  明日の会議は十時からです。資料を読ん…
21:01  mawjs@white → all         b2c3d4e5  to all
21:01  mawjs@white → nat         b2c3d4e5  from a group's channel
21:01  mawjs@white → nat         b2c3d4e5  สวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวัสดีสวัสดี…
`},
	} {
		r := newRun(t)
		r.HasMail(aDay())
		r.Program.Now = func() time.Time { return clitest.Message("").Timestamp.Add(time.Hour) }
		r.AtTerminal(80)
		if code := r.Do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.line, code, r.Err.String())
		}
		if diff := cmp.Diff(test.want, "\n"+r.Out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.line, diff)
		}
		for line := range strings.Lines(r.Out.String()) {
			if width := term.Width(strings.TrimRight(line, "\n")); width > 80 {
				t.Errorf("%s: %d columns: %s", test.line, width, line)
			}
		}
	}
}

// It prevents: the columns of a log begin further to the right with each longer name, channel or
// day, as lines come.
func TestColumnsStay(t *testing.T) {
	for _, line := range []string{"log", "log --follow", "log --channel sprint --follow", "events"} {
		for _, columns := range []int{0, 4, 80, 120, 200} {
			r := newRun(t)
			mail := aDay()
			if columns == 0 { // a program is given names whole, however long they are
				mail = slices.Delete(mail, 2, 3)
			}
			r.HasMail(mail)
			r.By(control.Events.By(func(_ context.Context, _ control.EventsRequest, yield func(control.Event) error) error {
				for _, m := range mail {
					if err := yield(control.Event{Kind: control.EventMessage, Time: m.Timestamp, Message: &m}); err != nil {
						return err
					}
				}
				return nil
			}))
			r.Program.Now = func() time.Time { return clitest.Message("").Timestamp.Add(time.Hour) }
			if columns > 0 {
				r.AtTerminal(columns)
			}
			if code := r.Do(strings.Fields(line)...); code != cli.ExitDone {
				t.Errorf("%s: exit %d, %s", line, code, r.Err.String())
			}
			mark := "b2c3d4e5"
			if line == "events" {
				mark = "message"
			}
			starts := map[int]bool{}
			for text := range strings.Lines(r.Out.String()) {
				before, _, found := strings.Cut(text, mark)
				if width := term.Width(strings.TrimSpace(text)); columns > 4 && width > columns {
					t.Errorf("%s at %d columns: %d columns: %s", line, columns, width, text)
				}
				if found {
					starts[term.Width(before)] = true
				}
			}
			if len(starts) != 1 {
				t.Errorf("%s at %d columns begins at %v:\n%s", line, columns, starts, r.Out.String())
			}
		}
	}
}

// It prevents: one screen says 05-22, another one 2026-05-22 21:01, a third one 2026-05-22T19:01:00Z.
func TestTimesHaveOneForm(t *testing.T) {
	whole := regexp.MustCompile(`\b20\d\d-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?( [+-]\d\d:\d\d)?`)
	for _, line := range []string{"inbox", "log", "log -f", "read x", "show x", "search hello", "replies x", "thread x", "attach x"} {
		for _, columns := range []int{80, 200} {
			r := newRun(t)
			m := clitest.Message("hello")
			r.HasMail([]control.Message{m})
			r.HasMessage(m)
			clitest.On(r, control.Thread, []control.ThreadMessage{{Message: m}})
			clitest.On(r, control.Search, clitest.SomeFinds(m))
			r.Program.Now = func() time.Time { return m.Timestamp.Add(48 * time.Hour) }
			r.AtTerminal(columns)
			r.Do(strings.Fields(line)...)
			shown := strings.ReplaceAll(r.Out.String(), m.Path.String(), "")
			if times := whole.FindAllString(shown, -1); len(times) == 0 && line != "attach x" {
				t.Errorf("%s: without a day:\n%s", line, shown)
			}
			if other := regexp.MustCompile(`\d\d-\d\d|\dT\d\d:|\dZ`).FindString(whole.ReplaceAllString(shown, "")); other != "" {
				t.Errorf("%s at %d columns has another form, %s:\n%s", line, columns, other, shown)
			}
		}
	}
}

// It prevents: a message whose file has a name with signs that turn the direction of writing, that end a
// line or that a shell obeys, brings them into the ID column and into the commands that parley proposes. In JSON
// the name stays as it is.
func TestNamesOfFilesAreSafeToShow(t *testing.T) {
	m := clitest.Message("hello")
	var err error
	if m.Path, err = protocol.JoinPath(m.Path.Channel(), "2026/05/23/a\u202eb\u2028c;touch $(x).md"); err != nil {
		t.Fatal(err)
	}
	m.Re, m.Because, m.Ref = m.Path.String(), m.Path.String(), m.Path.String()
	for _, columns := range []int{0, 60, 300} {
		for _, line := range []string{"inbox", "log", "show x", "read x", "search hello", "thread x", "replies x"} {
			r := newRun(t)
			r.HasMail([]control.Message{m})
			clitest.On(r, control.Thread, []control.ThreadMessage{{Message: m}})
			clitest.On(r, control.Search, clitest.SomeFinds(m))
			if columns > 0 {
				r.AtTerminal(columns)
			}
			code := r.Do(strings.Fields(line)...)
			shown := r.Out.String() + r.Err.String()
			if code != cli.ExitDone || strings.ContainsAny(shown, "\u202e\u2028") {
				t.Errorf("%s at %d columns: exit %d, printed %q", line, columns, code, shown)
			}
			if line == "inbox" && !strings.Contains(shown, `'`+m.Path.Channel().String()+`/2026/05/23/a\u202eb\u2028c;touch $(x).md'`) {
				t.Errorf("%s at %d columns: the name is not there: %q", line, columns, shown)
			}
		}
	}
	r := newRun(t)
	r.HasMail([]control.Message{m})
	var list []control.Message
	if r.Do("inbox", "--json"); json.Unmarshal(r.Out.Bytes(), &list) != nil || len(list) != 1 || list[0].Path != m.Path {
		t.Errorf("as JSON it is %q", r.Out.String())
	}
}

// It prevents: the next step names channels and members with signs that turn a terminal's text
// around. Anybody who may push can give such names.
func TestNextStepIsSafeToShow(t *testing.T) {
	const turned = "gpj.\u202ehsilbup"
	for _, line := range []string{"channel members x", "channel show x", "channel list"} {
		r := newRun(t)
		channel := control.Channel{Name: turned, Members: []string{turned}}
		clitest.On(r, control.ShowChannel, channel)
		clitest.On(r, control.Channels.Verb, []control.Channel{channel})
		r.AtTerminal(200)
		if code := r.Do(strings.Fields(line)...); code != cli.ExitDone || !strings.Contains(r.Out.String(), "next: ") {
			t.Errorf("%s: exit %d, printed %q", line, code, r.Out.String())
		}
		if strings.Contains(r.Out.String(), "\u202e") {
			t.Errorf("%s: printed %q", line, r.Out.String())
		}
	}
}
