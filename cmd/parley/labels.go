package main

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// labelled shows a value behind its name, which takes width columns. At a terminal
// a long text goes on below itself; what has no spaces to break it at, such as a
// path, stays whole, so that it can be copied.
func (v view) labelled(width int, name, value string) { v.fieldIn(width, name, value, plain) }

// alarm is labelled for what needs attention.
func (v view) alarm(width int, name, value string) { v.fieldIn(width, name, value, v.out.Warn) }

func plain(text string) string { return text }

func (v view) fieldIn(width int, name, value string, style func(string) string) {
	if value == "" {
		return
	}
	label := term.Pad(name+":", width)
	for i, line := range wrapWords(term.Line(value), v.out.Width-width-1) {
		if i > 0 {
			label = strings.Repeat(" ", width)
		}
		v.out.Printf("%s %s\n", v.out.Dim(label), style(line))
	}
}

// wrapWords breaks text at spaces, or not at all where it has wider words.
func wrapWords(text string, width int) []string {
	for _, word := range strings.Fields(text) {
		if term.Width(word) > width {
			return []string{text}
		}
	}
	return term.Wrap(text, width)
}

// say shows a sentence in lines that fit the terminal.
func (v view) say(text string) {
	for _, line := range wrapWords(text, v.out.Width) {
		v.out.Printf("%s\n", line)
	}
}

// note shows a sentence that needs attention; at a terminal it goes on below
// itself.
func (v view) note(text string) {
	for i, line := range wrapWords(term.Line(text), v.out.Width-2) {
		if i > 0 {
			line = "  " + line
		}
		v.out.Printf("%s\n", v.out.Warn(line))
	}
}
