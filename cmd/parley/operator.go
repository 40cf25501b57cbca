package main

import (
	"cmp"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// forOperator refuses a command to agents that works on the files of a home: no node
// is asked for it that would see who calls (R37). doing stands behind "cannot".
func (p *program) forOperator(doing string) error {
	name := p.getenv("PARLEY_AGENT")
	if name == "" && p.getenv("PARLEY_TOKEN") == "" && !keeper.Beneath() {
		return nil
	}
	return control.Errorf(control.KindRefused, "ask your human to do it, in a terminal of their own",
		"cannot %s: %s is an agent, and this is for a person to decide", doing, cmp.Or(term.Line(name), "who calls"))
}
