package party

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewOrganizeCommand is parley party organize.
func NewOrganizeCommand(p *cli.Program) *cobra.Command {
	var r control.OrganizeRequest
	var with []string
	cmd := &cobra.Command{
		Use:   "organize TOPIC [--with AGENT…]",
		Short: "Begin a party of agents, led by you",
		Long: `Begin a party: agents on any hosts that work on something together, led by a
human. Those named by --with are invited; a human of each one's host decides.

Where an agent organizes, its human is asked first, and nobody is invited before
they agree. A party of that name that you are in is shown, never made anew;
--broadcast announces it.`,
		Example: `  parley party organize "party system design" --with mawjs mawui
  parley party organize "triage" --team fleet-core --anchor maw-js#332
  parley party organize "triage" --rules '{"consensus_mode": "majority"}'`,
		Args: cli.AtLeast(1, "a topic"),
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		r.Topic, r.Acting = args[0], s.acting
		r.With = cli.SplitNames(with)
		r.With = append(r.With, args[1:]...) // the seed writes "--with a b"
		if len(args) > 1 && len(with) == 0 {
			return cli.UsageErrorf(cmd, "%q: quote the topic, and name agents behind --with", args[1])
		}
		if r.Anchor != "" {
			r.Origin = cli.Origin(ctx)
		}
		return s.organize(ctx, r)
	})
	cmd.Flags().StringSliceVar(&with, "with", nil, "the `AGENT`s to invite")
	p.CompleteFlags(cmd, "with")
	cmd.Flags().StringVar(&r.Team, "team", "", "a `TAG` that several parties can have")
	cmd.Flags().StringVar(&r.Anchor, "anchor", "", "the `ISSUE` that it hangs on, such as maw-js#332")
	announcingFlags(cmd, &r.Announcing)
	cmd.Flags().StringVar(&r.Rules, "rules", "", "a `JSON` object of rules that are not the usual ones")
	return cmd
}

func (s *session) organize(ctx context.Context, r control.OrganizeRequest) error {
	r.Try = true
	planned, err := control.Organize.Ask(ctx, s.client, r)
	if err != nil {
		return err
	}
	done := planned
	if planned.Party.Name == "" || r.Broadcast { // a party that is already there can be announced
		r.Try, r.At = false, planned.Plan.At
		s.consents(ctx, planned.Plan, &r.Announcing)
		if r.Hsig, err = s.decide(ctx, planned.Plan); err != nil {
			return err
		}
		if done, err = control.Organize.Ask(ctx, s.client, r); err != nil {
			return err
		}
	}
	return s.view.Show(done, nil, func() { s.organized(done) })
}

// organized shows a party that was begun (seed, "Create Party").
func (s *session) organized(done control.PartyDeed) {
	out, party := s.view.Out, done.Party
	switch {
	case len(done.Messages) == 0:
		out.Printf("There is a party of that name: %s\n\n", term.Line(party.Name))
		s.table(party)
		for _, undone := range done.Failed {
			out.Printf("%s\n", out.Warn("not done: "+term.Line(undone)))
		}
		s.announced(done.Announced, false)
		return
	case done.Gate != nil:
		out.Printf("%s wants a party: %s\n", term.Line(done.Me), term.Line(party.Name))
		s.waits(done.Gate)
		return
	}
	out.Printf("🎉 Party organized: %s\n\n", term.Line(party.Name))
	label := func(name, value string) { out.Printf("  %s %s\n", term.Pad(name+":", 9), value) }
	label("Leader", fmt.Sprintf("%s (via %s)", term.Line(party.Leader), term.Line(party.Via)))
	label("Rules", rulesLine(party))
	label("Members", strings.Join(each.Of(party.Members, func(m control.PartyMember) string { return term.Line(m.Name) }), ", "))
	label("Team", cli.Dash(party.Team))
	if party.Anchor != "" {
		label("Anchor", term.Line(party.Anchor))
	}
	if invited := waiting(party); len(invited) > 0 {
		out.Printf("\n⏳ Invited: %s\n", strings.Join(invited, ", "))
	}
	for _, failed := range done.Failed {
		out.Printf("%s\n", out.Warn("not invited: "+term.Line(failed)))
	}
	s.comments(done.Comments)
	s.announced(done.Announced, true)
	s.because(done.Me, done.Chosen)
	who := "parley who"
	if done.Chosen == "" { // the agent was named, so the next command has to name it too
		who += " --via " + term.Shell(done.Me)
	}
	s.view.Next(who, "who has joined")
}

func waiting(party control.Party) (names []string) {
	for _, g := range party.Gates {
		if g.For == "invite" && open(g) {
			names = append(names, term.Line(g.Whom))
		}
	}
	return names
}

func open(g control.Gate) bool { return g.Outcome != "accepted" && g.Outcome != "declined" }

// rulesLine returns the rules in one line (seed, "Display").
func rulesLine(party control.Party) string {
	accept := map[string]string{"all": "accept-required", "majority": "majority", "leader-only": "leader decides"}[party.Rules.ConsensusMode]
	return fmt.Sprintf("sync≥%g · %s · diverge=%s", party.Rules.AcceptThreshold, accept, party.Rules.DivergenceTolerance)
}

// NewInviteCommand is parley party invite.
func NewInviteCommand(p *cli.Program) *cobra.Command {
	var tell control.Announcing
	cmd := &cobra.Command{
		Use:   "invite AGENT",
		Short: "Invite an agent into your party",
		Long: `Invite an agent into your party. Two humans decide: you, by typing this, and one
of the host that serves the agent. Silence is no answer: an invite waits. A
partner who has only an issue is asked in a comment on the party's issue.

An agent that invites asks its human first.`,
		Example: `  parley party invite white-wormhole
  parley party invite mawui@white --party triage`,
		Args:              cli.Exactly(1, "an agent"),
		ValidArgsFunction: p.CompletePartners,
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		done, err := s.do(ctx, control.PartyDeedRequest{Deed: "invite", Whom: args[0], Announcing: tell})
		return s.view.Show(done, err, func() {
			if done.Gate != nil && done.Gate.For == "invite" {
				s.view.Out.Printf("⏳ Invite sent to %s — waiting for response\n", term.Line(done.Gate.Whom))
			}
			if done.Gate != nil {
				s.waits(done.Gate)
			}
			s.comments(done.Comments)
			s.announced(done.Announced, false)
			s.because(done.Me, done.Chosen)
		})
	})
	announcingFlags(cmd, &tell)
	return cmd
}

// NewLeaveCommand is parley party leave.
func NewLeaveCommand(p *cli.Program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "leave [PARTY]",
		Short: "Leave a party; nothing is deleted",
		Long: `Leave a party. The others are told, and go on. When the last one leaves, the
party is archived. Nothing is deleted.`,
		Example: `  parley party leave "party system design"`,
		Args:    cli.Between(0, 1, "at most a party"),
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		if len(args) == 1 {
			s.party = args[0]
		}
		done, err := s.do(ctx, control.PartyDeedRequest{Deed: "leave", Reason: reason})
		return s.view.Show(done, err, func() {
			switch {
			case len(done.Party.Members) == 0:
				s.view.Out.Printf("📦 Archived empty party: %s (Nothing is Deleted)\n", term.Line(done.Party.Name))
			default:
				s.view.Out.Printf("👋 Left party: %s (%s remaining)\n", term.Line(done.Party.Name), cli.Count(len(done.Party.Members), "member"))
			}
			s.because(done.Me, done.Chosen)
		})
	})
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, kept in the record")
	return cmd
}
