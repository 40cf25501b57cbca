package party

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// about is what is told of the table of a party.
const about = `Who is in a party: where they are, how reachable, how far they are in sync on
its topic. Sync is the score that they gave last, Decay what it is worth now.
Below it stand invites that wait, what was agreed, tasks and reservations.

Gray and cyan are no alarm: that two see something otherwise is worth a look.
Nobody is removed by a score.`

// NewEverybodyCommand is parley who.
func NewEverybodyCommand(p *cli.Program) *cobra.Command {
	var everybody everybody
	ls := host.NewLsCommand(p)
	cmd := command(p, &cobra.Command{
		Use:   "who [PARTY]",
		Short: "Who can be reached, and what each is at; who is in your party",
		Long:  ls.Long + "\n\nBelow that stands your party, if you are in one; with PARTY it stands alone.\n\n" + about,
		Example: `  parley who
  parley who triage --watch
  for agent in $(parley who -q); do echo "$agent"; done`,
		Args: cli.Between(0, 1, "at most a party"),
	}, "print an array of participants as JSON, or the PARTY", everybody.run)
	cmd.Flags().BoolVarP(&everybody.quiet, "quiet", "q", false, "only the names, each once, one a line")
	watchFlag(cmd, &everybody.watch)
	return cmd
}

// everybody is a run of parley who.
type everybody struct {
	watch, quiet bool
}

func (e *everybody) run(s *session, ctx context.Context, args []string) error {
	if alone := len(args) > 0 || s.party != "" || e.watch; alone && e.quiet {
		return control.Errorf(control.KindUsage, "parley who --quiet", "--quiet lists who can be reached, and goes with no party")
	} else if alone {
		return s.one(ctx, args, e.watch)
	}
	if err := host.RunLs(ctx, e.quiet, s.client, s.view); err != nil || e.quiet || s.view.JSON {
		return err
	}
	party, err := s.ask(ctx)
	if refused := new(control.Error); errors.As(err, &refused) {
		return nil // there is none, or it is not clear which
	}
	if err == nil {
		s.view.Out.Printf("\n")
		s.table(party)
	}
	return err
}

// NewWhoCommand is parley work-with who.
func NewWhoCommand(p *cli.Program) *cobra.Command {
	var watch bool
	cmd := command(p, &cobra.Command{
		Use:   "who [PARTY]",
		Short: "Who is in your party, and how far they are in sync",
		Long:  about,
		Example: `  parley work-with who
  parley work-with who triage --watch`,
		Args: cli.Between(0, 1, "at most a party"),
	}, "print the party as JSON", func(s *session, ctx context.Context, args []string) error { return s.one(ctx, args, watch) })
	watchFlag(cmd, &watch)
	return cmd
}

func watchFlag(cmd *cobra.Command, watch *bool) {
	cmd.Flags().BoolVar(watch, "watch", false, "show the party again whenever something changes")
}

// one shows a party, once or again and again.
func (s *session) one(ctx context.Context, args []string, watch bool) error {
	if len(args) == 1 {
		s.party = args[0]
	}
	if watch {
		return s.watch(ctx)
	}
	party, err := s.ask(ctx)
	return s.view.Show(party, err, func() { s.table(party) })
}

func (s *session) ask(ctx context.Context) (control.Party, error) {
	return control.ShowParty.Ask(ctx, s.client, control.PartyRequest{Viewing: s.viewing(), Party: s.party})
}

// look is how often a party that is watched is asked for: presence changes without a message.
const look = 2 * time.Second

// watch shows the party again whenever what is shown of it has changed.
func (s *session) watch(ctx context.Context) error {
	last := ""
	for {
		party, err := s.ask(ctx)
		if err != nil {
			return err
		}
		var text strings.Builder
		shown := *s
		shown.view.Out.Writer = &text
		if s.view.JSON {
			if err := shown.view.WriteJSON(party); err != nil {
				return err
			}
		} else {
			shown.table(party)
		}
		if text.String() != last {
			if s.view.Out.Terminal && !s.view.JSON {
				s.view.Out.Printf("\x1b[H\x1b[2J")
			} else if last != "" && !s.view.JSON {
				s.view.Out.Printf("\n")
			}
			s.view.Out.Printf("%s", text.String())
			last = text.String()
		}
		if !wait.Sleep(ctx, look) {
			return nil
		}
	}
}

// dots are the marks of presence (seed, "Presence States").
var dots = map[string]string{"active": "●", "idle": "◐", "compacted": "◌", "away": "○", "dormant": "·", "hidden": "⊘", "busy": "◉"}

func (s *session) heading(party control.Party) {
	anchor, team := "", ""
	if party.Anchor != "" {
		anchor = " (" + term.Line(party.Anchor) + ")"
	}
	if party.Team != "" {
		team = " | Team: " + term.Line(party.Team)
	}
	out := s.view.Out
	out.Printf("🤝 %s%s\n", out.Bold(term.Line(party.Name)), anchor)
	s.line("   Leader: %s | Rules: %s · λ=%g%s", term.Line(party.Leader), rulesLine(party), party.Rules.DecayLambda, team)
}

// age makes "8 min ago" short: how old a score is.
var age = strings.NewReplacer("now", "0h", " min ago", "m", " ago", "")

// table shows a party (seed, "Display").
func (s *session) table(party control.Party) {
	out := s.view.Out
	s.heading(party)
	out.Printf("\n")
	t := term.Table{Heading: []string{"", "Oracle", "Node", "Status", "Raw", "Decay", "λ", "Age", "Trust", "Last", ""}, Flexible: 1, Style: func(row int, cell string) string {
		return out.Colour(string(party.Members[row].Colour), cell)
	}}
	for _, m := range party.Members {
		mark := cli.Sparkline(m.Sparkline)
		if m.Decayed.Below(topic.Resync) {
			mark += " ⚠"
		}
		t.Rows = append(t.Rows, []string{
			dots[m.Status], term.Line(m.Name), m.Host.String(), m.Status, cli.Percent(m.Raw), cli.Percent(m.Decayed), fmt.Sprintf("%g", m.Lambda), age.Replace(s.view.Age(m.LastSync)),
			string(m.Trust), s.view.Age(m.LastSync), mark,
		})
	}
	if len(t.Rows) > 0 {
		s.view.Table(t)
	} else {
		out.Printf("  nobody is in it: %s\n", party.State)
	}
	s.below(party)
}

func (s *session) below(party control.Party) {
	out := s.view.Out
	out.Printf("\n")
	if party.Synced > 0 {
		s.line("%d of %d synced, mean %s", party.Synced, len(party.Members), cli.Percent(party.Mean))
	}
	for _, g := range party.Gates {
		s.gateLine(g)
	}
	for _, m := range party.Members {
		name := term.Line(m.Name)
		if m.Note != "" {
			s.line("%s %s: %s", dots[m.Status], name, term.Line(m.Note))
		}
		switch {
		case m.Stale:
			s.line("⚠ %s is stale (below %g): whether they stay is the leader's to decide", name, party.Rules.KickThreshold)
		case m.OutOfSync:
			s.line("%s is out of sync (below %g)", name, party.Rules.AcceptThreshold)
		}
		if m.Resync {
			why := "💡 a sync would help"
			if party.Rules.DivergenceTolerance == "low" && m.Raw.Below(0.7) {
				why = "❗ the party asks for a sync (divergence_tolerance=low)"
			}
			s.line("%s: %s", why, s.view.Command("parley work-with "+term.Shell(m.Name)+" --sync"))
		}
	}
	if party.SyncDue {
		s.line("⏰ a sync is due (sync_cadence=%s): %s", party.Rules.SyncCadence, s.view.Command("parley work-with --sync"))
	}
	for _, pr := range party.Proposals {
		s.line("%s %s %s%s", map[string]string{"accepted": "✓", "declined": "✗", "pending": "·"}[string(pr.Outcome)], pr.Label, term.Line(pr.Text), s.votes(pr))
	}
	for _, task := range party.Tasks {
		s.taskLine(task)
	}
	for _, l := range party.Leases {
		s.line("🔒 %s has %s until %s (fence %d)", term.Line(l.Holder.String()), term.Line(strings.Join(l.Things, ", ")), s.view.Stamp(l.Until), l.Fence)
	}
	if n := len(party.Void); n > 0 {
		last := party.Void[n-1]
		s.view.Note(fmt.Sprintf("%s said in it and does not count; the last: %s by %s: %s", cli.Count(n, "thing"), last.Act, last.By, last.Why))
	}
}

func (s *session) votes(pr control.PartyProposal) string {
	if pr.Outcome != "pending" {
		return ""
	}
	voted := map[protocol.Address]bool{}
	for _, v := range pr.Votes {
		voted[v.Who] = true
	}
	var missing []string
	for _, who := range pr.Voters {
		if !voted[who] {
			missing = append(missing, term.Line(who.String()))
		}
	}
	return " (waits for " + strings.Join(missing, ", ") + ")"
}

func (s *session) taskLine(task control.PartyTask) {
	switch task.State {
	case "done":
		s.line("☑ %s %s (%s)", task.Label, term.Line(task.Text), term.Line(task.Taker.String()))
	case "taken":
		s.line("▶ %s %s (%s until %s)", task.Label, term.Line(task.Text), term.Line(task.Taker.String()), s.view.Stamp(task.Until))
	default:
		s.line("☐ %s %s", task.Label, term.Line(task.Text))
	}
}

func (s *session) gateLine(g control.Gate) {
	name := term.Line(g.Title)
	if g.For == "invite" {
		name = term.Line(g.Whom)
	}
	switch g.Outcome {
	case "pending":
		s.line("⏳ Pending: %s (asked %s, waits for %s)", name, s.view.Age(g.Time), cli.Decider(g))
	case "deferred":
		s.line("⏸ Deferred: %s (%q until %s)", name, term.Line(g.Reason), s.view.Stamp(g.Until))
	case "expired":
		s.line("⏱ No answer in time: %s (asked %s; a late one counts)", name, s.view.Age(g.Time))
	case "contested":
		s.view.Note("⚠ Contested: " + name + ": " + cli.Decider(g) + " is asked again: two answers contradict each other, or the host's key is used on two machines")
	case "declined":
		why := ""
		if g.Reason != "" {
			why = ": " + term.Line(g.Reason)
		}
		s.line("✗ %s declined%s", name, why)
	}
}
