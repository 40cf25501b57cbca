package agent

import (
	"fmt"
	"os"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newProfileCommand(p *cli.Program) *cobra.Command {
	var file, path string
	cmd := &cobra.Command{
		Use:   "profile NAME",
		Short: "Show or write an actor profile: who an agent is and how it behaves",
		Long: `Show the actor profile of an agent, or one that no agent has taken yet. Profiles
are files of the record: the fleet's own in local/actors stand before those that
come with parley in upstream/actors. Agents whose input is a prompt are given
theirs with every message. What others pushed counts only once you have accepted
it, see "parley agent profile accept".

--set writes the profile local/actors/NAME.md from a file of this form ("-"
reads standard input), and accepts it:

  ---
  name: sage
  description: "Knows the code, says so briefly."
  ---

  You are Sage. You know this project's code. Answer in three sentences.`,
		Example: `  parley agent profile precise-generalist
  parley agent profile sage --set sage.md`,
		Args: cli.Exactly(1, "the name of a profile or agent"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) (err error) {
			r := control.ProfileRequest{Name: args[0], Path: path}
			if file != "" {
				if r.File, err = fileText(p, cmd, file); err != nil {
					return err
				}
			}
			profile, err := control.ActorProfile.Ask(cmd.Context(), client, r)
			return v.Show(profile, err, func() {
				if file == "" {
					showProfile(v, profile)
					return
				}
				v.Out.Printf("%s is recorded as %s\n", term.Line(profile.Name), term.Line(profile.Path))
				v.Next("parley agent add "+profile.Name+" --preset claude", "serve an agent with it")
			})
		}),
	}
	cmd.Flags().StringVar(&file, "set", "", "write it from this `FILE`")
	cmd.Flags().StringVar(&path, "path", "", "show the one at this `FILE` of the record, if several have that name")
	p.JSONFlag(cmd, "print the profile as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	cmd.AddCommand(newBrowseCommand(p), newProfileAddCommand(p), newSyncCommand(p), newAcceptCommand(p))
	return cmd
}

// fileText returns the text of a file; for "-", that of standard input.
func fileText(p *cli.Program, cmd *cobra.Command, name string) (string, error) {
	if name == "-" {
		return p.Text(cmd, []string{"-"})
	}
	info, err := os.Stat(name)
	if err == nil && info.Size() > cli.MaxText {
		return "", cli.UsageErrorf(cmd, "%s is larger than %d MiB", name, cli.MaxText>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return string(data), nil
}

func showProfile(v cli.View, profile control.Profile) {
	field := func(name, value string) { v.Labelled(12, name, value) }
	field("name", profile.Name)
	field("alias", profile.Alias)
	field("description", profile.Description)
	field("domain", profile.Domain)
	field("author", profile.Author)
	field("file", profile.Path)
	field("accepted", stateText(profile))
	v.Out.Printf("\n%s\n", v.Out.Body(profile.Body))
}
