package node

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

func makingFlags(cmd *cobra.Command, o *homes.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Alias, "alias", "", "name of this host in the fleet (default: from the machine's name)")
	f.StringVar(&o.Human, "human", "", "name of the human who decides here (default: your user name)")
	f.StringVar(&o.Listen, "listen", "", "address:port for NATS clients, the next port for links of other hosts; 0.0.0.0 means all addresses")
	f.StringArrayVar(&o.Advertise, "advertise", nil, "host:port at which other hosts reach the links port, where it is another (repeatable)")
	f.StringArrayVar(&o.Hubs, "hub", nil, "[ALIAS@]host:port of a host to dial before those of the record (repeatable)")
	b := &o.System // an existing NATS system
	f.StringVar(&b.URL, "bus-url", "", "an existing NATS system in place of a server of our own, such as nats://host:4222")
	f.StringVar(&b.Creds, "bus-creds", "", "credentials file (.creds) for the existing system")
	f.StringVar(&b.NKey, "bus-nkey", "", "file with the seed of a user nkey for the existing system (default: this host's own key)")
	f.StringVar(&b.CA, "bus-ca", "", "file with the certificates (PEM) to believe of the existing system")
	f.StringVar(&b.Context, "bus-context", "", "a context of the NATS command line, in place of the other bus flags")
	f.StringVar(&o.From, "from", "", "folder with a config.yaml and agents/*.yaml laid ready, in place of the other flags")
}

// making completes the options of init or join: a node depends on no folder in which a command was
// typed.
func making(cmd *cobra.Command, p *cli.Program, o *homes.Options) (err error) {
	if err := p.ForOperator("make a host"); err != nil {
		return err
	}
	if o.Home, err = p.HomeDir(); err != nil {
		return err
	}
	o.Ask = p.Err.Terminal && term.IsTerminal(p.Stdin)
	if err := cli.RefuseEmpty(cmd); err != nil {
		return err
	}
	if o.Remote, err = absoluteRemote(o.Remote); err != nil {
		return err
	}
	if err := absoluteSystem(&o.System); err != nil || o.From == "" {
		return err
	}
	for _, name := range []string{"fleet", "alias", "human", "listen", "advertise", "hub", "bus-url", "bus-creds", "bus-nkey", "bus-ca", "bus-context"} {
		if cmd.Flags().Changed(name) { // somebody might believe that it counts
			return cli.UsageErrorf(cmd, "--%s cannot be given with --from: write it into %s", name, filepath.Join(o.From, "config.yaml"))
		}
	}
	return absolute(&o.From)
}

func absoluteSystem(b *configs.Bus) error {
	files := []*string{&b.Creds, &b.NKey, &b.CA}
	if strings.HasPrefix(b.Context, ".") {
		files = append(files, &b.Context)
	}
	return absolute(files...)
}

func absolute(paths ...*string) error {
	for _, path := range paths {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("cannot find %s: %w", *path, err)
		}
		*path = abs
	}
	return nil
}
