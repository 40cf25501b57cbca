package frame

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The words that a human types at a gate become an answer that the gate takes. It prevents: a human
// who chooses no perspective is asked for their passphrase and then refused, and a "q" for later is
// written down as their own words.
func TestWhatIsTypedAtAGate(t *testing.T) {
	question := func(id string, multi bool, keys ...string) protocol.InquiryQuestion {
		q := protocol.InquiryQuestion{ID: id, Multi: multi}
		for _, k := range keys {
			q.Options = append(q.Options, protocol.InquiryOption{Key: k})
		}
		return q
	}
	lenses := protocol.InquiryGate{Gate: protocol.GatePerspectives, Questions: []protocol.InquiryQuestion{question("perspectives", true, "Cost", "Safety")}}
	brief := protocol.InquiryGate{Gate: protocol.GateBrief, Questions: []protocol.InquiryQuestion{question("brief", false, "confirm", "modify-scope")}}
	zero := protocol.InquiryGate{Gate: protocol.GateZero, Questions: []protocol.InquiryQuestion{question("onwards", false, "modify-brief", "esc")}}
	route := protocol.InquiryGate{Gate: protocol.GateRoute, Questions: []protocol.InquiryQuestion{question("onwards", false, "extend", "add-input")}}
	none, own, asked := control.Frame{}, control.Frame{Base: []string{"Law"}}, control.Frame{AskedMode: "recommend"}
	first := protocol.InquiryGate{Gate: protocol.GateBrief, Questions: []protocol.InquiryQuestion{question("brief", false, "confirm", "modify-scope"), question("mode", false, "inquire", "recommend")}}
	for _, c := range []struct {
		name  string
		gate  protocol.InquiryGate
		begun control.Frame
		typed string
		want  string // what is chosen, and the words; "later" if nothing is decided
		said  string // what the human is told meanwhile
	}{
		{"two of them", lenses, none, "2 1\n\n", "[{perspectives [Cost Safety]}] \"\"", ""},
		{"none, then one", lenses, none, "\n\nsafety\n\n", "[{perspectives [Safety]}] \"\"", "choose one at least"},
		{"none beside one's own", lenses, own, "\n\n", "[{perspectives []}] \"\"", ""},
		{"one's own", lenses, none, "1\nLaw, Work\n", "[{perspectives [Cost]}] \"Law\\nWork\"", ""},
		{"a number that there is not", brief, none, "3\n1\n", "[{brief [confirm]}] \"\"", `"3" is none of 1 to 2`},
		{"what is to be different", brief, none, "2\n\nthe first store\n", "[{brief [modify-scope]}] \"the first store\"", ""},
		{"the mode", first, none, "1\n1\n", "[{brief [confirm]} {mode [inquire]}] \"\"", ""},
		{"the mode of --mode", first, asked, "1\n", "[{brief [confirm]} {mode [recommend]}] \"\"", ""},
		{"later", brief, none, "q\n", "later", ""},
		{"later, after the choice", brief, none, "2\nq\n", "later", ""},
		{"input, later", route, none, "2\nq\n", "later", ""},
		{"Esc, and Enter", brief, none, "\x1b\n", "later", ""},
		{"Esc, and the end", route, none, "\x1b", "later", ""},
		{"Esc behind words", brief, none, "2\nthe first st\x1b\n", "later", ""},
		{"the word", lenses, none, "Esc\n", "later", ""},
		{"the word, where it is an option", zero, none, "esc\n", "[{onwards [esc]}] \"\"", ""},
	} {
		var out bytes.Buffer
		s := &session{view: cli.View{Out: term.Screen{Writer: &out}, Err: term.Screen{Writer: &out}}}
		chosen, text, ok, err := s.choose(t.Context(), bufio.NewReader(strings.NewReader(c.typed)), c.gate, c.begun)
		got := fmt.Sprintf("%v %q", chosen, text)
		if !ok {
			got = "later"
		}
		if err != nil || got != c.want || !strings.Contains(out.String(), c.said) {
			t.Errorf("%s: %s, %v, want %s; told:\n%s", c.name, got, err, c.want, out.String())
		}
	}
}

// Ctrl-C at a gate leaves the gate. It prevents: a read that nothing interrupts, so that the human
// has to press Enter or kill the command.
func TestCtrlCAtAGateLeaves(t *testing.T) {
	nobody, typing := io.Pipe()
	defer typing.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{}
	s.view.Err = term.Screen{Writer: ended{cancel}} // as soon as it has asked
	if line, err := s.line(ctx, bufio.NewReader(nobody), "Mode "); line != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %q, %v", line, err)
	}
}

// ended cancels when something is written to it.
type ended struct{ cancel func() }

func (e ended) Write(p []byte) (int, error) {
	e.cancel()
	return len(p), nil
}

// It prevents: an agent begins an inquiry with a perspective that is a sentence, and the sentence reads
// like a question of parley at the gate.
func TestAGateQuotesTheBaseOfAnAgent(t *testing.T) {
	for by, want := range map[string]string{"nat@white": "Law", "m@white": `"Law"`} {
		if got := base(control.Frame{By: by, Deciders: []string{"nat@white"}, Base: []string{"Law"}}); got[0] != want {
			t.Errorf("the base of %s is %s, want %s", by, got[0], want)
		}
	}
}
