// Package party holds the commands with which people and agents meet in parties: organize, invite,
// who and leave, the commands for gates at which humans decide, and those for what a party agrees
// on and does.
package party

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// session is one run of a command for parties.
type session struct {
	p      *cli.Program
	acting control.Acting
	party  string // the party that --party names; "" for the current one
	client control.Service
	view   cli.View
}

// flags gives a command the flags that say for whom something is done, and in which party if no
// word of the command names one.
func (s *session) flags(cmd *cobra.Command, json string) {
	cmd.Flags().StringVar(&s.acting.As, "via", "", "the `AGENT` for which a human does it (default: that of the folder)")
	if !strings.Contains(cmd.Use, " PARTY") && !strings.Contains(cmd.Use, " TOPIC") {
		cmd.Flags().StringVar(&s.party, "party", "", "the party's `SLUG` (default: the current one; see parley party use)")
	}
	s.p.JSONFlag(cmd, json)
	s.p.CompleteFlags(cmd, "via", "party")
}

func (s *session) begin() error {
	var err error
	s.view = s.p.View()
	if s.acting.Dir, err = os.Getwd(); err != nil {
		s.acting.Dir = "" // it only helps to find out for whom to act
	}
	s.client, err = s.p.Client()
	return err
}

// command sets up a command that works with parties.
func command(p *cli.Program, cmd *cobra.Command, json string, run func(s *session, ctx context.Context, args []string) error) *cobra.Command {
	s := &session{p: p}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.begin(); err != nil {
			return err
		}
		return run(s, cmd.Context(), args)
	}
	s.flags(cmd, json)
	if strings.Contains(cmd.Use, "PARTY") {
		cmd.ValidArgsFunction = p.CompleteParties
	}
	return cmd
}

func (s *session) viewing() control.Viewing {
	return control.Viewing{For: s.acting.As, Dir: s.acting.Dir}
}

// decide returns the signature of what a human decides in a party; "" if none is needed. It shows
// the decision before.
func (s *session) decide(ctx context.Context, plan control.PartyPlan) (string, error) {
	if plan.Decides == "" {
		return "", nil
	}
	return hand.Sign(ctx, s.p, s.client, protocol.HumanDecision{Act: plan.Act, Reason: plan.Decides})
}

// do does something in a party. If a human decides it, they sign it first.
func (s *session) do(ctx context.Context, r control.PartyDeedRequest) (control.PartyDeed, error) {
	r.Acting, r.Party, r.Try = s.acting, s.party, true
	planned, err := control.DoInParty.Ask(ctx, s.client, r)
	if err != nil {
		return planned, err
	}
	r.Try, r.At = false, planned.Plan.At
	s.consents(ctx, planned.Plan, &r.Announcing)
	r.As = planned.Me // so that what is done is what was shown
	if r.Hsig, err = s.decide(ctx, planned.Plan); err != nil {
		return planned, err
	}
	if s.acting.As == "" && planned.Chosen != "" {
		r.As = s.acting.As // the node chooses again, and says so
	}
	return control.DoInParty.Ask(ctx, s.client, r)
}

// because says for whom something was done, if the person did not name that one (R59).
func (s *session) because(me, chosen string) {
	if chosen == "only" {
		s.view.Out.Printf("%s\n", s.view.Out.Dim("for "+term.Line(me)+", the only agent of this host that could be meant"))
	}
}

// line shows a sentence in lines that fit the terminal.
func (s *session) line(format string, args ...any) { s.view.Say(fmt.Sprintf(format, args...)) }

func (s *session) waits(g *control.Gate) {
	if g.Host == "" {
		s.line("⏳ %s: no host serves it, so it is asked on the issue, and a comment lets nobody in; with a host of its own it asks: parley party join", term.Line(g.Title))
		return
	}
	s.line("⏳ %s: waits for %s at %s", term.Line(g.Title), cmp.Or(cli.Names(g.Deciders), "a human"), g.Host)
	if g.NoKey {
		s.line("   nobody there has a key of their own yet, which a gate needs: parley gates key add")
	}
	if g.Here {
		s.view.Next("parley gates", "what waits, and how to answer")
	}
}
