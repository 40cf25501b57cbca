package root

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newWhoamiCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "whoami",
		Short:   "Say for whom the node takes you, and by what it knows you",
		Example: `  parley whoami --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE:    cli.Asks(p, control.Whoami.Verb, nil, showSelf),
	}, "print it as JSON")
}

func showSelf(v cli.View, self control.Self) {
	who := "an agent, nobody can tell which"
	if self.Name != "" {
		who = self.Name.String() + "@" + self.Host.String()
	}
	v.Out.Printf("%s in the fleet %s (%s)\n", term.Line(who), self.Fleet, term.Line(self.How))
}
