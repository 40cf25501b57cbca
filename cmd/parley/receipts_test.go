package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// What attach had shown to its addressee went on waiting in the inbox. A program that
// follows a channel reads for nobody.
func TestAttachAtATerminalReads(t *testing.T) {
	text, receipt := letter("hello"), letter("")
	receipt.From, receipt.Type, receipt.Act, receipt.Path = "nat", protocol.TypeRead, protocol.ActRead, protocol.NewPath(text.Channel, text.Timestamp, 1)
	for _, test := range []struct {
		line     string
		terminal bool
		want     []string
	}{
		{"attach sprint", true, []string{`shown {"paths":null}`, `shown {"paths":["` + letterPath + `"]}`}},
		{"attach sprint --as nat", true, []string{`shown {"as":"nat","paths":null}`, `shown {"as":"nat","paths":["` + letterPath + `"]}`}},
		{"attach sprint --json", true, nil},
		{"attach sprint", false, nil},
	} {
		r := newRun(t)
		r.mail = []control.Message{text, receipt}
		if test.terminal {
			r.atTerminal(80)
		}
		if code := r.do(strings.Fields(test.line)...); code != cli.ExitDone {
			t.Errorf("%s: exit %d, %s", test.line, code, r.err.String())
		}
		if test.want != nil && strings.Contains(r.out.String(), "read by") {
			t.Errorf("%s: tells nat that nat has read:\n%s", test.line, r.out.String())
		}
		told := slices.DeleteFunc(r.asked, func(asked string) bool { return !strings.HasPrefix(asked, "shown ") })
		if !slices.Equal(told, test.want) {
			t.Errorf("%s: told %q, want %q", test.line, told, test.want)
		}
	}
}

// Whoever named nobody of this host learned of it only when the first message had come.
func TestAttachAsAStranger(t *testing.T) {
	r := newRun(t)
	r.atTerminal(80)
	r.shownErr = control.Errorf(control.KindRefused, "", `"stranger" is neither an agent served here nor the human of this host`)
	if code := r.do("attach", "sprint", "--as", "stranger"); code != cli.ExitFailed || !strings.Contains(r.err.String(), "neither an agent") {
		t.Errorf("exit %d, said %q", code, r.err.String())
	}
}

// What was shown while the node was away is told when it is back.
func TestReceiptsOutliveARestart(t *testing.T) {
	r := newRun(t)
	r.shownErr = control.Errorf(control.KindUnavailable, "", "the node is stopping")
	seen := &receipts{client: &r.recorder, as: "nat", failed: func(err error) { t.Error(err) }, wake: make(chan struct{}, 1)}
	first, second := letter("one"), letter("two")
	second.Path = protocol.NewPath(second.Channel, second.Timestamp, 2)
	seen.add(first)
	seen.tell(t.Context())
	r.shownErr = nil
	seen.add(second)
	seen.tell(t.Context())
	want := `shown {"as":"nat","paths":["` + letterPath + `","` + second.Path.String() + `"]}`
	if last := r.asked[len(r.asked)-1]; last != want {
		t.Errorf("told %s at last, want %s", last, want)
	}
}

// What inbox --as mawjs named as the next command read mawjs's mail as the human.
func TestNextActsInTheSameName(t *testing.T) {
	for line, want := range map[string]string{
		"hey mawjs hi --as volt --wait 5s": "parley wait --re b2c3d4e5 --as volt\n",
		"inbox --as mawjs":                 "next: parley read b2c3d4e5 --as mawjs\n",
		"read b2c3d4e5 --as mawjs":         "next: parley reply b2c3d4e5 --as mawjs TEXT",
		"read --all --as mawjs":            "next: parley inbox --as mawjs   ",
		"inbox":                            "next: parley read b2c3d4e5   ",
		"replies " + letterPath:            "next: parley thread b2c3d4e5   ",
	} {
		r := newRun(t)
		r.atTerminal(80)
		r.mail, r.message = []control.Message{letter("hello")}, letter("hello")
		r.waitErr = control.Errorf(control.KindTimeout, "", "nothing came")
		r.do(strings.Fields(line)...)
		if said := r.out.String() + r.err.String(); !strings.Contains(said, want) {
			t.Errorf("%s: no %q in:\n%s", line, want, said)
		}
	}
}
