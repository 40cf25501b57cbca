package cli

import (
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/protocol"
)

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
