package main

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// letter shows a whole message: what is known about it, a blank line, its text.
func (v view) letter(m control.Message) {
	v.field("from", sender(m))
	v.field("to", strings.Join(m.To, ", "))
	v.field("time", v.at(m.Timestamp, timeForm))
	if m.Act != protocol.ActHey {
		v.field("act", string(m.Act))
	}
	v.field("re", m.Re)
	v.field("cause", m.Because)
	v.field("ref", m.Ref)
	v.field("path", m.Path.String())
	v.field("signed", v.signed(m.Signature))
	if m.Unattended {
		v.field("caller", "unattended: its host could not tell which program wrote it in that name")
	}
	v.field("stage", stages(m))
	if len(m.Addressees) > 1 {
		v.field("reach", reachOfEach(m))
	}
	if m.Body != "" {
		v.out.Printf("\n%s\n", v.out.Body(m.Body))
	}
}

func (v view) field(name, value string) { v.labelled(7, name, value) }

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

// signed says what the state of a signature means.
func (v view) signed(s protocol.Signature) string {
	switch s {
	case protocol.SignatureValid:
		return "valid"
	case protocol.SignatureUnverified:
		return "unverified: anyone who may push can have written it"
	case protocol.SignatureRefused:
		return "refused: the key that signed it does not count; why: " + v.command("parley record verify")
	}
	return string(s)
}
