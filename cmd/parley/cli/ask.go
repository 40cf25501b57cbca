package cli

import (
	"cmp"
	"context"
	"os"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// Run is what cobra runs for a command.
type Run = func(cmd *cobra.Command, args []string) error

// Asking is the run of a command that asks the node.
func (p *Program) Asking(run func(cmd *cobra.Command, args []string, client control.Service, v View) error) Run {
	return func(cmd *cobra.Command, args []string) error {
		client, err := p.Client()
		if err != nil {
			return err
		}
		return run(cmd, args, client, p.View())
	}
}

// AtHome is the run of a command that works on the files of a home.
func (p *Program) AtHome(run func(cmd *cobra.Command, args []string, home configs.Home, v View) error) Run {
	return func(cmd *cobra.Command, args []string) error {
		home, err := p.HomeDir()
		if err != nil {
			return err
		}
		return run(cmd, args, home, p.View())
	}
}

// Asks is the run of a command that asks one verb and shows its answer. `request` makes the request
// of the words of the command line; nil: it is the zero value.
func Asks[Q, A any](p *Program, verb control.Verb[Q, A], request func(args []string) Q, show func(View, A)) Run {
	return p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v View) error {
		var r Q
		if request != nil {
			r = request(args)
		}
		answer, err := verb.Ask(cmd.Context(), client, r)
		return v.Show(answer, err, func() { show(v, answer) })
	})
}

// None says to a person that there is nothing to show. A program sees that by itself.
func (v View) None(text string) {
	if v.Out.Terminal {
		v.Out.Printf("%s\n", text)
	}
}

// Show prints an answer as JSON, or has `show` show it to people. If there is none, it returns `err`.
func (v View) Show(answer any, err error, show func()) error {
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(answer)
	}
	show()
	return nil
}

// ForOperator returns an error if an agent, or anything beneath an agent program, calls a command that
// works on the files of a home. Such a command asks no node, so no node would see who calls (R37).
// `doing` says what is done, in words that can follow "cannot".
func (p *Program) ForOperator(doing string) error {
	above := ""
	if !p.Unwatched {
		above = agentprogram.Above(os.Getpid())
	}
	return p.forPerson(doing, above)
}

// ForPerson returns an error if an agent calls, for a command of which the node refuses the rest.
func (p *Program) ForPerson(doing string) error { return p.forPerson(doing, "") }

// forPerson is ForPerson beneath an agent program; "" if it is beneath none.
func (p *Program) forPerson(doing, above string) error {
	name, how := p.Getenv("PARLEY_AGENT"), ""
	switch {
	case p.Getenv("PARLEY_TOKEN") != "":
		how = "PARLEY_TOKEN"
	case name != "":
		how = "PARLEY_AGENT"
	case keeper.Beneath():
		how = "what has started it"
	case above != "":
		how = above + ", which has started it"
	default:
		return nil
	}
	return control.Errorf(control.KindRefused, "ask your human to do it, in a terminal of their own, without PARLEY_TOKEN and PARLEY_AGENT",
		"cannot %s: %s is an agent, and this is for a person to decide (known by %s)", doing, cmp.Or(term.Line(name), "who calls"), how)
}

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
