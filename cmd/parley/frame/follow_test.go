package frame

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// shown answers with inquiries as a node shows them, one after the other, and then fails.
type shown struct {
	frames []control.Frame
	fails  error
}

func (s *shown) Answer(_ context.Context, _ control.VerbSpec, _ any, yield func(any) error) error {
	if len(s.frames) == 0 {
		return s.fails
	}
	f := s.frames[0]
	s.frames = s.frames[1:]
	return yield(f)
}

// A human who follows an inquiry sees what is done while nothing comes. If the node goes away, they
// see how to come back.
func TestFollowingAnInquiry(t *testing.T) {
	follow := func(terminal bool, fails error, frames ...control.Frame) (string, error) {
		var out bytes.Buffer
		s := &session{p: &cli.Program{Stdin: strings.NewReader("")}, client: &shown{frames, fails}, view: cli.View{
			Out: term.Screen{Writer: &out, Terminal: terminal, Width: 80}, Command: func(words string) string { return words },
		}}
		err := s.follow(t.Context(), control.Frame{ID: "1f2e3d4c"})
		return out.String(), err
	}
	gathers, joins := control.Frame{ID: "1f2e3d4c", State: "GATHER", StateText: "context is gathered", Waits: "chair@white"}, control.Frame{ID: "1f2e3d4c", State: "SYNTHESIZE", StateText: "what was found is joined", Waits: "chair@white"}
	over := control.Frame{ID: "1f2e3d4c", State: "WITHDRAWN", Over: true}

	text, err := follow(true, nil, gathers, joins, over)
	first, then := "… context is gathered: chair@white\n", "… what was found is joined: chair@white\n"
	if want := first + "\x1b[1A\x1b[J" + then + "\x1b[1A\x1b[J\nWithdrawn"; err != nil || !strings.HasPrefix(text, want) {
		t.Errorf("at a terminal: %v, %q, want %q", err, text, want)
	}
	if text, err := follow(false, nil, gathers, over); err != nil || strings.Contains(text, "…") || strings.Contains(text, "\x1b") {
		t.Errorf("elsewhere: %v, %q", err, text)
	}
	_, err = follow(true, control.Errorf(control.KindUnavailable, "parley status", "the node went away"), gathers)
	if e := new(control.Error); !errors.As(err, &e) || !strings.HasSuffix(e.Hint, "parley frame show 1f2e3d4c --watch") || e.Message != "the node went away" {
		t.Errorf("where the node goes away: %v", err)
	}
	gathers.Gate, gathers.Mine = &control.FrameGate{}, true
	if back := comeBack(gathers); back != "parley frame answer 1f2e3d4c" {
		t.Errorf("to a gate one comes back by: %s", back)
	}
}

// A result is shown once, and once more if the human asks to review it. It prevents: only the gate
// comes again.
func TestAReviewShowsTheResultsAgain(t *testing.T) {
	var out bytes.Buffer
	s, seen := &session{view: cli.View{Out: term.Screen{Writer: &out}}}, &told{}
	f := control.Frame{
		State: "GATE_ROUTE", FrameOutcome: control.FrameOutcome{Synthesis: "## Convergence\nBoth hold the orders."}, Brief: protocol.InquiryBrief{Intent: "which to keep"},
		Previews: []protocol.InquiryGlance{{Perspective: "Cost", Title: "What it costs"}},
	}
	for _, want := range []int{1, 1, 2} {
		if want == 2 {
			seen.review()
		}
		s.news(f, seen)
		text := out.String()
		if strings.Count(text, "What it costs") != want || strings.Count(text, "Both hold the orders.") != want || strings.Count(text, "which to keep") != 1 {
			t.Errorf("want the results %d times and the brief once:\n%s", want, text)
		}
	}
}

// When the human decides how to go on, they are told why nothing was proposed. They are also told
// that what they named themselves is not lost.
func TestWhyNothingWasProposed(t *testing.T) {
	text := proposalText(control.Frame{NoneProposed: "The brief names nothing.", Base: []string{"Law", "Ethics"}})
	if want := "  None was proposed: The brief names nothing.\n  Yours are kept: Law, Ethics\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
