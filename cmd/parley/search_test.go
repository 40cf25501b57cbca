package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// someFinds are messages in which the deadline was found far from their beginning, and
// a memory of it.
func someFinds(messages ...control.Message) control.SearchResult {
	around := []control.Fragment{
		{Text: "… which took longer than we thought, so the "}, {Text: "deadline", Hit: true}, {Text: " is 金曜日 of next week and the "},
		{Text: "deadline", Hit: true}, {Text: " of the tests \x1b[31mis Monday …"},
	}
	r := control.SearchResult{Total: len(messages) + 2, MemoriesTotal: 1}
	for _, m := range messages {
		r.Hits = append(r.Hits, control.MessageHit{Message: m, Excerpt: around})
	}
	r.Memories = []control.MemoryHit{{
		Memory: control.Memory{
			File: "20260523T190100000Z-c2c3d4e5.md", From: "nat", Timestamp: letter("").Timestamp, Subject: "when", Scope: "global", Body: "the deadline is firm",
		},
		Excerpt: []control.Fragment{{Text: "when: the "}, {Text: "deadline", Hit: true}, {Text: " is firm"}},
	}}
	return r
}

// A hit was shown by the first line of its message, which rarely has what was sought.
func TestSearchShowsTheWordsAroundTheHit(t *testing.T) {
	in := letter("")
	in.ChannelName, in.Direct = "sprint", false
	unverified := letter("")
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
TIME                     FROM         WHERE   ID        TEXT
2026-05-23 21:01 +02:00  mawjs@white  sprint  b2c3d4e5  … which took longer than we thought, so the deadline is 金曜日 of next week and the deadline of the tests ␛[31mis Monday …
2026-05-23 21:01 +02:00  mawjs@white  direct  b2c3d4e5  [unverified] ↳ … which took longer than we thought, so the deadline is 金曜日 of next week and the deadline of the tests ␛[31mis Monday …
2026-05-23 21:01 +02:00  nat          memory  c2c3d4e5  when: the deadline is firm
`},
	} {
		r := newRun(t)
		r.found = someFinds(in, unverified)
		r.program.Now = func() time.Time { return letter("").Timestamp }
		if test.width > 0 {
			r.atTerminal(test.width)
			r.program.Out.Color = test.color
		}
		if code := r.do("search", "deadline"); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.name, code, r.err.String())
		}
		if diff := cmp.Diff(strings.ReplaceAll(test.want, `\x1b`, "\x1b"), "\n"+r.out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if want := "and 2 more of the messages: -n 4\n"; r.err.String() != want {
			t.Errorf("%s: said %q, want %q", test.name, r.err.String(), want)
		}
	}
}

// Where only a memory was found, that is what is shown next.
func TestSearchFindsAMemoryAlone(t *testing.T) {
	r := newRun(t)
	r.found = someFinds()
	r.found.Total = 0
	r.atTerminal(80)
	r.do("search", "deadline")
	if want := "next: parley memory show c2c3d4e5   the first, whole\n"; !strings.HasSuffix(r.out.String(), want) {
		t.Errorf("printed %q, want %q last", r.out.String(), want)
	}
}
