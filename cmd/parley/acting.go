package main

import (
	"context"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// acting tells a person at a terminal in whose name a command acts, where they did
// not say it there (R14): nobody is to read another's mail, or to speak for somebody
// else, without noticing. as is what the request said, acted who it was; "" where
// the answer does not say.
func (v view) acting(ctx context.Context, as, acted string, client control.Service) {
	if !v.err.Terminal || v.json {
		return
	}
	if as != "" {
		if as == v.agent {
			v.err.Printf("%s\n", v.err.Dim("as "+term.Line(as)+", because PARLEY_AGENT says so"))
		}
		return
	}
	s, err := client.Status(ctx)
	if err != nil {
		return // what is asked next says why
	}
	if acted == "" {
		acted = s.Speaker.String()
	}
	if acted != "" && acted != s.Human.String() {
		v.err.Printf("%s\n", v.err.Dim("as "+term.Line(acted)+", the only agent with an inbox here; as yourself: --as "+s.Human.String()))
	}
}
