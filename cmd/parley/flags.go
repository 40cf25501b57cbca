package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// jsonFlag gives a command the flag --json.
func (p *program) jsonFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&p.json, "json", false, usage)
}

// asFlag is --as. Where it is left out, who calls acts (R14).
func asFlag(cmd *cobra.Command, as *string, usage string) {
	cmd.Flags().StringVar(as, "as", "", usage+" (default: the agent that calls, by $PARLEY_AGENT or its token, else you)")
}

// splitNames takes lists of names apart.
func splitNames(lists []string) []string {
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
