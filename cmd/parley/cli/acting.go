package cli

import (
	"context"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// Acting tells a person at a terminal that a command acts in the name of an agent, if the person
// did not name that agent (R14). So nobody reads another's mail, or speaks for somebody else,
// without noticing. `as` is what the request said.
func (v View) Acting(ctx context.Context, as string, client control.Service) {
	if !v.Err.Terminal || v.JSON || as != "" {
		return
	}
	s, err := control.ShowStatus.Ask(ctx, client)
	if err != nil || s.Speaker == "" || s.Speaker == s.Human {
		return // the next request says what is wrong
	}
	why := "because its token says so"
	if v.agent == s.Speaker.String() {
		why = "because PARLEY_AGENT says so"
	}
	v.Err.Printf("%s\n", v.Err.Dim("as "+term.Line(s.Speaker.String())+", "+why))
}

// SayAs is the flag with which the next command acts in the same name. `as` is the value of the
// flag that this command got.
func SayAs(as string) string {
	if as == "" {
		return ""
	}
	return " --as " + ShellWord(as)
}
