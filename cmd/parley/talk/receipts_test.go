package talk

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: what attach has shown to its addressee goes on waiting in the inbox. A program that
// follows a channel reads for nobody.
func TestAttachAtATerminalReads(t *testing.T) {
	text, receipt := clitest.Message("hello"), clitest.Message("")
	receipt.From, receipt.Type, receipt.Act, receipt.Path = "nat", protocol.TypeRead, protocol.ActRead, protocol.NewPath(text.Channel, text.Timestamp, 1)
	for _, test := range []struct {
		line     string
		terminal bool
		want     []string
	}{
		{"attach sprint", true, []string{`shown {"paths":null}`, `shown {"paths":["` + clitest.MessagePath + `"]}`}},
		{"attach sprint --as nat", true, []string{`shown {"as":"nat","paths":null}`, `shown {"as":"nat","paths":["` + clitest.MessagePath + `"]}`}},
		{"attach sprint --json", true, nil},
		{"attach sprint", false, nil},
	} {
		r := newRun(t)
		r.HasMail([]control.Message{text, receipt})
		clitest.On(r, control.Shown, control.Marked{As: "nat"})
		if test.terminal {
			r.AtTerminal(80)
		}
		if code := r.Do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.line, code, r.Err.String())
		}
		if test.want != nil && strings.Contains(r.Out.String(), "read by") {
			t.Errorf("%s: tells nat that nat has read:\n%s", test.line, r.Out.String())
		}
		told := slices.DeleteFunc(r.Asked, func(asked string) bool { return !strings.HasPrefix(asked, "shown ") })
		if !slices.Equal(told, test.want) {
			t.Errorf("%s: told %q, want %q", test.line, told, test.want)
		}
	}
}

// It prevents: somebody who gives a name that is not of this host learns of it only when the first
// message has come.
func TestAttachAsAStranger(t *testing.T) {
	r := newRun(t)
	r.AtTerminal(80)
	clitest.On(r, control.Shown, control.Marked{}, control.Errorf(control.KindRefused, "", `"stranger" is neither an agent served here nor the human of this host`))
	if code := r.Do("attach", "sprint", "--as", "stranger"); code != cli.ExitFailed || !strings.Contains(r.Err.String(), "neither an agent") {
		t.Errorf("exit %d, said %q", code, r.Err.String())
	}
}

// Receipts for what was shown while the node was away are told when it is back.
func TestReceiptsOutliveARestart(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Shown, control.Marked{}, control.Errorf(control.KindUnavailable, "", "the node is stopping"))
	seen := &receipts{client: &r.Recorder, as: "nat", failed: func(err error) { t.Error(err) }, wake: make(chan struct{}, 1)}
	first, second := clitest.Message("one"), clitest.Message("two")
	second.Path = protocol.NewPath(second.Channel, second.Timestamp, 2)
	seen.add(first)
	seen.tell(t.Context())
	clitest.On(r, control.Shown, control.Marked{})
	seen.add(second)
	seen.tell(t.Context())
	want := `shown {"as":"nat","paths":["` + clitest.MessagePath + `","` + second.Path.String() + `"]}`
	if last := r.Asked[len(r.Asked)-1]; last != want {
		t.Errorf("told %s at last, want %s", last, want)
	}
}

// It prevents: the next command that "inbox --as mawjs" names reads mawjs's mail as the human.
func TestNextActsInTheSameName(t *testing.T) {
	for line, want := range map[string]string{
		"hey mawjs hi --as volt --wait 5s": "parley wait --re b2c3d4e5 --as volt",
		"inbox --as mawjs":                 "next: parley read b2c3d4e5 --as mawjs\n",
		"read b2c3d4e5 --as mawjs":         "next: parley reply b2c3d4e5 --as mawjs TEXT",
		"inbox":                            "next: parley read b2c3d4e5   ",
		"replies " + clitest.MessagePath:   "next: parley thread b2c3d4e5   ",
	} {
		r := newRun(t)
		r.AtTerminal(80)
		r.HasMail([]control.Message{clitest.Message("hello")})
		clitest.On(r, control.Wait, control.Message{}, control.Errorf(control.KindTimeout, "", "nothing came"))
		r.Do(strings.Fields(line)...)
		if said := r.Out.String() + r.Err.String(); !strings.Contains(said, want) {
			t.Errorf("%s: no %q in:\n%s", line, want, said)
		}
	}
}
