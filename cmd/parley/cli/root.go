package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
		template := strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", fmt.Sprintf("FlagUsagesWrapped %d", p.Out.Width))
		// In 80 columns, the names of commands within commands leave no room for more.
		root.SetUsageTemplate(strings.ReplaceAll(template, "for more information about a command", "for more of one"))
	}
	root.PersistentFlags().StringVar(&p.home, "home", "", "folder that holds everything of one node (default $PARLEY_HOME)")
	root.AddCommand(commands...)
	return root
}
