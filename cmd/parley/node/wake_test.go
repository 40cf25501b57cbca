package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestWakeForPeople(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Wake, control.Woken{Remote: "git@example.org:record\x1b.git", Arrived: 2, Agents: clitest.ServedHere()})
	r.WantPrinted(t, 80, []string{"wake"}, `
looked at git@example.org:record␛.git: 2 messages came
AGENT   DOOR   STATE   WAITING  RUNNING  INPUT   COMMAND        FOLDER
claude  exec           2        1        prompt  claude --pri…  …-of-some-length
mawjs   inbox  paused  3        0                               /home/nat
`)
}

func TestCommandLinesThatWake(t *testing.T) {
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"wake"}, `wake {}`},
		{[]string{"wake", "mawjs"}, `wake {"agent":"mawjs"}`},
	} {
		r := newRun(t)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}

func TestWakeSaysWhatItFound(t *testing.T) {
	for _, test := range []struct {
		woken    control.Woken
		code     int
		out, say string
	}{
		{control.Woken{}, cli.ExitDone, "looked at what waits; the record has no remote\n", ""},
		{control.Woken{Remote: "r"}, cli.ExitDone, "looked at r: nothing new\n", ""},
		{control.Woken{Remote: "r", Arrived: 1}, cli.ExitDone, "looked at r: 1 message came\n", ""},
		{control.Woken{Remote: "r", Unpushed: 2}, cli.ExitDone, "looked at r: nothing new; 2 messages not pushed yet, see: parley status\n", ""},
		{
			control.Woken{Remote: "r", RemoteError: "no route\x1b"}, cli.ExitFailed, "looked at what waits; the remote r could not be looked at\n",
			"parley: cannot look at the remote: no route␛\nhint: parley status\n",
		},
	} {
		r := newRun(t)
		clitest.On(r, control.Wake, test.woken)
		if code := r.Do("wake"); code != test.code {
			t.Errorf("%+v: exit %d, want %d", test.woken, code, test.code)
		}
		if diff := cmp.Diff([]string{test.out, test.say}, []string{r.Out.String(), r.Err.String()}); diff != "" {
			t.Errorf("%+v: stdout and stderr (-want +got):\n%s", test.woken, diff)
		}
	}
}
