package root

import (
	"os"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/spf13/cobra"
)

// newUpdateCommand and newUninstallCommand say what a person has to do: parley replaces and removes
// no program by itself.
func newUpdateCommand(p *cli.Program) *cobra.Command {
	return byHand(p, "update", "Say how this program is replaced by a newer one", func(v cli.View, program string, _ configs.Home) {
		v.Out.Printf("Nothing was changed: parley does not update itself. This is version %s,\n%s. In a clone of its source:\n\n", cli.Version, program)
		v.Steps("git pull", "the newer source", "go install ./cmd/parley", "the program, into $(go env GOPATH)/bin",
			"parley restart", "the node runs it from then on", "parley record upgrade --check", "what is new for the record")
	})
}

func newUninstallCommand(p *cli.Program) *cobra.Command {
	return byHand(p, "uninstall", "Say how parley is taken off this machine", func(v cli.View, program string, home configs.Home) {
		v.Out.Printf("Nothing was removed: parley does not remove itself. In this order:\n\n")
		v.Steps("parley install claude --undo", "take it out of claude; codex likewise",
			"parley fleet remove HOST", "if this machine leaves its fleet for good",
			"parley stop", "end the node; a service that starts it goes too",
			"rm "+term.Shell(program), "the program", "rm -r "+term.Shell(home.Dir), "its keys, and what no remote has: for good")
	})
}

func byHand(p *cli.Program, name, short string, say func(v cli.View, program string, home configs.Home)) *cobra.Command {
	return &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  parley " + name,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(_ *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			program, err := os.Executable()
			if err == nil {
				say(v, program, home)
			}
			return err
		}),
	}
}
