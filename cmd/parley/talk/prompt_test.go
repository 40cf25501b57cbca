package talk

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
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
			clitest.On(r, control.ShowPrompt, control.Prompt{Agent: "sage", Input: "prompt", Text: "You are Sage.\x1b[2J\n\nno newline at the end"})
			r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
		})
	}
}

// The note that says which prompt it is stands beside the prompt, never in it.
func TestWhichPromptIsShown(t *testing.T) {
	given := control.Prompt{Agent: "sage", Text: "bare", Time: time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC), Attempt: 2, Retry: 1}
	for _, test := range []struct {
		name   string
		prompt control.Prompt
		width  int
		want   string
	}{
		{"not given yet", control.Prompt{Agent: "sage", Text: "bare"}, 0, "this is what sage would be given now\n"},
		{"given, piped", given, 0, ""},
		{"given, at a terminal", given, 80, "given to sage, attempt 2 after somebody had it tried again, 2026-05-23 21:01:00 +02:00\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.ShowPrompt, test.prompt)
			r.WantPrinted(t, test.width, []string{"prompt", "b2c3d4e5"}, "\nbare")
			if said := r.Err.String(); said != test.want {
				t.Errorf("said %q, want %q", said, test.want)
			}
		})
	}
	r := newRun(t)
	clitest.On(r, control.ShowPrompt, control.Prompt{Agent: "sage", Text: "not UTF-8: \ufffd", Base64: base64.StdEncoding.EncodeToString([]byte("not UTF-8: \xff"))})
	r.WantPrinted(t, 0, []string{"prompt", "b2c3d4e5"}, "\nnot UTF-8: \xff")
}

func TestCommandLinesOfPrompts(t *testing.T) {
	for _, test := range []struct {
		line []string
		want string
	}{
		{[]string{"prompt", "b2c3d4e5", "--agent", "sage"}, `prompt {"path":"b2c3d4e5","as":"sage"}`},
		{[]string{"prompt", "b2c3d4e5", "--as", "sage"}, `prompt {"path":"b2c3d4e5","as":"sage"}`},
		{[]string{"prompt", "b2c3d4e5", "--attempt", "2"}, `prompt {"path":"b2c3d4e5","attempt":2}`},
		{[]string{"prompt", "b2c3d4e5", "--now"}, `prompt {"path":"b2c3d4e5","now":true}`},
		{[]string{"prompt", "b2c3d4e5"}, `prompt {"path":"b2c3d4e5"}`}, // PARLEY_AGENT says who asks, not for whom the prompt is
	} {
		r := newRun(t)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}
