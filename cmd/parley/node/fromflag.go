package node

import (
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// fromFlag adds --from to init and join.
func fromFlag(cmd *cobra.Command, from *string) {
	cmd.Flags().StringVar(from, "from", "", "folder with a config.yaml and agents/*.yaml laid ready, in place of the other flags")
}

// readyFrom makes the folder of --from absolute. It returns an error if there are other flags of
// which somebody might believe that they count.
func readyFrom(cmd *cobra.Command, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	for _, name := range []string{"fleet", "alias", "human", "listen", "advertise", "hub", "bus-url", "bus-creds", "bus-nkey", "bus-ca", "bus-context"} {
		if cmd.Flags().Changed(name) {
			return "", cli.UsageErrorf(cmd, "--%s cannot be given with --from: write it into %s", name, filepath.Join(from, "config.yaml"))
		}
	}
	abs, err := filepath.Abs(from)
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", from, err)
	}
	return abs, nil
}
