package cli

import (
	"cmp"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// ForOperator returns an error if an agent calls a command that works on the files of a home. Such
// a command asks no node, so no node would see who calls (R37). `doing` says what is done, in words
// that can follow "cannot".
func (p *Program) ForOperator(doing string) error {
	name, how := p.Getenv("PARLEY_AGENT"), ""
	switch {
	case p.Getenv("PARLEY_TOKEN") != "":
		how = "PARLEY_TOKEN"
	case name != "":
		how = "PARLEY_AGENT"
	case keeper.Beneath():
		how = "what has started it"
	default:
		return nil
	}
	return control.Errorf(control.KindRefused, "ask your human to do it, in a terminal of their own, without PARLEY_TOKEN and PARLEY_AGENT",
		"cannot %s: %s is an agent, and this is for a person to decide (known by %s)", doing, cmp.Or(term.Line(name), "who calls"), how)
}
