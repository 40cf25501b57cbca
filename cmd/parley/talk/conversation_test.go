package talk

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func TestConversations(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  string
		width int // 0: piped
		want  string
	}{
		{"thread at 80 columns", "thread b2c3d4e5", 80, `
nat@white           2026-05-23 21:01 +02:00  b2c3d4e5  who take…  read by 2 of 3
├ mawjs@white       2026-05-23 21:01 +02:00  b2c3d4e5  I do  read
│ └ nat@white       2026-05-23 21:01 +02:00  b2c3d4e5  thanks  answered
│   └ a-reviewer-…  2026-05-23 21:01 +02:00  b2c3d4e5  世界 long long long long…
└ volt@white        2026-05-23 21:01 +02:00  b2c3d4e5  [sync-check] e␛[2J
next: parley reply b2c3d4e5 TEXT   answer the last one
`},
		{"thread, piped", "thread b2c3d4e5", 0, `
nat@white                             2026-05-23T21:01:00+02:00  b2c3d4e5  who takes the deadline on friday? …  read by 2 of 3 · answered by 1
├ mawjs@white                         2026-05-23T21:01:00+02:00  b2c3d4e5  I do  read
│ └ nat@white                         2026-05-23T21:01:00+02:00  b2c3d4e5  thanks  answered
│   └ a-reviewer-of-many-things@white  2026-05-23T21:01:00+02:00  b2c3d4e5  世界 ` + strings.TrimSpace(strings.Repeat("long ", 20)) + `
└ volt@white                          2026-05-23T21:01:00+02:00  b2c3d4e5  [sync-check] e␛[2J
`},
		{"replies", "replies b2c3d4e5", 80, `
TIME        FROM       CHANNEL    ID        TEXT
2026-05-23  nat@white  adfe0356…  b2c3d4e5  who takes the deadline …
next: parley thread b2c3d4e5   the whole conversation
`},
		{"show says how far with each", "show b2c3d4e5", 80, `
from:   nat@white
to:     mawjs, volt, critic
time:   2026-05-23 21:01:00 +02:00
path:   ` + clitest.MessagePath + `
signed: valid
stage:  read by 2 of 3 · answered by 1
reach:  answered: mawjs · read: volt · not read: critic

who takes the deadline on friday?
and the notes?
`},
		{"log at 80 columns has no room for more", "log", 80, `
2026-05-23 +02:00
21:01  nat@white → mawjs, volt…  b2c3d4e5  who takes the deadline on friday? …
`},
		{"log at 120 columns", "log", 120, `
2026-05-23 +02:00
21:01  nat@white → mawjs, volt, critic  b2c3d4e5  who takes the deadline on friday? …  read by 2 of 3
`},
		{"log, piped", "log", 0, `
2026-05-23T21:01:00+02:00  nat@white → mawjs, volt, critic  b2c3d4e5  who takes the deadline on friday? …
`},
		{"send to several", "send --to mawjs,volt,critic hello", 200, `
PATH  stored · read by 2 of 3 · answered by 1
next: parley show b2c3d4e5   how far it has come
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.HasMessage(clitest.ToThree())
			r.HasMail([]control.Message{clitest.ToThree()})
			clitest.On(r, control.Thread, clitest.SomeThread())
			want := strings.ReplaceAll(test.want, "PATH  ", clitest.MessagePath+"  ")
			r.WantPrinted(t, test.width, strings.Fields(test.line), want)
		})
	}
}

func TestReach(t *testing.T) {
	none, read, answered := protocol.StageNone, protocol.StageRead, protocol.StageAnswered
	for _, test := range []struct {
		stage protocol.Stage
		each  []protocol.Stage
		want  string
	}{
		{protocol.StagePushed, []protocol.Stage{none}, ""},
		{read, []protocol.Stage{read}, "read"},
		{answered, []protocol.Stage{answered}, "answered"},
		{answered, nil, "answered"},
		{protocol.StagePushed, []protocol.Stage{none, none}, ""},
		{read, []protocol.Stage{read, none}, "read by 1 of 2"},
		{answered, []protocol.Stage{answered, read, none}, "read by 2 of 3 · answered by 1"},
		{answered, []protocol.Stage{none, none}, "answered"},
	} {
		m := control.Message{Stage: test.stage}
		for _, stage := range test.each {
			m.Addressees = append(m.Addressees, control.Addressee{Name: "x", Stage: stage})
		}
		if got := reach(m); got != test.want {
			t.Errorf("%v of %v is %q, want %q", test.stage, test.each, got, test.want)
		}
	}
}

func TestNobodyHasAnswered(t *testing.T) {
	r := newRun(t)
	r.AtTerminal(80)
	if code := r.Do("replies", "b2c3d4e5"); code != cli.ExitDone || r.Err.String() != "nobody has answered yet\n" {
		t.Errorf("exit %d, stderr %q", code, r.Err.String())
	}
	if want := "next: parley wait --re b2c3d4e5   wait for the first answer\n"; r.Out.String() != want {
		t.Errorf("printed %q, want %q", r.Out.String(), want)
	}
}

func TestThreadAsJSONHasDepths(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Thread, clitest.SomeThread())
	r.Do("thread", "b2c3d4e5", "--json")
	for _, want := range []string{`[{"path":`, `"depth":0`, `"depth":3`, `{"name":"critic","stage":""}`} {
		if !strings.Contains(r.Out.String(), want) {
			t.Errorf("no %s in %s", want, r.Out.String())
		}
	}
}

// Only the text goes to standard output, whatever was waited for (R15).
func TestWaitCommand(t *testing.T) {
	failed := clitest.Message("FAILED | no such file")
	failed.Act = protocol.ActFailed
	late := control.Errorf(control.KindTimeout, "", "nothing came")
	shown := func(as string) string {
		rec := &clitest.Recorder{}
		rec.Note("; shown", control.ShownRequest{As: as, Paths: []protocol.Path{clitest.Message("").Path}})
		return rec.Asked[0]
	}
	for _, test := range []struct {
		line     string
		reply    control.Message
		err      error
		code     int
		asked    string
		out, say string
	}{
		{line: "wait --re b2c3d4e5", reply: clitest.Message("42"), asked: `wait {"re":"b2c3d4e5","within":60000000000}` + shown(""), out: "42\n"},
		{line: "wait --from mawjs --timeout 5s", reply: clitest.Message("a\n b"), asked: `wait {"from":"mawjs","within":5000000000}` + shown(""), out: "a\n b\n"},
		{line: "wait --to nat --timeout 5s --as nat", reply: clitest.Message("hi"), asked: `wait {"as":"nat","to":"nat","within":5000000000}` + shown("nat"), out: "hi\n"},
		{
			line: "wait --to nat --timeout 5s", err: late, code: cli.ExitNothing, asked: `wait {"to":"nat","within":5000000000}`,
			say: "parley: nothing came within 5s\n",
		},
		{
			line: "wait --re b2c3d4e5 --timeout 5s", err: late, code: cli.ExitNothing, asked: `wait {"re":"b2c3d4e5","within":5000000000}; show {"path":"b2c3d4e5"}`,
			say: "parley: nothing came within 5s as an answer to b2c3d4e5, which is stored so far; it may still come, into the inbox\nhint: to wait on: parley wait --re b2c3d4e5; what is in the way: parley why b2c3d4e5\n",
		},
		{
			line: "wait --re b2c3d4e5", reply: failed, code: cli.ExitFailed, asked: `wait {"re":"b2c3d4e5","within":60000000000}` + shown(""),
			say: "mawjs@white: FAILED | no such file\n",
		},
	} {
		r := newRun(t)
		clitest.On(r, control.Wait, test.reply, test.err)
		if code := r.Do(strings.Fields(test.line)...); code != test.code {
			t.Errorf("%s: exit %d, want %d", test.line, code, test.code)
		}
		if diff := cmp.Diff([]string{test.asked, test.out, test.say}, []string{strings.Join(r.Asked, "; "), r.Out.String(), r.Err.String()}); diff != "" {
			t.Errorf("%s: asked, stdout and stderr (-want +got):\n%s", test.line, diff)
		}
	}
}

// A script that waits for an answer gets it even if no receipt can be left.
func TestAnAnswerThatCannotBeMarkedAsRead(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Wait, clitest.Message("42"))
	clitest.On(r, control.Shown, control.Marked{}, control.Errorf(control.KindUnavailable, "", "the node is stopping"))
	if code := r.Do("wait", "--re", "b2c3d4e5"); code != cli.ExitDone || r.Out.String() != "42\n" {
		t.Errorf("exit %d, printed %q", code, r.Out.String())
	}
	if want := "cannot mark it as read: the node is stopping\n"; r.Err.String() != want {
		t.Errorf("said %q, want %q", r.Err.String(), want)
	}
}

// A message that an agent wrote because of another message stands below that one, and says to whom
// it went.
func TestThreadShowsWhatWasAskedBecauseOfAMessage(t *testing.T) {
	r := newRun(t)
	asked := clitest.Message("can I take Friday?")
	asked.From, asked.To = "mawjs", []string{"volt"}
	clitest.On(r, control.Thread, append(clitest.SomeThread()[:2], control.ThreadMessage{Message: asked, Depth: 1}))
	r.AtTerminal(100)
	r.Do("thread", "b2c3d4e5")
	want := "└ mawjs@white → volt  2026-05-23 21:01 +02:00  b2c3d4e5  can I take Friday?"
	if !strings.Contains(r.Out.String(), want) || strings.Contains(r.Out.String(), "├ mawjs@white →") {
		t.Errorf("printed\n%s\nwant %s", r.Out.String(), want)
	}
}
