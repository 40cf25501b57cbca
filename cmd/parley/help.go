package main

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Example: `  parley help
  parley help host list`,
		RunE: func(cmd *cobra.Command, words []string) error {
			about, rest, err := cmd.Root().Find(words)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return cli.UnknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: completeCommands,
	}
}

// completeCommands completes the names of commands and of their subcommands.
func completeCommands(cmd *cobra.Command, words []string, begun string) ([]string, cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(words)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sub := range about.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
