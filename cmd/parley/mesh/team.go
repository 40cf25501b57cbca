package mesh

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// Team is the sum of the parties with one tag. A team is only a view.
type Team struct {
	Team    string      `json:"team"`    // the tag
	Parties []TeamParty `json:"parties"` // parties that are over come last
	Members []string    `json:"members"` // the members of all of them, sorted
	Synced  int         `json:"synced"`  // how many memberships have a score
	Pairs   int         `json:"pairs"`   // how many memberships there are
	Sync    float64     `json:"sync"`    // the mean of these decayed scores; 0 if there are none
}

// TeamParty is one party of a team.
type TeamParty struct {
	Party   string         `json:"party"`         // its name
	Short   string         `json:"short"`         // a name that only this party has
	Members int            `json:"members"`       // how many are in it
	Invited int            `json:"invited"`       // how many are invited and have not decided
	Synced  int            `json:"synced"`        // how many of its members have a score
	Sync    protocol.Score `json:"sync,omitzero"` // the mean of their decayed scores; absent if there is none
	Status  string         `json:"status"`        // active or closed
}

// NewTeamCommand is parley party team.
func NewTeamCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "team NAME",
		Short: "What the parties with one tag come to",
		Long: `What the parties with one tag (organize --team NAME) come to, of all
hosts: who is in them, and how far they are in sync. 2/3 are members, of those
and the invited. Sync is the mean of what the members' scores are worth now; who
was never synced is left out and counted. A party that is over is shown, and
counts no more.`,
		Example: `  parley party team fleet-core
  parley party team fleet-core --json`,
		Args: cli.Exactly(1, "the tag of a team"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return ShowTeam(cmd.Context(), args[0], client, v)
		}),
	}, "print the team as JSON")
}

// ShowTeam shows the sum of the parties with a tag (seed, "Team Aggregate View").
func ShowTeam(ctx context.Context, name string, client control.Service, v cli.View) error {
	r := control.PartiesRequest{Fleet: true, Closed: true, Team: name}
	list, err := control.Parties.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	team := teamOf(name, list.Parties)
	switch {
	case len(team.Parties) == 0:
		r.Team = ""
		if list, err = control.Parties.Ask(ctx, client, r); err != nil {
			return err
		}
		return control.Errorf(control.KindNotFound, teamHint(list.Parties), "no party has the tag %q", name)
	case v.JSON:
		return v.WriteJSON(team)
	}
	v.Out.Printf("🏷 Team: %s\n\n", v.Out.Bold(term.Line(name)))
	t := term.Table{Heading: []string{"Party", "Members", "Sync", "Status"}, Flexible: 0}
	for _, p := range team.Parties {
		members := fmt.Sprintf("%d/%d", p.Members, p.Members+p.Invited)
		t.Rows = append(t.Rows, []string{term.Line(p.Party), members, cli.Percent(p.Sync), p.Status})
	}
	v.Table(t)
	v.Out.Printf("\n")
	if len(team.Members) == 0 {
		v.Out.Printf("Team members: none\n")
	} else {
		v.Out.Printf("Team members: %s (union across parties)\n", term.Line(strings.Join(team.Members, ", ")))
	}
	v.Out.Printf("Team aggregate sync: %s (decayed — computed from raw × e^(-λh) per member; %d of %d synced)\n", cli.Percent(protocol.NewScore(team.Sync)), team.Synced, team.Pairs)
	return nil
}

func teamHint(parties []control.Party) string {
	tags := map[string]bool{}
	for _, p := range parties {
		if p.Team != "" {
			tags[p.Team] = true
		}
	}
	if len(tags) == 0 {
		return `give a party one: parley party organize "topic" --team NAME`
	}
	return "the teams are: " + strings.Join(slices.Sorted(maps.Keys(tags)), ", ")
}

// The states of a party that matter here.
const (
	stateProposed = "proposed"
	stateClosed   = "closed"
)

// teamOf makes the team of a tag. Every membership has the same weight, however large its party is.
// A party that has not begun does not count.
func teamOf(name string, parties []control.Party) Team {
	team := Team{Team: name, Parties: []TeamParty{}, Members: []string{}}
	members := map[string]bool{}
	sum := 0.0
	for _, p := range parties {
		if p.Team != name || p.State == stateProposed {
			continue
		}
		row := TeamParty{Party: p.Name, Short: p.Short, Status: p.State}
		if p.State != stateClosed {
			row.Members, row.Invited, row.Synced, row.Sync = len(p.Members), invited(p), p.Synced, p.Mean
			for _, m := range p.Members {
				members[m.Name] = true
				team.Pairs++
				if x, ok := m.Decayed.Value(); ok {
					team.Synced++
					sum += x
				}
			}
		}
		team.Parties = append(team.Parties, row)
	}
	slices.SortStableFunc(team.Parties, func(a, b TeamParty) int { return over(a) - over(b) })
	team.Members = slices.AppendSeq(team.Members, maps.Keys(members))
	slices.Sort(team.Members)
	if team.Synced > 0 {
		team.Sync = sum / float64(team.Synced)
	}
	return team
}

func over(p TeamParty) int {
	if p.Status == stateClosed {
		return 1
	}
	return 0
}

// invited is how many invites into a party have no decision yet. Silence decides nothing: if nobody
// answered an invite in time, an answer may still come.
func invited(p control.Party) (count int) {
	for _, g := range p.Gates {
		if g.For == "invite" && (g.Outcome == "pending" || g.Outcome == "deferred" || g.Outcome == "contested" || g.Outcome == "expired") {
			count++
		}
	}
	return count
}
