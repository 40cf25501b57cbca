package party

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewGatesCommand is parley gates.
func NewGatesCommand(p *cli.Program) *cobra.Command {
	var r control.GatesRequest
	cmd := &cobra.Command{
		Use:   "gates [ID]",
		Short: "What waits for a human to decide",
		Long: `What waits for a human to decide, with all that is shown to them: invites of
agents of this host, wishes of its agents, who asks to be let into a party,
inquiries. Only a human of the host that it concerns decides, with their own key
(parley gates key); time and silence decide nothing.

At a terminal it goes through all that waits, one after the other, and takes
your answer to each: its letter, with "r WHY" and "d 2h WHY" for more. Enter
decides nothing. The passphrase is asked once, for the first decision, and
forgotten at the end. With ID, --all or --json, and in a pipe, it only prints.`,
		Example: `  parley gates
  parley gates accept 1f2e3d4c
  parley gates defer 1f2e3d4c --until 2h --reason "after standup"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !gateID.MatchString(args[0]) {
				return cli.UnknownCommand(cmd, args)
			}
			return cli.Between(0, 1, "at most one gate")(cmd, args)
		},
		ValidArgsFunction: p.CompleteGates,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.ID = args[0]
			}
			s := &session{p: p}
			if err := s.begin(); err != nil {
				return err
			}
			return s.gates(cmd.Context(), r)
		},
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "those that are decided too")
	p.JSONFlag(cmd, "print the gates as JSON")
	return cmd
}

// gateID matches the id of a gate, and the path of its message.
var gateID = regexp.MustCompile(`^[0-9a-f]{8}$|/`)

func (s *session) gates(ctx context.Context, r control.GatesRequest) error {
	list, err := control.Gates.Ask(ctx, s.client, r)
	if err != nil {
		return err
	}
	if r.ID == "" && !r.All && list.HasKey && len(list.Gates) > 0 && s.walks() {
		return s.walk(ctx, list.Gates)
	}
	frames, _ := control.Frames.Ask(ctx, s.client, control.FramesRequest{}) // who may not see them sees the gates
	stands := func() {
		for _, f := range frames.Frames {
			s.view.Stands(f)
		}
	}
	return s.view.Show(list, err, func() {
		defer stands()
		if len(list.Gates) == 0 {
			s.view.Out.Printf("Nothing waits for %s.\n", list.Human)
			return
		}
		for i, g := range list.Gates {
			if i > 0 {
				s.view.Out.Printf("\n")
			}
			ShowGate(s.view, g)
		}
		if !list.HasKey {
			s.view.Out.Printf("\n")
			s.line("%s has no key of their own, which a gate needs: %s", list.Human, s.view.Command("parley gates key add"))
		}
	})
}

// ShowGate shows one gate, and the commands that answer it.
func ShowGate(v cli.View, g control.Gate) {
	(&session{view: v}).gate(g)
	switch {
	case g.For == "inquiry" && g.Outcome == "contested": // the inquiry says what helps
	case g.For == "inquiry" && g.Outcome != "answered" && g.Here:
		v.Next("parley frame answer "+g.Channel[:8], "decide it")
	case g.For == "inquiry":
	case open(g) && g.Here:
		v.Steps("parley gates accept "+g.ID, "agree to it", "parley gates reject "+g.ID+" --reason WHY", "decline", "parley gates defer "+g.ID+" --until 2h", "put it off")
	}
}

// gate shows one gate: all that the deciding human is shown, and how the gate stands.
func (s *session) gate(g control.Gate) {
	out := s.view.Out
	s.line("%s  %s — %s  (%s, %s)", cli.ShellWord(g.ID), term.Line(g.Party), term.Line(g.Title), g.Outcome, s.view.Age(g.Time))
	s.view.ShowAsker(g.Asker)
	for line := range strings.SplitSeq(strings.TrimRight(g.Shown, "\n"), "\n") {
		for _, part := range term.Wrap(term.Line(line), max(0, out.Width-4)) {
			out.Printf("    %s\n", part)
		}
	}
	switch {
	case g.Outcome == "contested":
		why := "two answers contradict each other"
		if g.For != "inquiry" {
			why += ", or the host's key is used on two machines"
		}
		s.view.Note("  " + why + "; answer it again to settle it")
	case g.DecidedBy != "":
		s.line("  %s by %s, %s%s", g.Outcome, term.Line(g.DecidedBy), s.view.At(g.Decided, cli.TimeForm), cli.Lead(": ", g.Reason))
	}
	if open(g) {
		none := ""
		if g.NoKey {
			none = ", and has no key of their own yet"
		}
		s.line("  %s decides at %s%s", cli.Decider(g), g.Host, none)
	}
}

type answering struct {
	use, short, done, verb string
	act                    protocol.Act
	outcome                string // if the gate has this outcome already, the same need not be said again
}

// The answers to a gate.
var (
	accepting = answering{"accept ID", "Agree to what a gate asks you", "✓ accepted", "accept", protocol.ActPartyAccept, "accepted"}
	rejecting = answering{"reject ID", "Decline what a gate asks you", "✗ declined", "decline", protocol.ActPartyReject, "declined"}
	deferring = answering{"defer ID", "Put off what a gate asks you", "⏸ put off", "put off", protocol.ActPartyDefer, ""}
)

// usualDelay is for how long a gate is put off where nobody says.
const usualDelay = "1d"

// NewAcceptCommand is parley gates accept.
func NewAcceptCommand(p *cli.Program) *cobra.Command {
	return newAnswerCommand(p, accepting)
}

// NewRejectCommand is parley gates reject.
func NewRejectCommand(p *cli.Program) *cobra.Command {
	return newAnswerCommand(p, rejecting)
}

// NewDeferCommand is parley gates defer.
func NewDeferCommand(p *cli.Program) *cobra.Command {
	return newAnswerCommand(p, deferring)
}

func newAnswerCommand(p *cli.Program, a answering) *cobra.Command {
	var r control.AnswerGateRequest
	var until, key string
	var yes bool
	cmd := &cobra.Command{
		Use:   a.use,
		Short: a.short,
		Long: a.short + `.

ID is what "parley gates" shows. You see all of it and are asked once more; then
your key signs the answer, with its passphrase. What you decided before is taken
back by answering again, which is kept too.

In scripts --yes asks nothing, and needs --key with the file of a key that has
no passphrase.`,
		Example: "  parley gates " + strings.Fields(a.use)[0] + " 1f2e3d4c",
		Args:    cli.Exactly(1, "the id of a gate"),

		ValidArgsFunction: p.CompleteGates,
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && key == "" {
				return cli.UsageErrorf(cmd, "--yes needs --key FILE: nobody decides for you by accident")
			}
			if err := p.ForPerson("answer a gate"); err != nil && !yes { // else the node refuses, and says more
				return err
			}
			s := &session{p: p}
			if err := s.begin(); err != nil {
				return err
			}
			var err error
			if r.Until, err = untilOf(until, s.view); err != nil {
				return cli.UsageErrorf(cmd, "%v", err)
			}
			if a.act == protocol.ActPartyDefer && r.Until.IsZero() {
				return cli.UsageErrorf(cmd, "--until needs a time, such as 2h")
			}
			r.Act = a.act
			return s.answer(cmd.Context(), args[0], r, a, key, yes)
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "`WHY`, kept in the record")
	if a.act == protocol.ActPartyDefer {
		cmd.Flags().StringVar(&until, "until", usualDelay, "`WHEN` to come back to it: 2h, 3d, a date, or a date and time")
	}
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` of your key (default: that of this home)")
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	p.JSONFlag(cmd, "print the gate as JSON")
	return cmd
}

// untilOf reads a time that was typed: a span from now, or a date. It is in whole seconds, as in
// the message, and a span is never cut short by that.
func untilOf(text string, v cli.View) (time.Time, error) {
	if d, err := span.Parse(text); err == nil && text != "" {
		return v.Now().Add(d + time.Second - 1).UTC().Truncate(time.Second), nil
	}
	return cli.ParseUntil(text, v.Zone)
}

func (s *session) answer(ctx context.Context, id string, r control.AnswerGateRequest, a answering, key string, yes bool) error {
	if id == "" { // without an id, it would mean any gate
		return control.Errorf(control.KindUsage, "see what waits: parley gates", "no gate is named")
	}
	list, err := control.Gates.Ask(ctx, s.client, control.GatesRequest{ID: id, Files: true})
	if err != nil {
		return err
	}
	if len(list.Gates) > 1 {
		return control.Errorf(control.KindUsage, "give the whole path: "+list.Gates[0].Path, "several gates are called %q", id)
	}
	g := list.Gates[0]
	if err := trusted(g); err != nil && g.For != "inquiry" {
		return err
	}
	if !s.view.JSON && !yes && g.For != "inquiry" {
		said := *s
		said.view.Out = s.view.Err
		said.gate(g)
	}
	switch {
	case g.For == "inquiry":
		return control.Errorf(control.KindRefused, "parley frame answer "+g.Channel[:8], "an inquiry asks that, and has options of its own")
	case !g.Here:
		return control.Errorf(control.KindRefused, "it is for them to decide, there", "%s decides it, and you are %s, of another host", cli.Decider(g), list.Human)
	case string(g.Outcome) == a.outcome:
		return control.Errorf(control.KindRefused, "", "it is %s already, by %s", g.Outcome, term.Line(g.DecidedBy))
	case !list.HasKey:
		return control.Errorf(control.KindRefused, "parley gates key add", "%s has no key of their own, which a gate needs", list.Human)
	case !yes && !term.IsTerminal(s.p.Stdin):
		return control.Errorf(control.KindRefused, "run it at a terminal; scripts: --yes --key FILE", "nobody is here to be asked")
	case !yes && !s.p.Confirm(ctx, fmt.Sprintf("%s it as %s? [y/N] ", strings.ToUpper(a.verb[:1])+a.verb[1:], list.Human)):
		s.view.Out.Printf("Nothing was decided.\n")
		return cli.ExitCode(1)
	}
	return s.settle(ctx, g, r, a, &hand.Signer{Path: key})
}

// settle signs what the human decides at a gate, and has it written.
func (s *session) settle(ctx context.Context, g control.Gate, r control.AnswerGateRequest, a answering, signer *hand.Signer) error {
	r.Path, r.TakesBack = g.Path, g.TakesBack
	if g.Outcome == "deferred" || g.Outcome == "expired" {
		r.TakesBack = "" // what was deferred is decided now, and nothing is taken back
	}
	path, err := protocol.ParsePath(g.Path)
	if err != nil {
		return err
	}
	decision := protocol.HumanDecision{Gate: path, GateHash: g.Hash, Act: r.Act, Reason: r.Reason, Until: r.Until, TakesBack: r.TakesBack}
	if r.Hsig, err = signer.Sign(ctx, s.p, s.client, decision); err == nil {
		r.Seen, err = signer.Saw(g.Asker, r.Hsig)
	}
	if err != nil {
		return err
	}
	now, err := s.gateNow(ctx, g.Path) // they may have taken their time
	now.NoKey = g.NoKey                // the node says more of a key that has ended
	if err != nil || !reflect.DeepEqual(now, g) {
		return cmp.Or(err, error(control.Errorf(control.KindConflict, "look at it again: parley gates", "nothing was decided: the gate has changed since it was shown")))
	}
	g, err = control.AnswerGate.Ask(ctx, s.client, r)
	return s.view.Show(g, err, func() {
		proof := ""
		if g.Proof == control.ProofOpenKey {
			proof = " (signed, open key)"
		}
		s.view.Out.Printf("%s: %s, %s%s\n", a.done, term.Line(g.Title), term.Line(g.Party), proof)
		if g.Outcome == "accepted" && g.For == "invite" {
			s.view.Out.Printf("✓ %s joined the party\n", term.Line(g.Whom))
		}
		s.announced(g.Announced, false)
	})
}

// trusted returns an error if what is shown of a gate is not what its message says. A human must
// sign what they saw, whatever the node tells.
func trusted(g control.Gate) error {
	return hand.Shown(g.Path, g.Hash, g.File, g.Asker, func(m *protocol.Message) error {
		if m.Body != g.Shown {
			return errors.New("the node shows other words than the message has")
		}
		return nil
	})
}
