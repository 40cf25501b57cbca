package agent

import (
	"cmp"
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newAcceptCommand(p *cli.Program) *cobra.Command {
	var path string
	var yes bool
	cmd := &cobra.Command{
		Use:   "accept NAME",
		Short: "Make an actor profile of the record your word",
		Long: `Make the actor profile of an agent your word: its prompts begin with it.
Everybody who may push to the record can write a profile. So only a profile that
you have written through parley on this host, or accepted, stands outside of
fences in prompts. Another one is given to the agent as text of others, or left
out where the agent accepts only verified mail.

The text is shown before you are asked. What you accept is kept on this host,
and counts until you accept another one, whatever is pushed. If the record has
no such profile any more, accepting that does away with it here too.`,
		Example: `  parley agent profile accept sage
  parley agent profile accept sage --path local/actors/sage.md --yes`,
		Args: cli.Exactly(1, "the name of a profile or agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runAccept(cmd.Context(), p, client, control.ProfileRequest{Name: args[0], Path: path}, yes)
		},
	}
	cmd.Flags().StringVar(&path, "path", "", "the `FILE` of the record, if several profiles have that name")
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	p.JSONFlag(cmd, "print the profile as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func runAccept(ctx context.Context, p *cli.Program, client control.Service, r control.ProfileRequest, yes bool) error {
	v := p.View()
	profile, err := control.ActorProfile.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if profile.State != control.ProfileAccepted {
		question := "Accept this profile? [y/N] "
		if profile.State == control.ProfileGone {
			question = "The record has this profile no more. Do without it? [y/N] "
		}
		if !v.JSON {
			showProfile(v, profile)
		}
		switch {
		case yes:
		case v.JSON:
			return control.Errorf(control.KindUsage, "read it: parley agent profile "+profile.Name+"; then add --yes", "nothing was changed: with --json nobody is asked")
		case !p.Err.Terminal || !term.IsTerminal(p.Stdin):
			return control.Errorf(control.KindUsage, "to do it unasked, add --yes", "nothing was changed: nobody is there to ask")
		case !p.Confirm(ctx, question):
			v.Err.Printf("nothing was changed\n")
			return cli.ErrSaid
		}
		r.Path, r.Accept = profile.Path, profile.Hash
		if profile, err = control.ActorProfile.Ask(ctx, client, r); err != nil {
			return err
		}
	}
	switch {
	case v.JSON:
		return v.WriteJSON(profile)
	case profile.State == control.ProfileGone:
		v.Out.Printf("%s is put away\n", term.Line(profile.Name))
	default:
		v.Out.Printf("%s is accepted, %s\n", term.Line(profile.Name), term.Line(profile.Path))
	}
	return nil
}

// stateText says how far a profile is believed.
func stateText(profile control.Profile) string {
	return cmp.Or(map[control.ProfileState]string{
		control.ProfileAccepted:   "yes",
		control.ProfileUnaccepted: "no: it is text of others; accept it: parley agent profile accept " + profile.Name,
		control.ProfileChanged:    "no: another one was accepted here, and still counts; accept this one: parley agent profile accept " + profile.Name,
		control.ProfileGone:       "yes; the record has it no more",
	}[profile.State], string(profile.State))
}
