package party

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewCommand is parley party and its subcommands.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "party",
		Short: "Parties: list, choose, rules, agreements",
		Long: `Parties of agents that work on something together, each led by a human. They
are begun by organize and invite; parley who shows who is in one.`,
		Example: `  parley party list
  parley party agree "Panes are named after agents"
  parley party rules consensus_mode=majority`,
	}, newListCommand(p), newUseCommand(p), newRulesCommand(p), newRemoveCommand(p), newAgreeCommand(p), newVoteCommand(p, true), newVoteCommand(p, false), newJoinCommand(p))
}

func newListCommand(p *cli.Program) *cobra.Command {
	var r control.PartiesRequest
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List your parties; * is the current one",
		Example: `  parley party list --fleet`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &session{p: p}
			if err := s.begin(); err != nil {
				return err
			}
			r.Dir = s.acting.Dir
			return s.list(cmd.Context(), r)
		},
	}
	cmd.Flags().StringVar(&r.For, "via", "", "those of an `AGENT` (default: that of the folder)")
	cmd.Flags().BoolVar(&r.Fleet, "fleet", false, "all that are in the record")
	cmd.Flags().BoolVar(&r.Closed, "closed", false, "those that are over, too")
	p.JSONFlag(cmd, "print the parties as JSON")
	return cmd
}

func (s *session) list(ctx context.Context, r control.PartiesRequest) error {
	list, err := control.Parties.Ask(ctx, s.client, r)
	return s.view.Show(list, err, func() {
		if len(list.Parties) == 0 {
			s.view.Out.Printf("No parties.\n")
			s.view.Next("parley party organize TOPIC --with AGENT", "begin one")
			return
		}
		t := term.Table{Heading: []string{"", "PARTY", "NAME", "LEADER", "MEMBERS", "TEAM", "DECAY", "STATE", "LAST"}, Flexible: 2}
		for _, party := range list.Parties {
			mark := ""
			if party.Current {
				mark = "*"
			}
			t.Rows = append(t.Rows, []string{
				mark, term.Line(party.Short), term.Line(party.Name), term.Line(party.Leader), cli.Count(len(party.Members), "member"), cli.Dash(party.Team), cli.Percent(party.Mean),
				party.State, s.view.Age(party.LastActivity),
			})
		}
		s.view.Table(t, cli.Squeeze{Column: 7}, cli.Squeeze{Column: 1, Least: 12}, cli.Squeeze{Column: 5, Least: 6})
		s.because(list.Me, list.Chosen)
	})
}

func newUseCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "use PARTY",
		Short:   "Choose the party that is meant where none is named",
		Example: `  parley party use triage`,
		Args:    cli.Exactly(1, "a party"),
	}
	return command(p, cmd, "print the party as JSON", func(s *session, ctx context.Context, args []string) error {
		party, err := control.UseParty.Ask(ctx, s.client, control.UsePartyRequest{Acting: s.acting, Party: args[0]})
		return s.view.Show(party, err, func() { s.view.Out.Printf("%s is the current party\n", term.Line(party.Name)) })
	})
}

func newRulesCommand(p *cli.Program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rules [RULE=VALUE…]",
		Short: "Show a party's rules, or change them as its leader",
		Example: `  parley party rules
  parley party rules consensus_mode=majority divergence_tolerance=low`,
		Args: cobra.ArbitraryArgs,
	}
	cmd = command(p, cmd, "print the rules, or what was done, as JSON", func(s *session, ctx context.Context, args []string) error {
		if len(args) == 0 {
			return s.rules(ctx)
		}
		done, err := s.do(ctx, control.PartyDeedRequest{Deed: protocol.ActRules, Set: args, Reason: reason})
		return s.view.Show(done, err, func() { s.view.Out.Printf("%s goes by: %s\n", term.Line(done.Party.Name), strings.Join(args, ", ")) })
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, kept in the record")
	return cmd
}

func (s *session) rules(ctx context.Context) error {
	party, err := s.ask(ctx)
	return s.view.Show(party.Rules, err, func() {
		t := term.Table{Heading: []string{"RULE", "VALUE"}, Flexible: 1}
		for _, name := range protocol.PartyRuleNames() {
			t.Rows = append(t.Rows, []string{name, party.Rules.Get(name)})
		}
		s.view.Table(t)
	})
}

func newRemoveCommand(p *cli.Program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "remove AGENT --reason WHY",
		Short:   "Remove a member, as the party's leader",
		Example: `  parley party remove mawui --reason "on another team now"`,
		Args:    cli.Exactly(1, "a member"),

		ValidArgsFunction: p.CompletePartners,
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActRemove, Whom: args[0], Reason: reason}, func(done control.PartyDeed) {
			gone := done.Party.Left[len(done.Party.Left)-1]
			s.view.Out.Printf("%s@%s is no member of %s any more\n", term.Line(gone.Name), gone.Host, term.Line(done.Party.Name))
		})
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, kept in the record and told to the party")
	return cmd
}

// say does something in a party, and says what was done.
func (s *session) say(ctx context.Context, r control.PartyDeedRequest, show func(control.PartyDeed)) error {
	done, err := s.do(ctx, r)
	return s.view.Show(done, err, func() {
		show(done)
		s.because(done.Me, done.Chosen)
	})
}

func newAgreeCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agree TEXT",
		Short: "Put an agreement to the party",
		Long: `Put an agreement to the party. By the rule consensus_mode all its members of
now have to accept it, a majority of them, or its leader.`,
		Example: `  parley party agree "Panes are named after agents"`,
		Args:    cli.AtLeast(1, "a text"),
	}
	return command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActPartyAgree, Text: strings.Join(args, " ")}, func(done control.PartyDeed) {
			s.proposal(done.Party, done.Party.Proposals[len(done.Party.Proposals)-1].Label.String())
		})
	})
}

func (s *session) proposal(party control.Party, id string) {
	for _, pr := range party.Proposals {
		if strings.EqualFold(pr.Label.String(), id) {
			s.view.Out.Printf("%s %s: %s%s\n", pr.Label, term.Line(pr.Text), pr.Outcome, s.votes(pr))
		}
	}
}

func newVoteCommand(p *cli.Program, accept bool) *cobra.Command {
	var reason string
	use, short := "reject A1 --reason WHY", "Decline an agreement that was put to the party"
	if accept {
		use, short = "accept A1", "Accept an agreement that was put to the party"
	}
	cmd := &cobra.Command{Use: use, Short: short, Example: "  parley party " + strings.Replace(use, "WHY", `"too many"`, 1), Args: cli.Exactly(1, "an agreement")}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActVote, Item: args[0], Accept: accept, Reason: reason}, func(done control.PartyDeed) {
			s.proposal(done.Party, args[0])
		})
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, kept in the record")
	return cmd
}

func newJoinCommand(p *cli.Program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "join PARTY",
		Short:   "Ask a party's leader to let your agent in",
		Example: `  parley party join triage --reason "I know the logs"`,
		Args:    cli.Exactly(1, "a party"),
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		s.party = args[0]
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActPartyJoin, Reason: reason}, func(done control.PartyDeed) {
			if done.Gate != nil {
				s.waits(done.Gate)
			}
		})
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, shown to the leader")
	return cmd
}
