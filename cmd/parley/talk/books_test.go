package talk

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestBooksForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  string
		width int // 0: piped
		want  string
	}{
		{"channel list at 80 columns", "channel list", 80, `
CHANNEL               ID                                    MESSAGES  LAST
sprint                adfe0356-0f71-49a9-80a0-fb76883cd974  12345     2026-05-23
議事録 and release …  0dfe0356-0f71-49a9-80a0-fb76883cd974  1         2026-05-23
(a-reviewer-of-many…  1dfe0356-0f71-49a9-80a0-fb76883cd974  0
next: parley channel show sprint   what it is for and who takes part
`},
		{"channel list, piped", "channel list", 0, `
CHANNEL                           ID                                    MESSAGES  LAST                       PART OF
sprint                            adfe0356-0f71-49a9-80a0-fb76883cd974  12345     2026-05-23T21:01:00+02:00  議事録 and release notes
議事録 and release notes          0dfe0356-0f71-49a9-80a0-fb76883cd974  1         2026-05-23T21:01:00+02:00
(a-reviewer-of-many-things, nat)  1dfe0356-0f71-49a9-80a0-fb76883cd974  0
`},
		{"channel show", "channel show sprint", 80, `
name:     sprint
id:       adfe0356-0f71-49a9-80a0-fb76883cd974
part of:  議事録 and release notes
has:      (a-reviewer-of-many-things, nat)
made by:  nat, 2026-05-23 21:01:00 +02:00
with:     mawjs, nat, volt
holds:    12345 messages, the last 2026-05-23 21:01:00 +02:00

What we do
this ␛[2Jweek
next: parley attach sprint   watch it live
`},
		{"channel new", "channel new sprint", 80, `
adfe0356-0f71-49a9-80a0-fb76883cd974  sprint
next: parley send --channel sprint --to all TEXT   say something there
`},
		{"memory list at 80 columns", "memory list --all", 80, `
TIME        FROM        ID        SCOPE                     SUBJECT
2026-05-23  nat         b2c3d4e5                            language for to…
2026-05-23  a-reviewe…  c2c3d4e5  議事録 and …  superseded  dead␛line
next: parley memory show c2c3d4e5   the last one, whole
`},
		{"memory list, piped", "memory list --all", 0, `
TIME                       FROM                       ID        SCOPE                     TAGS                   SUBJECT
2026-05-23T21:01:00+02:00  nat                        b2c3d4e5                            tools, go              language for tools and for all else that we build here
2026-05-23T21:01:00+02:00  a-reviewer-of-many-things  c2c3d4e5  議事録 and release notes             superseded  dead␛line
`},
		{"memory show", "memory show b2c3d4e5", 60, `
subject:       language for tools and for all else that we
               build here
from:          nat
via:           parley
time:          2026-05-23 21:01:00 +02:00
scope:         global
tags:          tools, go
session:       7f3a2b1c
file:          20260523T190100000Z-b2c3d4e5.md
supersedes:    20260523T190000000Z-a2c3d4e5.md

Go,
␛nothing else
`},
		{"memory add", "memory add --subject x y", 80, `
20260523T190100000Z-b2c3d4e5.md  recorded
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.SomeBooks(t)
			r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
		})
	}
}

func TestEmptyBooksNameTheFirstStep(t *testing.T) {
	for _, test := range []struct{ line, say, next string }{
		{"channel list", "nobody has said anything yet\n", "next: parley channel new NAME   make a channel with a name\n"},
		{"memory list", "nothing is remembered\n", "next: parley memory add --subject LINE TEXT   write the first\n"},
	} {
		r := newRun(t)
		r.AtTerminal(80)
		if code := r.Do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d", test.line, code)
		}
		if diff := cmp.Diff([]string{test.say, test.next}, []string{r.Err.String(), r.Out.String()}); diff != "" {
			t.Errorf("%s: stderr and stdout (-want +got):\n%s", test.line, diff)
		}
	}
}

func TestCommandLinesOfBooks(t *testing.T) {
	for _, test := range []struct {
		line  []string
		stdin string
		want  string
	}{
		{line: []string{"channel", "new", "sprint"}, want: `new-channel {"name":"sprint"}`},
		{
			line: []string{"channel", "new", "π", "--parent", "sprint", "--about", "-", "--as", "nat"}, stdin: "Throw\n\ndarts.\n",
			want: `new-channel {"as":"nat","name":"π","parent":"sprint","about":"Throw\n\ndarts."}`,
		},
		{
			line: []string{"memory", "add", "--subject", "s", "--scope", "sprint", "--tag", "a", "--tag", "b,c", "--session", "7f", "Go", "only"},
			want: `add-memory {"subject":"s","scope":"sprint","tags":["a","b,c"],"session":"7f","body":"Go only"}`,
		},
		{line: []string{"memory", "add", "--subject", "s", "-"}, stdin: "---\nx\n", want: `add-memory {"subject":"s","body":"---\nx"}`},
		{
			line: []string{"memory", "supersede", "b2c3d4e5", "Go", "and", "SQL", "--subject", "t"},
			want: `add-memory {"subject":"t","supersedes":"b2c3d4e5","body":"Go and SQL"}`,
		},
		{line: []string{"memory", "list"}, want: `memories {}`},
		{
			line: []string{"memory", "list", "--scope", "global", "--subject", "s", "--tag", "a", "--tag", "b", "--all"},
			want: `memories {"scope":"global","subject":"s","tags":["a","b"],"all":true}`,
		},
		{line: []string{"memory", "show", "b2c3d4e5"}, want: `memory {"file":"b2c3d4e5"}`},
		{line: []string{"search", "release", "-n", "3", "--", "-notes"}, want: `search {"words":"release -notes","limit":3}`},
		{
			line: []string{"search", "--from", "mawjs", "--channel", "sprint", "--since", "2026-05-01"},
			want: `search {"from":"mawjs","channel":"sprint","since":"2026-05-01T00:00:00+02:00","limit":20}`,
		},
	} {
		r := newRun(t)
		r.Program.Stdin = strings.NewReader(test.stdin)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}

func TestParseSince(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 5, 23, 21, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"3d":               "2026-05-20T21:00:00+02:00",
		"0d":               "2026-05-23T21:00:00+02:00",
		"12h":              "2026-05-23T09:00:00+02:00",
		"1h30m":            "2026-05-23T19:30:00+02:00",
		"2026-05-01":       "2026-05-01T00:00:00+02:00",
		"2026-05-01 10:30": "2026-05-01T10:30:00+02:00",
		// as screens show times
		"2026-05-01 10:30 +05:00":    "2026-05-01T10:30:00+05:00",
		"2026-05-01 10:30:09 +05:00": "2026-05-01T10:30:09+05:00",
		"2026-05-01T10:30:05":        "2026-05-01T10:30:05+02:00",
		"2026-05-01T10:30:05Z":       "2026-05-01T10:30:05Z",
	} {
		got, err := ParseSince(text, now, zone)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %s (%v), want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"yesterday", "-3d", "-12h", "999999999d", "d", "2026-13-01", "3"} {
		if got, err := ParseSince(text, now, zone); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestNothingFoundIsNoFailure(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Search, control.SearchResult{Pending: 3})
	if code := r.Do("search", "deadline"); code != cli.ExitDone || r.Out.Len() > 0 {
		t.Errorf("exit %d, printed %q", code, r.Out.String())
	}
	if want := "3 messages are still being indexed: ask again in a moment\nnothing was found\n"; r.Err.String() != want {
		t.Errorf("said %q, want %q", r.Err.String(), want)
	}
}
