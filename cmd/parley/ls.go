package main

import (
	"context"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newLsCommand(p *program) *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List who can be reached, and where",
		Example: `  parley ls
  for agent in $(parley ls -q); do echo "$agent"; done`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runLs(cmd.Context(), quiet, client, p.view())
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "only the names, each once, one a line")
	p.jsonFlag(cmd, "print an array of participants as JSON")
	return cmd
}

func runLs(ctx context.Context, quiet bool, client control.Service, v view) error {
	all, err := client.List(ctx)
	switch {
	case err != nil:
		return err
	case v.json:
		return v.writeJSON(all)
	case quiet:
		seen := map[string]bool{}
		for _, one := range all {
			if name := one.Name.String(); !seen[name] {
				seen[name] = true
				v.out.Printf("%s\n", name)
			}
		}
		return nil
	}
	t := term.Table{Heading: []string{"NAME", "KIND", "HOST", "STATE"}, Flexible: 0}
	for _, one := range all {
		t.Rows = append(t.Rows, []string{one.Name.String(), one.Kind, one.Host.String(), presence(one.Here, one.Live)})
	}
	v.out.Table(t)
	if len(all) > 0 {
		v.next("parley hey "+all[0].Name.String()+" hello", "say something")
	}
	return nil
}

// presence says whether a host can be reached at once.
func presence(here, live bool) string {
	switch {
	case here:
		return "here"
	case live:
		return "live"
	}
	return "away"
}
