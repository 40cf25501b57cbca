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

// asks returns a request to send, as the recorder writes it down.
func asks(r control.SendRequest) string {
	r.HeardWithin = HeardWithin
	rec := &clitest.Recorder{}
	rec.Note("send", r)
	return rec.Asked[0]
}

func TestCommandLinesThatSend(t *testing.T) {
	for _, test := range []struct {
		line  []string
		stdin string
		env   string // PARLEY_AGENT
		want  control.SendRequest
	}{
		{line: []string{"hey", "mawjs", "hello", "there"}, want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "hello there"}},
		{line: []string{"hey", "mawjs", "two  spaces"}, want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "two  spaces"}},
		{line: []string{"hey", "mawjs", "hi", "--as", "nat"}, want: control.SendRequest{As: "nat", To: []string{"mawjs"}, Act: "hey", Body: "hi"}},
		{line: []string{"hey", "--as=nat", "mawjs", "hi"}, env: "volt", want: control.SendRequest{As: "nat", To: []string{"mawjs"}, Act: "hey", Body: "hi"}},
		{line: []string{"hey", "mawjs", "hi"}, env: "volt", want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "hi"}},
		{line: []string{"hey", "mawjs", "--", "-5", "--as", "x"}, want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "-5 --as x"}},
		{line: []string{"hey", "mawjs", "-"}, stdin: "one\n\n two\n\n", want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "one\n\n two"}},
		{line: []string{"hey", "mawjs", "-", "dash"}, stdin: "unread", want: control.SendRequest{To: []string{"mawjs"}, Act: "hey", Body: "- dash"}},
		{line: []string{"wormhole", "white:mawjs", "hi"}, want: control.SendRequest{To: []string{"white:mawjs"}, Act: "hey", Cross: true, Body: "hi"}},
		{line: []string{"broadcast", "all", "hands"}, want: control.SendRequest{To: []string{"all"}, Act: "broadcast", Body: "all hands"}},
		{line: []string{"send", "--to", "mawjs, volt", "--to", "critic", "who?"}, want: control.SendRequest{To: []string{"mawjs", "volt", "critic"}, Body: "who?"}},
		{
			line: []string{"send", "--to", "all", "--channel", "π estimation", "--as", "nat", "--re", "b2c3d4e5", "--anyway", "-"}, stdin: "a\nb\n",
			want: control.SendRequest{As: "nat", To: []string{"all"}, Channel: "π estimation", Re: "b2c3d4e5", Anyway: true, Body: "a\nb"},
		},
		{line: []string{"send", "--re", "b2c3d4e5", "yes"}, want: control.SendRequest{Re: "b2c3d4e5", Body: "yes"}},
		{line: []string{"reply", "b2c3d4e5", "yes"}, want: control.SendRequest{Re: "b2c3d4e5", Act: "reply", Body: "yes"}},
		{line: []string{"reply", clitest.MessagePath, "-"}, stdin: "ja\r\n", want: control.SendRequest{Re: clitest.MessagePath, Act: "reply", Body: "ja\r"}},
	} {
		r := newRun(t)
		r.Program.Stdin = strings.NewReader(test.stdin)
		r.Env["PARLEY_AGENT"] = test.env
		r.WantAsked(t, test.line, asks(test.want))
	}
}

func TestSentLine(t *testing.T) {
	for _, test := range []struct {
		stage protocol.Stage
		heard []protocol.Name
		want  string
	}{
		{protocol.StageNone, nil, "stored"},
		{protocol.StageStored, nil, "stored"},
		{protocol.StageHeard, nil, "stored · heard"},
		{protocol.StageHeard, []protocol.Name{"blue", "white"}, "stored · heard by blue, white"},
		{protocol.StageRecorded, []protocol.Name{"white"}, "stored · heard by white · recorded"},
		{protocol.StageAnswered, nil, "stored · answered"},
		{protocol.StageHeard, []protocol.Name{"white"}, "stored · heard by white · woken"},
		{protocol.StageRead, []protocol.Name{"white"}, "stored · heard by white · read"},
	} {
		r := newRun(t)
		m := clitest.Message("hello")
		m.Stage, m.Heard = test.stage, test.heard
		m.Addressees = []control.Addressee{{Name: "mawjs", Stage: test.stage, Woken: strings.HasSuffix(test.want, "woken")}}
		r.HasMessage(m)
		code := r.Do("hey", "mawjs", "hi")
		if want := clitest.MessagePath + "  " + test.want + "\n"; code != cli.ExitDone || r.Out.String() != want {
			t.Errorf("exit %d, printed %q, want %q", code, r.Out.String(), want)
		}
	}
}

func TestSentAtATerminalNamesTheNextCommand(t *testing.T) {
	r := newRun(t)
	r.AtTerminal(80)
	r.Do("hey", "mawjs", "hi", "--home", "/tmp/my home")
	want := "b2c3d4e5  stored\nnext: parley --home '/tmp/my home' show b2c3d4e5   how far it has come\n"
	if diff := cmp.Diff(want, r.Out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// Somebody who writes to an agent that cannot be started is told so, and why.
func TestAStalledAgentIsToldOf(t *testing.T) {
	got := delay(control.Agent{Name: "mawjs", AgentWork: control.AgentWork{Failing: 1, Stalled: "no room\x1b[2J"}}, cli.View{})
	if want := "cannot be run at the moment (no room␛[2J): its mail waits, and it is tried again"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// Whoever writes to a host that is away, or to an agent that is not there, is told so at once, and where
// the answer will come.
func TestWhoIsNotThereIsToldOf(t *testing.T) {
	seen := time.Date(2026, 5, 22, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		to   []string
		want string
	}{
		{[]string{"volt"}, "volt is on black, which is away since 2026-05-22T11:00:00+02:00: it hears this when that host is back\n"},
		{[]string{"nat@grey"}, "nat@grey is on grey, which is reached by git alone: it hears this when that host next fetches\n"},
		{[]string{"both"}, ""},
		{[]string{"both@black"}, "both@black is on black, which is away since 2026-05-22T11:00:00+02:00: it hears this when that host is back\n"},
		{[]string{"far"}, "far is not there: it hears this when it next asks for its mail\n"},
		{[]string{"ghost"}, "ghost is nobody's name at the moment: whoever is called so one day hears this\n"},
		{[]string{"mawjs"}, "mawjs is not there: it hears this when it next asks for its mail\n"},
		{[]string{"mawjs@white", "seat"}, "mawjs is not there: it hears this when it next asks for its mail\nseat has no session open: it hears this when one is opened\n"},
		{[]string{"woken"}, ""},
		{[]string{"calc"}, "calc cannot start bc: it is in no folder of the node's PATH; to change what it runs: parley agent set calc --exec 'PROGRAM …'\n"},
		{[]string{protocol.All}, ""},
	} {
		for _, act := range []protocol.Act{protocol.ActHey, protocol.ActNote} {
			r := newRun(t)
			m := clitest.Message("hi")
			m.To, m.Act = test.to, act
			clitest.On(r, control.Send, m)
			clitest.On(r, control.Agents.Verb, []control.Agent{
				{Name: "mawjs", Door: "inbox", Presence: control.AgentAway}, {Name: "seat", Door: "inbox", Presence: control.AgentAway},
				{Name: "woken", Door: "inbox", Presence: control.AgentAway, Wake: "./wake"},
				{Name: "calc", Door: "exec", Presence: control.AgentIdle, AgentWork: control.AgentWork{Missing: "cannot start bc: it is in no folder of the node's PATH"}},
			})
			clitest.On(r, control.Sessions.Verb, []control.Session{{Agent: "seat", State: control.AgentAway}})
			clitest.On(r, control.List, []control.Participant{
				{Name: "volt", Host: "black", State: control.HostAway, Since: seen}, {Name: "nat", Host: "grey", State: control.HostGit}, {Name: "nat", Host: "white", Live: true},
				{Name: "both", Host: "black", State: control.HostAway, Since: seen}, {Name: "both", Host: "pur", Live: true, State: control.HostLive},
				{Name: "far", Host: "pur", Live: true, State: control.HostLive, Presence: control.AgentAway},
			})
			want := test.want
			if want != "" && act != protocol.ActNote {
				want += "an answer comes into your inbox: parley inbox --as bo\n"
			}
			if code := r.Do("hey", "x", "hi", "--as", "bo"); code != cli.ExitDone || r.Err.String() != want {
				t.Errorf("%v %s: exit %d, said %q, want %q", test.to, act, code, r.Err.String(), want)
			}
		}
	}
}

// Whoever writes to all is told before that whose commands it runs: nobody expects a greeting to do so.
func TestWritingToAllSaysWhatItRuns(t *testing.T) {
	runs := "this runs here: calc (bc -l); on other hosts it goes to: volt@black; with --fyi it runs none\n"
	for line, want := range map[string]string{
		"broadcast hi": runs, "send --to all hi": runs, "hey all hi": runs, "broadcast --fyi hi": "", "send --to all --channel sprint hi": "", "hey calc hi": "", "broadcast hi --json": "",
	} {
		r := newRun(t)
		m := clitest.Message("hi")
		m.To = []string{protocol.All}
		clitest.On(r, control.Send, m)
		clitest.On(r, control.Agents.Verb, []control.Agent{
			{Name: "calc", Door: "exec", Command: "bc -l"}, {Name: "rests", Door: "exec", Command: "cat", AgentWork: control.AgentWork{Paused: true}},
			{Name: "picky", Door: "exec", Command: "cat", WakesOn: []string{"tell"}}, {Name: "mawjs", Door: "inbox"},
		})
		clitest.On(r, control.List, []control.Participant{
			{Name: "calc", Kind: "agent", Host: "white", Here: true}, {Name: "calc", Kind: "agent", Host: "black"}, {Name: "volt", Kind: "agent", Host: "black"}, {Name: "bo", Kind: "human", Host: "black"},
		})
		if code := r.Do(strings.Fields(line)...); code != cli.ExitDone || r.Err.String() != want {
			t.Errorf("%s: exit %d, said %q, want %q", line, code, r.Err.String(), want)
		}
		clitest.On(r, control.Send, m, control.Errorf(control.KindRefused, "", "no room")) // what was said before it stands there
		r.Err.Reset()
		if code := r.Do(strings.Fields(line)...); code == cli.ExitDone || !strings.HasPrefix(r.Err.String(), want) {
			t.Errorf("%s: exit %d, said %q, want %q first", line, code, r.Err.String(), want)
		}
	}
}

func TestWait(t *testing.T) {
	state := clitest.MessagePath + "  stored\n"
	failed := clitest.Message("the command printed nothing")
	failed.Act = protocol.ActFailed
	for _, test := range []struct {
		name     string
		reply    control.Message
		err      error
		terminal bool
		code     int
		out, say string
	}{
		{name: "the text alone, unchanged", reply: clitest.Message("42\x1b[31m\n  x"), out: "42\x1b[31m\n  x\n", say: state},
		{name: "visible at a terminal", reply: clitest.Message("42\x1b[31m"), terminal: true, out: "42␛[31m\n", say: "b2c3d4e5  stored\n"},
		{name: "a failed agent", reply: failed, code: cli.ExitFailed, say: state + "mawjs@white: the command printed nothing\n"},
		{
			name: "nothing", err: control.Errorf(control.KindTimeout, "", "nothing came"), code: cli.ExitNothing,
			say: state + "parley: nothing came within 10s as an answer to " + clitest.MessagePath + ", which is stored so far; it may still come, into the inbox\nhint: to wait on: parley wait --re " + clitest.MessagePath + "; what is in the way: parley why " + clitest.MessagePath + "\n",
		},
		{
			name: "a node that stops", err: control.Errorf(control.KindUnavailable, "", "the node is stopping"), code: cli.ExitFailed,
			say: state + "parley: the node is stopping\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.Wait, test.reply, test.err)
			clitest.On(r, control.ShowStatus.Verb, control.Status{Human: "mawjs"}) // who asks
			if test.terminal {
				r.AtTerminal(80)
			}
			if code := r.Do("hey", "mawjs", "hi", "--wait", "10s"); code != test.code {
				t.Errorf("exit %d, want %d", code, test.code)
			}
			if diff := cmp.Diff([]string{test.out, test.say}, []string{r.Out.String(), r.Err.String()}); diff != "" {
				t.Errorf("stdout and stderr (-want +got):\n%s", diff)
			}
			if want := `wait {"as":"mawjs","re":"` + clitest.MessagePath + `","within":10000000000}`; r.Asked[1] != want {
				t.Errorf("asked %q, want %q", r.Asked[1], want)
			}
		})
	}
}

// With --json a script gets the message that it sent beside the answer. It prevents: a script gets
// the answer alone, or nothing at all if no answer comes, so that it cannot even wait for it.
func TestWaitAsJSON(t *testing.T) {
	asJSON := func(body string) string {
		return `{"path":"` + clitest.MessagePath + `","channel":"adfe0356-0f71-49a9-80a0-fb76883cd974","channel_name":"","direct":true,"from":"mawjs","to":["nat"],` +
			`"timestamp":"2026-05-23T19:01:00Z","type":"text","act":"hey","re":"","host":"white","run":"0badcafe","seq":7,` +
			`"stage":"stored","heard":[],"addressees":[],"signature":"valid","body":"` + body + `"}`
	}
	late := control.Errorf(control.KindTimeout, "", "nothing came")
	for _, test := range []struct {
		err  error
		code int
		want string
		say  string
	}{
		{want: `{"question":` + asJSON("hello") + `,"answer":` + asJSON("42") + "}\n"},
		{
			err: late, code: cli.ExitNothing, want: `{"question":` + asJSON("hello") + "}\n",
			say: `{"error":"nothing came within 1s as an answer to ` + clitest.MessagePath + `, which is stored so far; it may still come, into the inbox","kind":"timeout","hint":"to wait on: parley wait --re ` + clitest.MessagePath + `; what is in the way: parley why ` + clitest.MessagePath + `"}` + "\n",
		},
	} {
		r := newRun(t)
		clitest.On(r, control.Wait, clitest.Message("42"), test.err)
		if code := r.Do("hey", "mawjs", "hi", "--wait", "1s", "--json"); code != test.code {
			t.Errorf("exit %d, want %d", code, test.code)
		}
		if diff := cmp.Diff([]string{test.want, test.say}, []string{r.Out.String(), r.Err.String()}); diff != "" {
			t.Errorf("printed and said (-want +got):\n%s", diff)
		}
	}
}
