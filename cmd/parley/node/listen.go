package node

import (
	"cmp"
	"fmt"
	"net"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

// NewListenCommand is parley fleet listen.
func NewListenCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "listen [ADDRESS]",
		Short: "Show or set at which port this host takes links of other hosts",
		Long: `Show at which port NATS clients and other hosts reach this host, or set it:
ADDRESS is address:port for NATS clients, and other hosts take the next port;
0.0.0.0 means all addresses, and '' opens no port. In config.yaml nothing but
bus.listen is changed. A node that runs and takes no links yet takes them at
once; all else holds when it is started anew.`,
		Example: `  parley fleet listen
  parley fleet listen 192.0.2.7:4222`,
		Args: cli.Between(0, 1, "one address:port"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			if len(args) > 0 {
				if err := p.ForOperator("set where this host listens"); err != nil {
					return err
				}
			}
			if !cli.Configured(home) {
				return cli.NotConfigured(home, "")
			}
			c, err := configs.Load(home.Config())
			if err == nil && len(args) > 0 {
				c, err = setListen(home, c, args[0])
			}
			if err != nil {
				return err
			}
			const label = len("clients:")
			v.Labelled(label, "clients", cmp.Or(c.Bus.Listen, "no port"))
			v.Labelled(label, "hosts", cmp.Or(c.Bus.LinksAddress(), "no port"))
			if len(args) == 0 {
				return nil
			}
			why := "a node that runs listens there once it is started anew"
			if at := c.Bus.LinksAddress(); args[0] != "" && at != "" {
				_, err := control.OpenLinks.Ask(cmd.Context(), p.Connect(home.Socket()), control.OpenLinksRequest{Address: at, Advertise: c.Bus.Advertise})
				switch {
				case err == nil:
					why = "hosts can link already; NATS clients once it is started anew"
				case !cli.NoNodeRuns(err) && control.AsError(err).Kind != control.KindConflict:
					return err
				}
			}
			v.Next("parley restart", why)
			return nil
		}),
	}
}

func setListen(home configs.Home, c configs.Config, address string) (configs.Config, error) {
	if address != "" && address != c.Bus.Listen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return c, control.Errorf(control.KindFailed, homes.ListenHint(err, "parley fleet listen "), "cannot set where this host listens: %v", err)
		}
		if err := l.Close(); err != nil {
			return c, err
		}
	}
	if err := configs.SetListen(home.Config(), address); err != nil {
		return c, fmt.Errorf("cannot set where this host listens: %w", err)
	}
	return configs.Load(home.Config())
}
