package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestWrongUsage(t *testing.T) {
	for _, test := range []struct {
		line  []string
		stdin string
		want  string
	}{
		{line: []string{"hey"}, want: "parley: parley hey needs an agent and a text\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs"}, want: "parley: parley hey needs an agent and a text\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", ""}, want: "parley: the text is empty\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", "-"}, stdin: "\n\n", want: "parley: the text is empty\nhint: parley hey --help\n"},
		{
			line: []string{"hey", "mawjs", "\xff"},
			want: "parley: the text is not valid UTF-8: messages are text; send a file by its path or as base64\nhint: parley hey --help\n",
		},
		{
			line: []string{"hey", "mawjs", "-"}, stdin: strings.Repeat("x", cli.MaxText+1),
			want: "parley: the text is larger than 4 MiB\nhint: parley hey --help\n",
		},
		{line: []string{"hey", "-5", "mawjs"}, want: "parley: parley hey has no flag -5; a text that begins with a dash stands behind whom it is for, or behind \"--\"\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", "hello", "--wiat", "10s"}, want: "parley: parley hey has no flag --wiat; the nearest is --wait; if it belongs to the text, put \"--\" before it\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", "--re", "hello"}, want: "parley: parley hey has no flag --re; it is a flag of parley send; if it belongs to the text, put \"--\" before it\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", "hello", "-json"}, want: "parley: parley hey has no flag -json; with two dashes it has: --json; if it belongs to the text, put \"--\" before it\nhint: parley hey --help\n"},
		{line: []string{"hey", "mawjs", "hello", "--wait"}, want: "parley: --wait needs a value\nhint: parley hey --help\n"},
		{line: []string{"ls", "-x"}, want: "parley: parley ls has no flag -x\nhint: parley ls --help\n"},
		{line: []string{"help", "hots"}, want: "parley: parley has no command \"hots\"; the nearest is logs\nhint: parley logs --help\n"},
		{line: []string{"help", "hosts"}, want: "parley: parley has no command \"hosts\"; there is parley fleet hosts\nhint: parley fleet hosts --help\n"},
		{line: []string{"help", "host", "lst"}, want: "parley: parley fleet has no command \"lst\"; the nearest is list\nhint: parley fleet list --help\n"},
		{line: []string{"help", "hey", "you"}, want: "parley: parley hey has no command \"you\"\nhint: parley hey --help\n"},
		{line: []string{"init", "-alias", "white"}, want: "parley: parley init has no flag -alias; with two dashes it has: --alias\nhint: parley init --help\n"},
		{line: []string{"init", "--bus_ulr", "x"}, want: "parley: parley init has no flag --bus_ulr; the nearest is --bus-url\nhint: parley init --help\n"},
		{line: []string{"init", "--alias"}, want: "parley: --alias needs a value\nhint: parley init --help\n"},
		{line: []string{"init", "--remote", ""}, want: "parley: --remote needs a value, and is empty\nhint: parley init --help\n"},
		{line: []string{"join", "x.git", "--alias="}, want: "parley: --alias needs a value, and is empty\nhint: parley join --help\n"},
		{line: []string{"log", "-n"}, want: "parley: -n (--last) needs a value\nhint: parley log --help\n"},
		{line: []string{"log", "-n", "x"}, want: "parley: -n (--last) needs a whole number, not \"x\"\nhint: parley log --help\n"},
		{line: []string{"status", "--fleet=perhaps"}, want: "parley: --fleet needs true or false, or no value at all, not \"perhaps\"\nhint: parley status --help\n"},
		{line: []string{"hey", "mawjs", "hi", "--wait", "0s"}, want: "parley: --wait needs a time above zero, such as 30s\nhint: parley hey --help\n"},
		{
			line: []string{"hey", "mawjs", "hi", "--wait", "soon"},
			want: "parley: --wait: \"soon\" is not a length of time: write it with its unit, such as 30s, 5m, 2h or 7d\nhint: parley hey --help\n",
		},
		{line: []string{"hye", "mawjs"}, want: "parley: parley has no command \"hye\"; the nearest is hey\nhint: parley hey --help\n"},
		{line: []string{"verify"}, want: "parley: parley has no command \"verify\"; there is parley frame verify and parley record verify\nhint: parley frame verify --help\n"},
		{line: []string{"hey", "a,b", "hi"}, want: "parley: cannot say that to \"a,b\": hey speaks to one\nhint: parley send --to 'a,b' TEXT says it to each of them; parley broadcast TEXT to all\n"},
		{line: []string{"xyzzy"}, want: "parley: parley has no command \"xyzzy\"\nhint: parley --help\n"},
		{line: []string{"inbox", "mawjs"}, want: "parley: parley inbox takes no words, but \"mawjs\" was given\nhint: parley inbox --help\n"},
		{line: []string{"show", "a", "b"}, want: "parley: parley show takes only the path of a message, but \"b\" was given too\nhint: parley show --help\n"},
		{line: []string{"log", "-n", "-1"}, want: "parley: -n needs a number of messages, 0 for all\nhint: parley log --help\n"},
		{line: []string{"agent", "rm", "x"}, want: "parley: parley agent has no command \"rm\"\nhint: parley agent --help\n"},
		{line: []string{"agent", "add", "x"}, want: "parley: parley agent add needs one of --exec 'CMD …', --preset PRESET and --inbox\nhint: parley agent add --help\n"},
		{
			line: []string{"agent", "add", "x", "--inbox", "--exec", "cat"},
			want: "parley: parley agent add needs one of --exec 'CMD …', --preset PRESET and --inbox\nhint: parley agent add --help\n",
		},
		{line: []string{"agent", "add", "--inbox"}, want: "parley: parley agent add needs the agent's name\nhint: parley agent add --help\n"},
		{
			line: []string{"agent", "add", "--preset", "claude", "--exec", "cat"},
			want: "parley: parley agent add needs one of --exec 'CMD …', --preset PRESET and --inbox\nhint: parley agent add --help\n",
		},
		{line: []string{"agent", "test"}, want: "parley: parley agent test needs the agent's name\nhint: parley agent test --help\n"},
		{line: []string{"agent", "pause", "a", "b"}, want: "parley: parley agent pause takes only the agent's name, but \"b\" was given too\nhint: parley agent pause --help\n"},
		{line: []string{"send", "hello"}, want: "parley: parley send needs --to or --re: whom is it for?\nhint: parley send --help\n"},
		{line: []string{"send", "--to", " , ", "hello"}, want: "parley: parley send needs --to or --re: whom is it for?\nhint: parley send --help\n"},
		{line: []string{"send", "--to", "mawjs"}, want: "parley: parley send needs a text\nhint: parley send --help\n"},
		{line: []string{"replies"}, want: "parley: parley replies needs the path of a message\nhint: parley replies --help\n"},
		{line: []string{"thread"}, want: "parley: parley thread needs the path of a message\nhint: parley thread --help\n"},
		{line: []string{"prompt"}, want: "parley: parley prompt needs the id or path of a message\nhint: parley prompt --help\n"},
		{line: []string{"wait"}, want: "parley: parley wait needs one of --re, --from and --to\nhint: parley wait --help\n"},
		{line: []string{"wait", "--re", "x", "--to", "y"}, want: "parley: parley wait needs one of --re, --from and --to\nhint: parley wait --help\n"},
		{line: []string{"wait", "--to", "y", "--timeout", "0s"}, want: "parley: --timeout needs a time above zero, such as 30s\nhint: parley wait --help\n"},
		{line: []string{"channel", "new"}, want: "parley: parley channel new needs a name\nhint: parley channel new --help\n"},
		{line: []string{"channel", "new", "x", "--about", "-"}, want: "parley: the text is empty\nhint: parley channel new --help\n"},
		{line: []string{"memory", "add", "text"}, want: "parley: parley memory add needs --subject: what is it about?\nhint: parley memory add --help\n"},
		{line: []string{"memory", "supersede", "b2c3d4e5"}, want: "parley: parley memory supersede needs a memory and a text\nhint: parley memory supersede --help\n"},
		{line: []string{"search"}, want: "parley: parley search needs words, or one of --from, --channel and --since\nhint: parley search --help\n"},
		{line: []string{"search", "x", "-n", "0"}, want: "parley: -n needs a number of messages above zero\nhint: parley search --help\n"},
		{
			line: []string{"search", "--since", "soon"},
			want: "parley: --since: \"soon\" is neither a day such as 2026-05-23 nor how long ago, such as 12h or 7d\nhint: parley search --help\n",
		},
		{line: []string{"inbox", "-n", "-1"}, want: "parley: -n needs a number of messages, 0 for all\nhint: parley inbox --help\n"},
		{line: []string{"wake", "a", "b"}, want: "parley: parley fleet sync takes only one agent, but \"b\" was given too\nhint: parley fleet sync --help\n"},
		{
			line: []string{"hey", "mawjs", "--json"},
			want: `{"error":"parley hey needs an agent and a text","kind":"usage","hint":"parley hey --help"}` + "\n",
		},
		{line: []string{"hey", "--jsno", "--json"}, want: `{"error":"parley hey has no flag --jsno; the nearest is --json","kind":"usage","hint":"parley hey --help"}` + "\n"},
	} {
		r := newRun(t)
		r.Program.Stdin = strings.NewReader(test.stdin)
		if code := r.Do(test.line...); code != cli.ExitUsage {
			t.Errorf("%q: exit %d, want %d", test.line, code, cli.ExitUsage)
		}
		if diff := cmp.Diff(test.want, r.Err.String()); diff != "" {
			t.Errorf("%q says (-want +got):\n%s", test.line, diff)
		}
		if len(r.Asked) > 0 || r.Out.Len() > 0 {
			t.Errorf("%q: asked the node %q and printed %q", test.line, r.Asked, r.Out.String())
		}
	}
}

// On a second machine, "init" would begin a fleet of its own. So whoever has no node yet is told of
// "join", whatever they typed.
func TestWithoutANodeJoinIsNamed(t *testing.T) {
	for _, line := range []string{"", "who", "up", "up -d", "logs", "config show", "config check", "fleet remote show", "doctor", "hey mawjs hello", "agent list"} {
		r := newRun(t)
		r.Failure, r.Env["HOME"] = control.Errorf(control.KindUnavailable, "parley up -d", "no node is running for here"), t.TempDir()
		r.Do(strings.Fields(line)...)
		if said := r.Out.String() + r.Err.String(); !strings.Contains(said, "parley join") {
			t.Errorf("parley %s says %q, and does not name parley join", line, said)
		}
	}
}

func TestFailures(t *testing.T) {
	down := control.Errorf(control.KindUnavailable, "parley up -d", "no node is running for here")
	for _, test := range []struct {
		name  string
		err   error
		setUp bool
		json  bool
		code  int
		want  string
	}{
		{name: "no home yet", err: down, code: cli.ExitFailed, want: "parley: cannot find a node: there is no node at HOME yet\nhint: parley --home HOME init; on a further machine of a fleet: parley --home HOME join\n"},
		{name: "no node", err: down, setUp: true, code: cli.ExitFailed, want: "parley: no node is running for here\nhint: parley --home HOME up -d\n"},
		{
			name: "as JSON", err: down, setUp: true, json: true, code: cli.ExitFailed,
			want: `{"error":"no node is running for here","kind":"unavailable","hint":"parley --home HOME up -d"}` + "\n",
		},
		{name: "a plain error", err: errors.New("cannot do it"), code: cli.ExitFailed, want: "parley: cannot do it\n"},
		{name: "a refusal", err: control.Errorf(control.KindRefused, "", "cannot send"), code: cli.ExitFailed, want: "parley: cannot send\n"},
		{
			name: "a command for another home", err: control.Errorf(control.KindRefused, "parley --home DIR join URL", "cannot enter"), setUp: true,
			code: cli.ExitFailed, want: "parley: cannot enter\nhint: parley --home DIR join URL\n",
		},
		{
			name: "a command line of another node", err: control.Errorf(control.KindRefused, "process 7 (parley --home /h/share/parley up -d): end it, or parley stop", "cannot listen"), setUp: true,
			code: cli.ExitFailed, want: "parley: cannot listen\nhint: process 7 (parley --home /h/share/parley up -d): end it, or parley --home HOME stop\n",
		},
		{name: "usage that the node finds", err: control.Errorf(control.KindUsage, "", "cannot send"), code: cli.ExitUsage, want: "parley: cannot send\n"},
		{name: "text of strangers", err: control.Errorf(control.KindNotFound, "a\x1b", "cannot find \x1b[2J"), code: cli.ExitFailed, want: "parley: cannot find ␛[2J\nhint: a␛\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.Failure = test.err
			home := r.Env["PARLEY_HOME"]
			if test.setUp {
				if err := os.WriteFile(configs.Home{Dir: home}.Config(), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			line := []string{"show", "b2c3d4e5", "--home", home}
			if test.json {
				line = append(line, "--json")
			}
			if code := r.Do(line...); code != test.code {
				t.Errorf("exit %d, want %d", code, test.code)
			}
			got := strings.ReplaceAll(r.Err.String(), cli.ShellWord(home), "HOME")
			if diff := cmp.Diff(test.want, got); diff != "" || r.Out.Len() > 0 {
				t.Errorf("stdout %q, stderr (-want +got):\n%s", r.Out.String(), diff)
			}
		})
	}
}

// brokenWriter writes like a full disk.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullDiskIsNoticed(t *testing.T) {
	for _, line := range [][]string{{"version"}, {"log"}, {"show", "b2c3d4e5"}, {"show", "b2c3d4e5", "--json"}} {
		r := newRun(t)
		r.HasMail([]control.Message{clitest.Message("hello")})
		r.Program.Out.Writer = brokenWriter{}
		if code := r.Do(line...); code != cli.ExitFailed || !strings.Contains(r.Err.String(), "no space left") {
			t.Errorf("%q: exit %d, %q", line, code, r.Err.String())
		}
	}
}

func TestFollowingEndsWellWhenInterrupted(t *testing.T) {
	r := newRun(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.Ctx = ctx
	r.By(control.Log.By(func(ctx context.Context, _ control.LogRequest, _ func(control.Message) error) error {
		cancel()
		return ctx.Err()
	}))
	if code := r.Do("log", "--follow"); code != cli.ExitDone || r.Err.Len() > 0 {
		t.Errorf("exit %d, stderr %q", code, r.Err.String())
	}
}

// It prevents: a hint that is longer than the terminal is wide breaks within a word.
func TestHintsFitTheTerminal(t *testing.T) {
	r := newRun(t)
	r.Failure = control.Errorf(control.KindNotFound, "did you mean echo? see: parley who; hey and send write to it all the same with --anyway", "nobody is called %q", "ecko")
	r.AtTerminal(80)
	r.Do("hey", "ecko", "hello")
	want := "parley: nobody is called \"ecko\"\nhint: did you mean echo? see: parley who; hey and send write to it all the same\nwith --anyway\n"
	if r.Err.String() != want {
		t.Errorf("said %q, want %q", r.Err.String(), want)
	}
}
