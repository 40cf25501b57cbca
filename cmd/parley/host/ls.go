package host

import (
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewLsCommand is parley ls.
func NewLsCommand(p *cli.Program) *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List who can be reached, and where",
		Long: `List who can be reached, and where: agents and humans with their hosts, which
are here, live on the bus, away, or reached by git alone. Those of an "other
program" are named by a host file of the record: they may be reached by git.
SINCE is since when that is so: since when the node of a live host runs, when
one that is away was last seen. ASKED is when an agent here that asks for its
mail last did so since this node runs. ADDRESS is that of the link to the host,
or one that the host states; ROUND TRIP the last that is known. Nobody is asked
for this. Beside the state of its host stands what an agent is at: running,
idle, waiting (for a human) or away, and of a session since when it waits for
its human, until when mail begins no more turns of it, or that nothing wakes it,
so that it hears at its next turn. Of one of this host it also says how many
messages run, wait, and are unread in its inbox, that it is paused, over budget,
in line, failing or cannot start, as parley agent queue --help has these words,
and how many dead letters it has. Hosts that are out of the fleet are left out.`,
		Example: `  parley ls
  for agent in $(parley ls -q); do echo "$agent"; done`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return RunLs(cmd.Context(), quiet, client, v)
		}),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "only the names, each once, one a line")
	return p.JSONFlag(cmd, "print an array of participants as JSON")
}

// RunLs lists everybody who can be reached, as parley ls does. With `quiet`, it lists only their
// names.
func RunLs(ctx context.Context, quiet bool, client control.Service, v cli.View) error {
	all, err := control.List.Ask(ctx, client, control.HostsRequest{})
	return v.Show(all, err, func() {
		if quiet {
			seen := map[string]bool{}
			for _, one := range all {
				if name := one.Name.String(); !seen[name] {
					seen[name] = true
					v.Out.Printf("%s\n", term.Line(name))
				}
			}
			return
		}
		ShowPeople(v, all)
		broken := slices.IndexFunc(all, func(one control.Participant) bool { return one.Missing != "" })
		if whom := someoneElse(all); broken >= 0 {
			v.Next("parley agent show "+all[broken].Name.String(), "why it cannot start")
		} else if whom != "" {
			v.Next("parley hey "+whom+" hello", "say something")
		} else {
			v.Next("parley agent add NAME --exec 'CMD …'", "serve an agent, to talk to")
		}
	})
}

// ShowPeople shows who can be reached in a table.
func ShowPeople(v cli.View, all []control.Participant) {
	t := term.Table{Heading: []string{"NAME", "KIND", "HOST", "STATE", "SINCE", "ASKED", "ADDRESS", "ROUND TRIP"}, Flexible: 0}
	t.Paint = term.Paint{Column: 3, Style: func(row int, cell string) string {
		return agent.Coloured(v, all[row].AgentWork, cell, func(text string) string { return Coloured(v, all[row].State, all[row].Gates, text) })
	}}
	for _, one := range all {
		state := strings.Join(append([]string{standing.Host(one.State)}, standing.Work(v, one)...), ", ")
		t.Rows = append(t.Rows, []string{
			term.Line(one.Name.String()), one.Kind, term.Line(one.Host.String()), state, v.StampOrEmpty(one.Since), lastAsked(v, one),
			term.Line(one.Address), standing.RoundTripOrEmpty(one.RTT.Duration()),
		})
	}
	v.Table(t, cli.Squeeze{Column: 4, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 5, Least: cli.DayWidth, Cut: cli.ToDay},
		cli.Squeeze{Column: 6}, cli.Squeeze{Column: 7}, cli.Squeeze{Column: 4}, cli.Squeeze{Column: 1}, cli.Squeeze{Column: 5}, cli.Squeeze{Column: 3, Least: 16})
}

// lastAsked is when an agent that asks for its mail last did so: nobody answers for an agent that
// never asks. A session that is open need not ask.
func lastAsked(v cli.View, one control.Participant) string {
	if one.Door == configs.DoorInbox && one.Asked.IsZero() && (one.Presence == "" || one.Presence == control.AgentAway) {
		return "not yet"
	}
	return v.StampOrEmpty(one.Asked)
}

// someoneElse is somebody with whom a person here could talk: an agent, wherever it is served, or
// else a human of another host; "" if there is nobody.
func someoneElse(all []control.Participant) string {
	if i := slices.IndexFunc(all, func(one control.Participant) bool { return one.Kind == "agent" && one.State != control.HostOther }); i >= 0 {
		return all[i].Name.String()
	}
	i := slices.IndexFunc(all, func(one control.Participant) bool { return !one.Here && one.State != control.HostOther })
	if i < 0 {
		return ""
	}
	return all[i].Name.String() + "@" + all[i].Host.String() // the human of this host may have the same name
}

// Coloured is how a host can be reached, green if it is, and yellow if it is not or if `gates` wait for
// its human.
func Coloured(v cli.View, s control.HostState, gates int, text string) string {
	switch {
	case gates > 0 || s == control.HostAway || s == control.HostGit:
		return v.Out.Warn(text)
	case s == control.HostHere || s == control.HostLive:
		return v.Out.Good(text)
	}
	return text
}
