package talk

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a hit is shown by the first line of its message, which rarely contains the words
// that were sought.
func TestSearchShowsTheWordsAroundTheHit(t *testing.T) {
	in := clitest.Message("")
	in.ChannelName, in.Direct = "sprint", false
	unverified := clitest.Message("")
	unverified.Signature, unverified.Act = protocol.SignatureUnverified, protocol.ActReply
	for _, test := range []struct {
		name  string
		width int
		color bool
		want  string
	}{
		{"at 80 columns", 80, false, `
TIME   FROM         WHERE   ID        TEXT
21:01  mawjs@white  sprint  b2c3d4e5  … so the deadline is 金曜日 of next week …
21:01  mawjs@white  direct  b2c3d4e5  [unverified] ↳ … so the deadline is 金曜…
21:01  nat          memory  c2c3d4e5  when: the deadline is firm
next: parley thread b2c3d4e5   the conversation of the first
`},
		{"in colour", 64, true, `
\x1b[2mTIME   FROM         WHERE   ID        TEXT\x1b[0m
21:01  mawjs@white  sprint  b2c3d4e5  … so the \x1b[1mdeadline\x1b[0m is 金曜…
21:01  mawjs@white  direct  b2c3d4e5  [unverified] ↳ … so the \x1b[1md\x1b[0m…
21:01  nat          memory  c2c3d4e5  when: the \x1b[1mdeadline\x1b[0m is firm
\x1b[2mnext: parley thread b2c3d4e5   the conversation of the first\x1b[0m
`},
		{"piped", 0, false, `
TIME                       FROM         WHERE   ID        TEXT
2026-05-23T21:01:00+02:00  mawjs@white  sprint  b2c3d4e5  … which took longer than we thought, so the deadline is 金曜日 of next week and the deadline of the tests ␛[31mis Monday …
2026-05-23T21:01:00+02:00  mawjs@white  direct  b2c3d4e5  [unverified] ↳ … which took longer than we thought, so the deadline is 金曜日 of next week and the deadline of the tests ␛[31mis Monday …
2026-05-23T21:01:00+02:00  nat          memory  c2c3d4e5  when: the deadline is firm
`},
	} {
		r := newRun(t)
		clitest.On(r, control.Search, clitest.SomeFinds(in, unverified))
		r.Program.Now = func() time.Time { return clitest.Message("").Timestamp }
		if test.width > 0 {
			r.AtTerminal(test.width)
			r.Program.Out.Color = test.color
		}
		if code := r.Do("search", "deadline"); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.name, code, r.Err.String())
		}
		if diff := cmp.Diff(strings.ReplaceAll(test.want, `\x1b`, "\x1b"), "\n"+r.Out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if want := "and 2 more of the messages: -n 4\n"; r.Err.String() != want {
			t.Errorf("%s: said %q, want %q", test.name, r.Err.String(), want)
		}
	}
}

// If only a memory was found, the next step shows it.
func TestSearchFindsAMemoryAlone(t *testing.T) {
	r := newRun(t)
	found := clitest.SomeFinds()
	found.Total = 0
	clitest.On(r, control.Search, found)
	r.AtTerminal(80)
	r.Do("search", "deadline")
	if want := "next: parley memory show c2c3d4e5   the first, whole\n"; !strings.HasSuffix(r.Out.String(), want) {
		t.Errorf("printed %q, want %q last", r.Out.String(), want)
	}
}
