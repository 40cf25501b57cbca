package root

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// setHelp gives a root its help: a screen of the commands that are used most, and all on request.
func setHelp(root *cobra.Command, shown []*cobra.Command) {
	all := false
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Example: `  parley help
  parley help fleet hosts
  parley help --all`,
		RunE: func(cmd *cobra.Command, words []string) error {
			about, rest, err := cmd.Root().Find(cli.Today(cmd.Root(), words))
			switch {
			case err != nil:
				return err
			case len(rest) > 0:
				return cli.UnknownCommand(about, rest)
			case all:
				writeAll(cmd.OutOrStdout(), cmd.Root())
				return nil
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: completeCommands,
	}
	help.Flags().BoolVar(&all, "all", false, "name all commands, with those that are used less and older names")
	help.Hidden = true
	root.SetHelpCommand(help)
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		if cmd != root {
			usual(cmd, words)
			return
		}
		out := root.OutOrStdout()
		text, _, _ := strings.Cut(root.Long, "\n")
		fmt.Fprintf(out, "%s\n", text)
		for _, sub := range shown {
			fmt.Fprintf(out, "  %-10s %s\n", sub.Name(), sub.Short)
		}
		fmt.Fprint(out, "parley COMMAND --help says more of one, parley help --all names all of them.\n")
	})
}

func writeAll(out io.Writer, root *cobra.Command) {
	fmt.Fprintf(out, "%s\n", root.Long)
	list := func(commands []*cobra.Command, hidden bool) {
		for _, cmd := range commands {
			if cmd.Hidden != hidden || cmd.Short == "" {
				continue
			}
			fmt.Fprintf(out, "  %-22s %s\n", strings.TrimPrefix(cmd.CommandPath(), "parley "), cmd.Short)
			for _, sub := range cmd.Commands() {
				if !sub.Hidden {
					fmt.Fprintf(out, "    %-20s %s\n", strings.TrimPrefix(sub.CommandPath(), "parley "), sub.Short)
				}
			}
		}
	}
	fmt.Fprint(out, "\nThe commands of parley help, and those below them:\n")
	list(root.Commands(), false)
	fmt.Fprint(out, "\nMore commands:\n")
	list(root.Commands(), true)
	fmt.Fprint(out, "\nOlder names, which go on working:\n")
	for _, name := range slices.Sorted(maps.Keys(root.Annotations)) {
		fmt.Fprintf(out, "  %-22s %s\n", name, root.Annotations[name])
	}
	fmt.Fprintf(out, "\nFlags:\n%s", root.PersistentFlags().FlagUsages())
}

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
