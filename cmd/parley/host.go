package main

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

func newHostCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "host",
		Short:   "Say which hosts the fleet has, and how they fare",
		Example: `  parley host list`,
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs list, show, ping, probe, rotate, revoke or remove", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newHostListCommand(p), newHostShowCommand(p), newHostPingCommand(p), newHostProbeCommand(p),
		newHostRotateCommand(p), newHostRevokeCommand(p), newHostRemoveCommand(p))
	return cmd
}
