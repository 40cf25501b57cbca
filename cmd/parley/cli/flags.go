package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// JSONFlag gives a command the flag --json, and returns it.
func (p *Program) JSONFlag(cmd *cobra.Command, usage string) *cobra.Command {
	cmd.Flags().BoolVar(&p.JSON, "json", false, usage)
	return cmd
}

// AsFlag gives a command the flag --as. If it is left out, the caller acts (R14).
func AsFlag(cmd *cobra.Command, as *string, usage string) {
	cmd.Flags().StringVar(as, "as", "", usage+" (default: the agent that calls, by $PARLEY_AGENT or its token, else you)")
}

// SplitNames splits lists of names into names.
func SplitNames(lists []string) []string {
	var names []string
	for _, list := range lists {
		for _, name := range strings.Split(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
