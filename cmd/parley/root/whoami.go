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
	who := "an agent of " + self.Host.String() + ", nobody can tell which,"
	switch {
	case self.Name != "" && self.Agent:
		who = self.Name.String() + "@" + self.Host.String() + ", an agent"
	case self.Name != "":
		who = self.Name.String() + "@" + self.Host.String() + ", the human who decides here,"
	}
	v.Out.Printf("%s in the fleet %s\n", term.Line(who), self.Fleet)
	v.Say("known by: " + term.Line(self.How))
}
