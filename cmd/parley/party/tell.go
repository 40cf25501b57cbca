package party

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewTellCommand is parley party tell.
func NewTellCommand(p *cli.Program) *cobra.Command {
	var persist bool
	cmd := &cobra.Command{
		Use:   "tell TEXT",
		Short: "Say something to all members of your party",
		Long: `Say something to all members of your party, and see what became of it for each:
who is busy gets it when it is free, who is away when it is back, who is hidden
not at all. Nobody is waited for.`,
		Example: `  parley party tell "schema amendments done, ready for review"
  parley party tell "checkpoint posted" --persist`,
		Args: cli.AtLeast(1, "a text"),
	}
	cmd = command(p, cmd, "print what became of it as JSON", func(s *session, ctx context.Context, args []string) error {
		text, err := p.Text(cmd, args)
		if err != nil {
			return err
		}
		told, err := control.TellParty.Ask(ctx, s.client, control.TellPartyRequest{Acting: s.acting, Party: s.party, Text: text, Persist: persist})
		return s.view.Show(told, err, func() {
			if len(told.To) == 0 {
				s.view.Out.Printf("There is nobody else in %s.\n", term.Line(told.Party))
				return
			}
			s.view.Out.Printf("Told %s:\n", term.Line(told.Party))
			showTold(s.view, told.To)
			if c := told.Comment; c != nil {
				s.comment(*c)
			}
			s.because(told.Me, told.Chosen)
		})
	})
	cmd.Flags().BoolVar(&persist, "persist", false, "tell it on the party's issue too, by the program gh")
	return cmd
}

// showTold shows what became of a message for each of its addressees.
func showTold(v cli.View, to []control.ToldOne) {
	words := map[string]string{
		control.ToldDelivered: "✓ %s (delivered)", control.ToldSent: "→ %s (on its way)", control.ToldQueued: "⏸ %s (busy, queued)",
		control.ToldKept: "○ %s (away: kept for its return)", control.ToldSkipped: "⊘ %s (hidden)", control.ToldFailed: "✗ %s",
	}
	for _, one := range to {
		line := fmt.Sprintf(words[one.Outcome], term.Line(one.Who))
		if one.Why != "" {
			line += ": " + term.Line(one.Why)
		}
		v.Out.Printf("  %s\n", line)
	}
}

func (s *session) comments(all []control.IssueComment) {
	for _, c := range all {
		s.comment(c)
	}
}

func (s *session) comment(c control.IssueComment) {
	switch {
	case c.Skipped != "":
		s.view.Out.Printf("  not told on the issue: %s\n", term.Line(c.Skipped))
	case c.Again:
		s.view.Out.Printf("  it is on %s already\n", term.Line(c.Issue))
	default:
		s.view.Out.Printf("  told on %s: %s\n", term.Line(c.Issue), term.Line(c.URL))
	}
}

// announced shows which agents were told of a party that was begun (seed, "Announce").
func (s *session) announced(a *control.Announcement, organized bool) {
	switch {
	case a == nil && organized:
		s.view.Out.Printf("%s\n", s.view.Out.Dim("not broadcast: --broadcast announces it"))
	case a != nil:
		ShowAnnouncement(s.view, a)
	}
}

// ShowAnnouncement shows which agents were told of something, or why nobody was told.
func ShowAnnouncement(v cli.View, a *control.Announcement) {
	out := v.Out
	switch {
	case a.Skipped != "":
		out.Printf("📢 Not broadcast: %s\n", term.Line(a.Skipped))
	default:
		out.Printf("📢 Broadcast to %s: %s\n", map[string]string{"team": "the team", "fleet": "the fleet"}[a.Tier], cli.Count(len(a.To), "agent"))
		showTold(v, a.To)
	}
}

// consents asks whether agents of other hosts may be told, if the request needs that.
func (s *session) consents(ctx context.Context, plan control.PartyPlan, a *control.Announcing) {
	if plan.Consent && !a.Consent {
		a.Consent = s.p.Confirm(ctx, "⚠ cross-host broadcast: agents of other hosts are told of it. Proceed? [y/N] ")
	}
}

// announcingFlags gives a command the flags that say whether others are told.
func announcingFlags(cmd *cobra.Command, a *control.Announcing) {
	cmd.Flags().BoolVar(&a.Broadcast, "broadcast", false, "tell all agents, or with a team the team; if an agent of another host is in it, all are told only if you agree")
	cmd.Flags().BoolVar(&a.Quiet, "quiet", false, "tell nobody of it, not even the team")
}

// NewRecruitCommand is parley party recruit.
func NewRecruitCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recruit [AGENT]",
		Short: "See whom you could ask into your party; introduce and invite one",
		Long: `Without a name: the agents that hosts serve and those in your contacts. With
one: it is told who you are and what the party is about, and is invited.`,
		Example: `  parley party recruit
  parley party recruit white-wormhole`,
		Args:              cli.Between(0, 1, "at most an agent"),
		ValidArgsFunction: p.CompletePartners,
	}
	return command(p, cmd, "print who is there, or what was done, as JSON", func(s *session, ctx context.Context, args []string) error {
		if len(args) == 0 {
			return ShowRecruits(ctx, control.RecruitsRequest{Viewing: s.viewing(), Party: s.party}, s.client, s.view)
		}
		done, err := s.do(ctx, control.PartyDeedRequest{Deed: protocol.ActInvite, Whom: args[0], Introduce: true})
		return s.view.Show(done, err, func() {
			if done.Gate != nil && done.Gate.For == "invite" {
				s.view.Out.Printf("👋 Introduced, and ⏳ invite sent to %s — waiting for response\n", term.Line(done.Gate.Whom))
			}
			if done.Gate != nil {
				s.waits(done.Gate)
			}
			s.because(done.Me, done.Chosen)
		})
	})
}

// ShowRecruits lists agents that could be asked into a party.
func ShowRecruits(ctx context.Context, r control.RecruitsRequest, client control.Service, v cli.View) error {
	list, err := control.Recruits.Ask(ctx, client, r)
	return v.Show(list, err, func() {
		v.Out.Printf("Available oracles:\n")
		for _, r := range list.Agents {
			state := "away"
			if r.Live {
				state = "live"
			}
			if r.Standing != "" {
				state += ", " + r.Standing
			}
			v.Out.Printf("  %s@%s (%s)\n", term.Line(r.Name), r.Host, state)
		}
		v.Out.Printf("\nKnown contacts:\n")
		for _, c := range list.Contacts {
			v.Out.Printf("  %s (%s)\n", term.Line(c.Name), cli.Dash(c.Node))
		}
		if len(list.Contacts) == 0 {
			v.Out.Printf("  none in contacts.json\n")
		}
		v.Next("parley party recruit AGENT", "introduce yourself and invite one")
	})
}

// NewRecapCommand is parley party recap.
func NewRecapCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recap [PARTY]",
		Short: "What a late member of a party has missed, on one page",
		Long: `What a party has come to, on one page: what it agreed on and declined, what
humans decided, who is in it and who was, what is open. For a session that
begins, or one who joined late.`,
		Example: `  parley party recap "party system design"`,
		Args:    cli.Between(0, 1, "at most a party"),
	}
	return command(p, cmd, "print the party as JSON", func(s *session, ctx context.Context, args []string) error {
		if len(args) == 1 {
			s.party = args[0]
		}
		party, err := s.ask(ctx)
		return s.view.Show(party, err, func() { s.recap(party) })
	})
}

func (s *session) recap(party control.Party) {
	out := s.view.Out
	s.heading(party)
	part := func(name string, lines []string) {
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		out.Printf("\n%s\n", out.Bold(name))
		for _, line := range lines {
			s.line("  %s", line)
		}
	}
	var agreed, opened, decided, who []string
	for _, pr := range party.Proposals {
		line := fmt.Sprintf("%s %s (%s, %s)", pr.Label, term.Line(pr.Text), pr.Outcome, term.Line(pr.By))
		if pr.Outcome == "pending" {
			opened = append(opened, line+s.votes(pr))
		} else {
			agreed = append(agreed, line)
		}
	}
	for _, g := range party.Gates {
		line := fmt.Sprintf("%s: %s", term.Line(g.Title), g.Outcome)
		if open(g) {
			opened = append(opened, line+", waits for "+cli.Decider(g))
		} else {
			decided = append(decided, fmt.Sprintf("%s by %s, %s%s", line, term.Line(g.DecidedBy), s.view.At(g.Decided, cli.ShortForm), cli.Lead(": ", g.Reason)))
		}
	}
	for _, t := range party.Tasks {
		if t.State != "done" {
			opened = append(opened, fmt.Sprintf("%s %s (%s%s)", t.Label, term.Line(t.Text), t.State, cli.Lead(" by ", t.Taker.String())))
		} else {
			agreed = append(agreed, fmt.Sprintf("%s %s (done%s)", t.Label, term.Line(t.Text), cli.Lead(" by ", t.Taker.String())))
		}
	}
	for _, m := range party.Members {
		who = append(who, fmt.Sprintf("%s %s@%s since %s", dots[m.Status], term.Line(m.Name), m.Host, s.view.At(m.Joined, cli.ShortForm)))
	}
	for _, gone := range party.Left {
		who = append(who, fmt.Sprintf("%s@%s left on %s%s", term.Line(gone.Name), gone.Host, s.view.At(gone.Time, cli.ShortForm), cli.Lead(": ", gone.Reason)))
	}
	part("Agreed and done", agreed)
	part("Decided by humans", decided)
	part("Who", who)
	part("Open", opened)
	if slices.ContainsFunc(party.Members, func(m control.PartyMember) bool { return m.Resync }) {
		out.Printf("\n💡 some would do well to check how far they are in sync: parley who\n")
	}
}

// RunBroadcastStats is parley broadcast stats.
func RunBroadcastStats(ctx context.Context, client control.Service, v cli.View) error {
	use, err := control.BroadcastStats.Ask(ctx, client, control.BroadcastStatsRequest{})
	return v.Show(use, err, func() {
		v.Out.Printf("%s of parties; somebody joined or answered within 7 days: %d (%s)\n", cli.Count(use.Sent, "broadcast"), use.Useful, protocol.NewScore(use.Share).Percent())
		if use.Share > 0.8 {
			v.Out.Printf("That is above 80%%: pairs might as well be announced without being asked.\n")
		}
	})
}
