package main

import (
	"context"
	"fmt"
	"os"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newAgentProfileCommand(p *program) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "profile NAME",
		Short: "Show or write an actor profile: who an agent is and how it behaves",
		Long: `Show the actor profile of an agent, or one that no agent has taken yet. Profiles
are files of the record: the fleet's own in local/actors stand before those that
come with parley in upstream/actors. Agents whose input is a prompt are given
theirs with every message.

--set writes the profile local/actors/NAME.md from a file of this form ("-"
reads standard input):

  ---
  name: sage
  description: "Knows the code, says so briefly."
  ---

  You are Sage. You know this project's code. Answer in three sentences.`,
		Example: `  parley agent profile precise-generalist
  parley agent profile sage --set sage.md`,
		Args: exactly(1, "the name of a profile or agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := control.ProfileRequest{Name: args[0]}
			if file != "" {
				text, err := fileText(p, cmd, file)
				if err != nil {
					return err
				}
				r.File = text
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runAgentProfile(cmd.Context(), r, client, p.view())
		},
	}
	cmd.Flags().StringVar(&file, "set", "", "write it from this `FILE`")
	p.jsonFlag(cmd, "print the profile as JSON")
	cmd.ValidArgsFunction = p.completeAgents
	return cmd
}

// fileText is the text of a file, or with "-" of standard input.
func fileText(p *program, cmd *cobra.Command, name string) (string, error) {
	if name == "-" {
		return p.text(cmd, []string{"-"})
	}
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxText {
		return "", usageErrorf(cmd, "%s is larger than %d MiB", name, maxText>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return string(data), nil
}

func runAgentProfile(ctx context.Context, r control.ProfileRequest, client control.Service, v view) error {
	profile, err := control.ActorProfile.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(profile)
	}
	if r.File != "" {
		v.out.Printf("%s is recorded as %s\n", term.Line(profile.Name), term.Line(profile.Path))
		v.next("parley agent add "+profile.Name+" --preset claude", "serve an agent with it")
		return nil
	}
	field := func(name, value string) { v.labelled(12, name, value) }
	field("name", profile.Name)
	field("alias", profile.Alias)
	field("description", profile.Description)
	field("domain", profile.Domain)
	field("author", profile.Author)
	field("file", profile.Path)
	v.out.Printf("\n%s\n", v.out.Body(profile.Body))
	return nil
}
