package record

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newWithholdCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "withhold PATH…",
		Short: "Keep a message from the remote that the remote refuses",
		Long: `Take messages out of what is pushed, so that everything else is. It is for a
remote that refuses what one message says, such as a password or a token: until
that message is gone, the remote takes nothing of any host.

The text is not lost: hosts that have it keep it, and it is read here as before.
It only never comes into the shared repository, nor to hosts that have nothing
but that. If this host wrote the message, all hosts are told to withhold it; of
another host's message this host decides for itself. Any other file that the
remote refuses, such as a memory, is taken out too and kept below withheld-files
in the home; write it again without what the remote refuses.

What the remote has already cannot be withheld. Take a password that stood in a
message for known all the same: every host has read it.`,
		Example: `  parley record withhold 2026/05/23/190100000Z-b2c3d4e5.md`,
		Args:    cli.AtLeast(1, "the path of a message"),
		RunE:    cli.Asks(p, control.Withhold, func(args []string) control.WithholdRequest { return control.WithholdRequest{Files: args} }, showWithhold),
	}, "print what is withheld as JSON")
}

func showWithhold(v cli.View, done control.Withheld) {
	for _, f := range done.Files {
		name := v.Path(f.Path)
		if f.Path.IsZero() {
			name = term.Line(f.File)
		}
		switch {
		case f.Kept != "":
			v.Out.Printf("%s is out of what is pushed; it is kept as %s\n", name, term.Line(f.Kept))
		case f.Everywhere:
			v.Out.Printf("%s goes to no remote, and all hosts are told so\n", name)
		default:
			v.Out.Printf("%s is not pushed by this host; it was written elsewhere, so others decide for themselves\n", name)
		}
	}
}
