package cli

import (
	"github.com/parleyfleet/parley/configs"
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
