package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewRoot makes the command parley with these commands, and with what applies to all of them.
func NewRoot(p *Program, commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:          "parley",
		SilenceUsage: true,
		// "parley [flags]" would say less than the groups of commands do.
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:                  UnknownCommand,
	}
	root.SetFlagErrorFunc(flagError)
	if p.Out.Width > 0 {
		plain := root.UsageFunc()
		root.SetUsageFunc(func(cmd *cobra.Command) error {
			out, usage := cmd.OutOrStdout(), new(strings.Builder)
			cmd.SetOut(usage)
			defer cmd.SetOut(out)
			// In 80 columns, the names of commands within commands leave no room for more.
			fit := []string{"for more information about a command", "for more of one"}
			for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
				fit = append(fit, strings.TrimSpace(flags.FlagUsages()), strings.TrimSpace(flags.FlagUsagesWrapped(p.Out.Width)))
			}
			err := plain(cmd)
			_, _ = strings.NewReplacer(fit...).WriteString(out, usage.String())
			return err
		})
	}
	root.PersistentFlags().StringVar(&p.home, "home", "", "folder that holds everything of one node (default $PARLEY_HOME)")
	root.AddCommand(commands...)
	return root
}

// Noun makes a command that does nothing but hold others. Alone, it shows its help.
func Noun(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = UnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// Today puts the name that a command has now in the place of an older one. The annotations of the
// root have both.
func Today(root *cobra.Command, words []string) []string {
	if len(words) > 0 && (words[0] == "help" || words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd) {
		return append(words[:1:1], Today(root, words[1:])...)
	}
	for i, word := range words {
		flag, isFlag := strings.CutPrefix(word, "--")
		switch now, ok := root.Annotations[word]; {
		case ok:
			return slices.Concat(words[:i], strings.Fields(now), words[i+1:])
		case !isFlag || word == "--":
			return words
		case root.PersistentFlags().Lookup(flag) != nil: // its value is the next word
			if i+2 <= len(words) {
				return append(words[:i+2:i+2], Today(root, words[i+2:])...)
			}
		}
	}
	return words
}
