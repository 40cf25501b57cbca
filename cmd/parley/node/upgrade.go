package node

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewUpgradeCommand is parley record upgrade.
func NewUpgradeCommand(p *cli.Program) *cobra.Command {
	var r control.UpgradeRequest
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Bring the record's own documents up to this version of parley",
		Long: `Bring the files in the record's folder upstream/ up to those that come with this
version of parley: what the protocol is, the jitter, the default actor profile.
Nothing else is touched: local/ is the fleet's own, and messages never change.
To replace the program itself, install the new version and start the node again.`,
		Example: `  parley record upgrade --check
  parley record upgrade`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runUpgrade(cmd.Context(), r, client, v)
		}),
	}
	cmd.Flags().BoolVar(&r.Check, "check", false, "only say what would change")
	return p.JSONFlag(cmd, "print an array of files and their states as JSON")
}

func runUpgrade(ctx context.Context, r control.UpgradeRequest, client control.Service, v cli.View) error {
	files, err := control.Upgrade.Ask(ctx, client, r)
	return v.Show(files, err, func() {
		changed := 0
		t := term.Table{Heading: []string{"FILE", "STATE"}}
		for _, f := range files {
			if f.State != "current" {
				changed++
			}
			t.Rows = append(t.Rows, []string{term.Line(f.Path), f.State})
		}
		v.Out.Table(t)
		switch {
		case changed == 0:
			v.Out.Printf("everything is as it comes with parley %s\n", cli.Version)
		case r.Check:
			v.Next("parley record upgrade", "write what has changed")
		default:
			v.Out.Printf("%s brought up to parley %s\n", cli.Count(changed, "file"), cli.Version)
		}
	})
}
