package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// SourcedProfile is a profile in a source, as "agent profile browse", "add" and "sync" print it as
// JSON.
type SourcedProfile struct {
	Name        string `json:"name"`        // of the actor
	File        string `json:"file"`        // in the source
	Description string `json:"description"` // one line
	Author      string `json:"author"`      // who maintains it
	State       string `json:"state"`       // new, same, changed, others (the profile in the record has another author), written
}

// How a profile in a source compares with the record's.
const (
	profileNew     = "new"
	profileSame    = "same"
	profileChanged = "changed"
	profileOthers  = "others"
	profileWritten = "written"
)

func newSourceCommand(p *cli.Program, cmd cobra.Command, run func(context.Context, []sourced, []string, control.Service, cli.View) ([]SourcedProfile, error)) *cobra.Command {
	var source string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if source == "" {
			return cli.UsageErrorf(cmd, "%s needs --from SOURCE, a folder or a git repository", cmd.CommandPath())
		}
		client, err := p.Client()
		if err != nil {
			return err
		}
		found, err := readSource(cmd.Context(), source)
		if err != nil {
			return err
		}
		v := p.View()
		profiles, err := run(cmd.Context(), found, args, client, v)
		if err == nil && v.JSON {
			return v.WriteJSON(profiles)
		}
		return err
	}
	cmd.Flags().StringVar(&source, "from", "", "the `SOURCE`: a folder, or a git repository")
	p.JSONFlag(&cmd, "print an array of the source's profiles as JSON")
	return &cmd
}

func newBrowseCommand(p *cli.Program) *cobra.Command {
	return newSourceCommand(p, cobra.Command{
		Use:   "browse --from SOURCE",
		Short: "List the actor profiles of a folder or a git repository",
		Long: `List the actor profiles of a folder or a git repository, and how each stands to
that of the same name in the record: new, same, changed, or others, where the
record has one of another author. Nothing is changed. Profiles are looked for in
local/actors, upstream/actors and actors, else in all of the source.`,
		Example: `  parley agent profile browse --from ~/profiles
  parley agent profile browse --from https://git.example/team/profiles.git`,
		Args: cli.Exactly(0, "nothing"),
	}, runBrowse)
}

func newProfileAddCommand(p *cli.Program) *cobra.Command {
	return newSourceCommand(p, cobra.Command{
		Use:   "add NAME… --from SOURCE",
		Short: "Take actor profiles over from a folder or a git repository",
		Long: `Take actor profiles over from a folder or a git repository: each is written into
local/actors of the record. One of the fleet's own that has the same name stays
as it is, unless its author is that of the source's. Read a profile before: it
is what agents are told to be.`,
		Example: `  parley agent profile add reviewer skeptic --from ~/profiles`,
		Args:    cli.AtLeast(1, "the names of profiles"),
	}, runProfileAdd)
}

func newSyncCommand(p *cli.Program) *cobra.Command {
	return newSourceCommand(p, cobra.Command{
		Use:   "sync --from SOURCE",
		Short: "Bring profiles up to date that were taken over from a source",
		Long: `Bring the profiles in local/actors up to date with those of a folder or a git
repository. Only those are overwritten whose author is that of the source's;
what somebody else wrote stays, and what is new there is left for "profile add".`,
		Example: `  parley agent profile sync --from ~/profiles`,
		Args:    cli.Exactly(0, "nothing"),
	}, runSync)
}

// compare says how each profile in a source compares with the record's.
func compare(ctx context.Context, found []sourced, client control.Service) ([]SourcedProfile, error) {
	profiles := make([]SourcedProfile, len(found))
	for i, f := range found {
		a := f.actor
		profiles[i] = SourcedProfile{Name: a.Name, File: f.file, Description: a.Description, Author: a.Author, State: profileNew}
		own, err := ownProfile(ctx, a.Name, client)
		switch {
		case err != nil:
			return nil, err
		case own == nil:
		case own.Body == a.Body && own.Description == a.Description && own.Author == a.Author && own.Domain == a.Domain && own.Alias == a.Alias:
			profiles[i].State = profileSame
		case a.Author != "" && own.Author == a.Author:
			profiles[i].State = profileChanged
		default:
			profiles[i].State = profileOthers
		}
	}
	return profiles, nil
}

// ownProfile returns the fleet's own profile with a name; nil if there is none. Profiles that come
// with parley do not count: a local one replaces them.
func ownProfile(ctx context.Context, name string, client control.Service) (*control.Profile, error) {
	if _, err := protocol.ParseName(name); err != nil {
		return nil, nil // no profile can be written under that name; adding it says so
	}
	own, err := control.ActorProfile.Ask(ctx, client, control.ProfileRequest{Name: name})
	if err != nil {
		if control.AsError(err).Kind == control.KindNotFound {
			return nil, nil
		}
		return nil, err
	}
	if local, _ := protocol.IsActorPath(own.Path); !local || own.Name != name {
		return nil, nil
	}
	return &own, nil
}

func runBrowse(ctx context.Context, found []sourced, _ []string, client control.Service, v cli.View) ([]SourcedProfile, error) {
	profiles, err := compare(ctx, found, client)
	if err != nil || v.JSON {
		return profiles, err
	}
	t := term.Table{Heading: []string{"PROFILE", "STATE", "AUTHOR", "DESCRIPTION"}, Flexible: 3}
	for _, p := range profiles {
		t.Rows = append(t.Rows, []string{term.Line(p.Name), p.State, term.Line(p.Author), term.Line(p.Description)})
	}
	v.Table(t, cli.Squeeze{Column: 3, Least: 20})
	v.Next("parley agent profile add NAME --from SOURCE", "take one over")
	return profiles, nil
}

func runProfileAdd(ctx context.Context, found []sourced, names []string, client control.Service, v cli.View) ([]SourcedProfile, error) {
	var chosen []sourced
	for _, name := range names {
		i := slices.IndexFunc(found, func(f sourced) bool { return f.actor.Name == name })
		if i < 0 {
			there := each.Of(found, func(f sourced) string { return f.actor.Name })
			return nil, control.Errorf(control.KindNotFound, "there are "+term.Line(strings.Join(there, ", ")), "the source has no profile called %q", name)
		}
		chosen = append(chosen, found[i])
	}
	profiles, err := compare(ctx, chosen, client)
	if err != nil {
		return nil, err
	}
	for _, p := range profiles {
		if p.State == profileOthers {
			return nil, control.Errorf(control.KindConflict, "look at it: parley agent profile "+term.Line(p.Name), "cannot add the profile %s: the fleet has one that is not by %q", p.Name, p.Author)
		}
	}
	return writeProfiles(ctx, chosen, profiles, client, v)
}

func runSync(ctx context.Context, found []sourced, _ []string, client control.Service, v cli.View) ([]SourcedProfile, error) {
	profiles, err := compare(ctx, found, client)
	if err != nil {
		return nil, err
	}
	var changed []sourced
	var states []SourcedProfile
	for i, p := range profiles {
		if p.State == profileChanged {
			changed, states = append(changed, found[i]), append(states, p)
		}
	}
	written, err := writeProfiles(ctx, changed, states, client, v)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for i, p := range profiles {
		if at := slices.IndexFunc(written, func(w SourcedProfile) bool { return w.Name == p.Name }); at >= 0 {
			profiles[i] = written[at]
		}
		count[profiles[i].State]++
	}
	if !v.JSON {
		v.Out.Printf("%s\n", fmt.Sprintf("%d brought up to date, %d the same, %d of other authors kept, %d new and not added",
			count[profileWritten], count[profileSame], count[profileOthers], count[profileNew]))
	}
	return profiles, nil
}

func writeProfiles(ctx context.Context, chosen []sourced, profiles []SourcedProfile, client control.Service, v cli.View) ([]SourcedProfile, error) {
	for i, f := range chosen {
		if profiles[i].State == profileSame {
			if !v.JSON {
				v.Out.Printf("%s is the same already\n", term.Line(f.actor.Name))
			}
			continue
		}
		written, err := control.ActorProfile.Ask(ctx, client, control.ProfileRequest{Name: f.actor.Name, File: f.text})
		if err != nil {
			return nil, err
		}
		profiles[i].State = profileWritten
		if !v.JSON {
			v.Out.Printf("%s is recorded as %s\n", term.Line(written.Name), term.Line(written.Path))
		}
	}
	return profiles, nil
}
