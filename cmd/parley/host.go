package main

import (
	"github.com/spf13/cobra"
)

func newHostCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "host",
		Short:   "Say which hosts the fleet has, and how they fare",
		Example: `  parley host list`,
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs list, show, ping, probe, rotate, revoke or remove", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newHostListCommand(p), newHostShowCommand(p), newHostPingCommand(p), newHostProbeCommand(p),
		newHostRotateCommand(p), newHostRevokeCommand(p), newHostRemoveCommand(p))
	return cmd
}
