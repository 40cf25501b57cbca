package frame

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// contested is a gate with answers, as a node keeps it.
type contested struct {
	said []control.FrameAnswer
	held []protocol.InquiryChoice
}

func (c *contested) Answer(_ context.Context, _ control.VerbSpec, request any, yield func(any) error) error {
	r, ok := request.(control.AnswerFrameRequest)
	if !ok {
		return yield(control.HumanList{})
	}
	c.said = append(c.said, control.FrameAnswer{Hash: "new", Chosen: r.Chosen})
	c.said = slices.DeleteFunc(c.said, func(a control.FrameAnswer) bool { return a.Hash == r.TakesBack })
	return yield(c.frame())
}

func (c *contested) frame() control.Frame {
	for _, a := range c.said {
		if a.Chosen[0].Options[0] != c.said[0].Chosen[0].Options[0] {
			return control.Frame{Gate: &control.FrameGate{Path: "adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md", Contested: true, Said: c.said}}
		}
	}
	c.held = c.said[0].Chosen
	return control.Frame{}
}

// At a contested gate the human chooses which answer holds, and all others are taken back. It
// prevents: a gate that is locked, because the same answer was taken back again and again.
func TestAnsweringAContestedGate(t *testing.T) {
	says := func(option string) []protocol.InquiryChoice {
		return []protocol.InquiryChoice{{Question: "brief", Options: []string{option}}}
	}
	for _, choice := range []string{"confirm", "modify-scope", "modify-intent"} {
		c := &contested{said: []control.FrameAnswer{{Hash: "a", Chosen: says("confirm")}, {Hash: "b", Chosen: says("modify-scope")}, {Hash: "c", Chosen: says("confirm")}}}
		s := &session{client: c}
		after, err := s.answer(t.Context(), c.frame(), says(choice), "")
		if err != nil || after.Gate != nil || c.held == nil || c.held[0].Options[0] != choice {
			t.Errorf("%s: %v, %+v holds", choice, err, c.said)
		}
	}
}

// What helps an inquiry that stands is a command in plain text, on a page too, beside the gate.
func TestWhatHelps(t *testing.T) {
	var out bytes.Buffer
	s := &session{view: cli.View{Out: term.Screen{Writer: &out}, Command: func(words string) string { return words }}}
	f := control.Frame{ID: "1f2e3d4c", Trouble: "its coordinator is gone", Helps: "parley frame resume 1f2e3d4c", Deciders: []string{"nat@white"}}
	if err := s.foot(f); err != nil || out.String() != "\n⚠ 1f2e3d4c does not go on: its coordinator is gone\n  nat@white decides: at a host with their key,\n  parley frame resume 1f2e3d4c\n" {
		t.Errorf("%v: %s", err, out.String())
	}
}
