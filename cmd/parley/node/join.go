package node

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

// NewJoinCommand is parley join.
func NewJoinCommand(p *cli.Program) *cobra.Command {
	o := homes.Options{Version: cli.Version, Join: true}
	cmd := &cobra.Command{
		Use:   "join [URL]",
		Short: "Make a node that joins the fleet of a shared record",
		Long: `Make a node in its home that joins the fleet whose record is at the URL: the
same as "parley init --remote URL", but a repository that holds no record is
refused. With --from the URL may stand in the config.yaml that is laid ready
there.

The host gets a key of its own, which never leaves this machine, and tells the
others by a signed message in the record.

A node that is there already joins with its keys, settings and agents, if nobody
has said anything in its record, no other host is in it, and it is shared
nowhere. That record goes. If the host cannot join, all is as it was.`,
		Example: `  parley join git@example.org:fleet/record.git --alias white
  parley join /srv/record.git --listen 192.0.2.8:4222`,
		Args: cli.Between(0, 1, "the URL or path of the shared record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Remote = strings.Join(args, "")
			if err := making(cmd, p, &o); err != nil {
				return err
			}
			if o.Remote == "" && o.From == "" {
				return cli.UsageErrorf(cmd, "%s needs the URL or path of the shared record", cmd.CommandPath())
			}
			return runInit(cmd.Context(), p, o, false)
		},
	}
	makingFlags(cmd, &o)
	return cmd
}
