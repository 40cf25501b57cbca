package talk

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

func TestPromptsForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  string
		width int // 0: piped
		want  string
	}{
		{"a prompt, piped: exactly its text", "prompt b2c3d4e5", 0, "\nYou are Sage.\x1b[2J\n\nno newline at the end"},
		{"a prompt at a terminal", "prompt b2c3d4e5", 80, "\nYou are Sage.␛[2J\n\nno newline at the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.Prompt = control.Prompt{Agent: "sage", Input: "prompt", Text: "You are Sage.\x1b[2J\n\nno newline at the end"}
			r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
		})
	}
}

func TestCommandLinesOfPrompts(t *testing.T) {
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"prompt", "b2c3d4e5", "--as", "sage"}, `prompt {"path":"b2c3d4e5","as":"sage"}`},
		{[]string{"prompt", "b2c3d4e5"}, `prompt {"path":"b2c3d4e5"}`}, // PARLEY_AGENT is who asks, not whom it is for
	} {
		r := newRun(t)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}
