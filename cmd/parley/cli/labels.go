package cli

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// Labelled shows a value after its name, which takes `width` columns. At a terminal, a long text
// continues below itself. A value without spaces, such as a path, stays whole, so that it can be
// copied.
func (v View) Labelled(width int, name, value string) { v.fieldIn(width, name, value, plain) }

// Alarm is Labelled for a value that needs attention.
func (v View) Alarm(width int, name, value string) { v.fieldIn(width, name, value, v.Out.Warn) }

func plain(text string) string { return text }

func (v View) fieldIn(width int, name, value string, style func(string) string) {
	if value == "" {
		return
	}
	label := term.Pad(name+":", width)
	for i, line := range WrapWords(term.Line(value), v.Out.Width-width-1) {
		if i > 0 {
			label = strings.Repeat(" ", width)
		}
		v.Out.Printf("%s %s\n", v.Out.Dim(label), style(line))
	}
}

// WrapWords breaks text at spaces. It breaks nothing if a word is wider than `width`.
func WrapWords(text string, width int) []string {
	for _, word := range strings.Fields(text) {
		if term.Width(word) > width {
			return []string{text}
		}
	}
	return term.Wrap(text, width)
}

// Say shows a sentence in lines that fit the terminal.
func (v View) Say(text string) {
	for _, line := range WrapWords(text, v.Out.Width) {
		v.Out.Printf("%s\n", line)
	}
}

// Note shows a sentence that needs attention. At a terminal, it continues below itself.
func (v View) Note(text string) {
	for i, line := range WrapWords(term.Line(text), v.Out.Width-2) {
		if i > 0 {
			line = "  " + line
		}
		v.Out.Printf("%s\n", v.Out.Warn(line))
	}
}
