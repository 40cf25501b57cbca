package cli

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Labelled shows a value after its name, which takes `width` columns. At a terminal, a long text
// continues below itself. A value without spaces, such as a path, stays whole, so that it can be
// copied.
func (v View) Labelled(width int, name, value string) { v.fieldIn(width, name, value, plain) }

// Alarm is Labelled for a value that needs attention.
func (v View) Alarm(width int, name, value string) { v.fieldIn(width, name, value, v.Out.Warn) }

// Trouble is Labelled for what does not work.
func (v View) Trouble(width int, value string) { v.fieldIn(width, "trouble", value, v.Out.Bad) }

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

// WrapWords breaks text at spaces. A word that is wider than `width` has a line of its own, and stays
// whole. Width 0 breaks nothing.
func WrapWords(text string, width int) (lines []string) {
	if width <= 0 {
		return []string{text}
	}
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && term.Width(lines[last])+1+term.Width(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Say shows a sentence in lines that fit the terminal.
func (v View) Say(text string) {
	for _, line := range WrapWords(text, v.Out.Width) {
		v.Out.Printf("%s\n", line)
	}
}

// Stands says why an inquiry does not go on, and what helps; nothing if it does.
func (v View) Stands(f control.Frame) {
	if f.Trouble == "" {
		return
	}
	v.Note("⚠ " + f.ID + " does not go on: " + f.Trouble)
	if !f.Mine {
		v.Out.Printf("  %s decides: at a host with their key,\n", term.Line(strings.Join(f.Deciders, " or ")))
	}
	v.Out.Printf("  %s\n", v.Command(f.Helps))
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

// Count is a number with its noun: "1 message", "2 messages", "2 parties".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Lead is words before a text of others; "" if there is no text.
func Lead(words, text string) string {
	if text == "" {
		return ""
	}
	return words + term.Line(text)
}

// Names lists names in a sentence.
func Names[N ~string](list []N) string {
	return strings.Join(each.Of(list, func(n N) string { return string(n) }), ", ")
}

// ShortHash is the beginning of a hash, in the form in which people quote it.
func ShortHash(hash string) string { return hash[:min(len(hash), 12)] }

// ShowAsker shows who asks a human something at a gate.
func (v View) ShowAsker(a protocol.Asker) {
	show := func(lines []string, style func(string) string) {
		for _, line := range lines {
			for _, part := range term.Wrap(term.Line(line), max(0, v.Out.Width-4)) {
				v.Out.Printf("  %s\n", style(part))
			}
		}
	}
	facts, doubts := a.Lines()
	show(facts, func(s string) string { return s })
	show(doubts, func(s string) string { return v.Out.Warn("⚠ " + s) })
}

// Decider is who decides at a gate, in words.
func Decider(g control.Gate) string {
	if g.Host == "" {
		return "a host of its own; it has only the issue"
	}
	if len(g.Deciders) == 0 {
		return "a human of " + g.Host.String()
	}
	return Names(g.Deciders) + "@" + g.Host.String()
}
