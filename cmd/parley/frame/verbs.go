package frame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// id is the inquiry that a command names; "", which stands for the newest one, if it names none.
func id(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func newListCommand(p *cli.Program) *cobra.Command {
	var r control.FramesRequest
	cmd := &cobra.Command{
		Use: "list", Short: "The inquiries that go on", Example: "  parley frame list --all", Args: cobra.NoArgs,
		RunE: running(p, func(s *session, cmd *cobra.Command, _ []string) error {
			list, err := control.Frames.Ask(cmd.Context(), s.client, r)
			return s.view.Show(list, err, func() {
				if len(list.Frames) == 0 {
					s.view.Out.Printf("No inquiry goes on.\n")
					s.view.Next("parley frame QUESTION", "begin one")
					return
				}
				t := term.Table{Heading: []string{"ID", "State", "Waits for", "Age", "Question"}, Flexible: 4}
				for _, f := range list.Frames {
					t.Rows = append(t.Rows, []string{f.ID, f.StateText, cli.Dash(term.Line(f.Waits)), s.view.Age(f.Began), term.Line(f.Question)})
				}
				s.view.Table(t)
				for _, f := range list.Frames {
					s.view.Stands(f)
				}
			})
		}),
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "those that are over too")
	p.JSONFlag(cmd, "print them as JSON")
	return cmd
}

func newShowCommand(p *cli.Program) *cobra.Command {
	var watch bool
	var name string
	cmd := &cobra.Command{
		Use: "show [ID]", Aliases: []string{"status"}, Short: "How an inquiry stands, and what it has found",
		Long: `How an inquiry stands: brief, perspectives, who investigates them, results,
dialogues and the synthesis, as far as it came. While members work nothing of
what they find is shown to anybody. --member shows the whole result of one.

Without an ID it is the newest that goes on.`,
		Example: "  parley frame show\n  parley frame show 1f2e3d4c --watch\n  parley frame show --member \"Cost accounting\"",
		Args:    cli.Between(0, 1, "at most one inquiry"),
		RunE: running(p, func(s *session, cmd *cobra.Command, args []string) error {
			if watch && name != "" {
				return cli.UsageErrorf(cmd, "--watch and --member are two things: choose one")
			}
			f, err := s.show(cmd.Context(), id(args), "", 0)
			switch {
			case err != nil:
				return err
			case name != "":
				return s.member(f, name)
			case s.view.JSON && !watch:
				return s.view.WriteJSON(f)
			}
			seen := &told{}
			s.head(f)
			for {
				if s.view.JSON {
					if err := s.view.WriteJSON(f); err != nil {
						return err
					}
				} else {
					s.news(f, seen)
				}
				if !watch || f.Over {
					break
				}
				if err := s.waiting(f, seen); err != nil {
					return err
				}
				if f, err = s.show(cmd.Context(), f.Channel.String(), f.Last, s.patience(f)); err != nil {
					if cmd.Context().Err() != nil { // the person who looks on has seen enough
						return nil
					}
					return err
				}
			}
			return s.foot(f)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "go on until it is over")
	cmd.Flags().StringVar(&name, "member", "", "the whole result of one member, by the `NAME` of its perspective or agent")
	p.JSONFlag(cmd, "print it as JSON")
	return cmd
}

// member shows a member of an inquiry, with its whole result.
func (s *session) member(f control.Frame, name string) error {
	var names []string
	var fits []control.FrameMember
	for _, m := range f.Members {
		names = append(names, m.Perspective)
		switch agent, _, _ := strings.Cut(m.Agent, "@"); {
		case strings.EqualFold(m.Perspective, name) || m.Agent == name || agent == name:
			return s.view.Show(m, nil, func() { s.printMember(m) })
		case strings.HasPrefix(strings.ToLower(m.Perspective), strings.ToLower(name)):
			fits = append(fits, m)
		}
	}
	if len(fits) == 1 {
		return s.view.Show(fits[0], nil, func() { s.printMember(fits[0]) })
	}
	return control.Errorf(control.KindNotFound, "they are: "+cmp.Or(strings.Join(names, ", "), "none yet"), "no member of the inquiry is %q", name)
}

func (s *session) printMember(m control.FrameMember) {
	out := s.view.Out
	out.Printf("%s  %s, attempt %d: %s\n", out.Bold(term.Line(m.Perspective)), term.Line(m.Agent), m.Attempt, m.State)
	for _, flag := range append(m.Flags, m.Degraded, m.Problem) {
		if flag != "" {
			out.Printf("  ⚠ %s\n", term.Line(flag))
		}
	}
	if m.Result == "" {
		out.Printf("\nNo result of it is told. All are told together, when all have ended.\n")
		return
	}
	s.part("Its result", term.Visible(strings.TrimSpace(m.Result)), new(string))
}

// head shows the first lines of an inquiry.
func (s *session) head(f control.Frame) {
	if s.view.JSON {
		return
	}
	out := s.view.Out
	out.Printf("%s  %s\n", out.Bold(f.ID), term.Line(f.Question))
	epoch := "" // the first epoch says nothing to somebody who has resumed none
	if f.Epoch > 1 {
		epoch = fmt.Sprintf(" (epoch %d)", f.Epoch)
	}
	head := fmt.Sprintf("%s · %s · cycle %d · asked by %s, %s · coordinated by %s%s", f.StateText, cmp.Or(f.Mode, "mode not chosen"), f.Cycle, term.Line(f.By), s.view.Age(f.Began), term.Line(f.Coordinator), epoch)
	out.Printf("  %s\n", strings.Join(term.Wrap(head, max(0, out.Width-2)), "\n  "))
	if f.In != "" {
		out.Printf("  investigates %s\n", term.Line(f.In))
	}
}

// waiting says in a watch that an inquiry waits for somebody. It says that once for each thing that
// the inquiry waits for: else a gate that opens during the watch would not be noticed.
func (s *session) waiting(f control.Frame, seen *told) error {
	now := f.Trouble
	if f.Gate != nil {
		now += f.Gate.Path
	}
	if now == seen.waits || s.view.JSON {
		return nil
	}
	seen.waits = now
	if now == "" {
		return nil
	}
	return s.foot(f)
}

func (s *session) foot(f control.Frame) error {
	if s.view.JSON {
		return nil
	}
	out := s.view.Out
	switch {
	case f.Over:
		s.over(f)
		return nil
	case f.Trouble != "":
		out.Printf("\n")
		s.view.Stands(f)
	}
	switch {
	case f.Gate != nil:
		if err := s.options(f); err != nil {
			return err
		}
		out.Printf("\nIt waits for %s.\n", term.Line(strings.Join(f.Deciders, " or ")))
		if f.Gate.NoKey {
			out.Printf("None of them has a key of their own, which a gate needs: %s\n", s.view.Command("parley gates key add"))
		} else if f.Mine {
			s.view.Next(comeBack(f), "decide it")
		}
	case f.Trouble != "":
	case slices.Contains(silent, f.State) && out.Terminal: // it was said already
	default:
		out.Printf("\nIt waits for %s.\n", cli.Dash(term.Line(f.Waits)))
	}
	return nil
}

func newAnswerCommand(p *cli.Program) *cobra.Command {
	var choose []string
	var text, key string
	var takesBack bool
	cmd := &cobra.Command{
		Use: "answer [ID]", Short: "Decide what an inquiry asks you",
		Long: `Decide what an inquiry asks you: all options, in their order, with what they
mean here. Your key signs the answer, with its passphrase. The command goes on
then, as parley frame does: it shows what comes and asks at each gate. Esc or q
puts a gate off, and Ctrl-C leaves; neither ends the inquiry.

--choose gives the options by their keys: OPTION, or QUESTION=OPTION,… where a
gate asks several things; --text what you write beside it. At a terminal you see
the whole gate then, and are asked once more. In scripts --key names the file of
a key that has no passphrase, and nothing is asked.

If two answers with your key contradict each other, nothing follows until one
holds: --takes-back takes back those that you do not choose now.`,
		Example: `  parley frame answer
  parley frame answer 1f2e3d4c --choose confirm --choose inquire
  parley frame answer --choose "perspectives=Operations,Cost accounting"`,
		Args: cli.Between(0, 1, "at most one inquiry"),
		RunE: running(p, func(s *session, cmd *cobra.Command, args []string) error {
			s.hand.Path = key
			f, err := s.show(cmd.Context(), id(args), "", 0)
			switch {
			case err != nil:
				return err
			case f.Gate == nil && f.Trouble != "":
				return control.Errorf(control.KindRefused, f.Helps, "the inquiry asks nothing, and does not go on: %s", term.Line(f.Trouble))
			case f.Gate == nil:
				return control.Errorf(control.KindRefused, "see: parley frame show "+f.ID, "the inquiry asks nothing at the moment: %s", f.StateText)
			case takesBack && !f.Gate.Contested:
				return control.Errorf(control.KindRefused, "answer it: parley frame answer "+f.ID, "no answers contradict each other at this gate")
			case !f.Mine:
				return control.Errorf(control.KindRefused, "it is for them to decide", "%s decides it", strings.Join(f.Deciders, " or "))
			}
			if len(choose) == 0 && text == "" {
				if !term.IsTerminal(p.Stdin) {
					return control.Errorf(control.KindRefused, "run it at a terminal; scripts: --choose OPTION", "nobody is here to be asked")
				}
				return s.follow(cmd.Context(), f)
			}
			w, err := asked(f.Gate)
			if err != nil {
				return err
			}
			chosen, err := flagged(w, choose, askedMode(w.Gate, f))
			if err != nil {
				return err
			}
			if key == "" && term.IsTerminal(p.Stdin) {
				if err := s.agrees(cmd.Context(), f, chosen, text); err != nil {
					return err
				}
			}
			after, err := s.answer(cmd.Context(), f, chosen, text)
			return s.view.Show(after, err, func() { s.answered(after) })
		}),
	}
	cmd.Flags().StringArrayVar(&choose, "choose", nil, "an `OPTION`, or QUESTION=OPTION,…")
	cmd.Flags().StringVar(&text, "text", "", "what you write beside it; perspectives one a line")
	cmd.Flags().BoolVar(&takesBack, "takes-back", false, "take back what you said otherwise at this gate")
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` of your key (default: that of this home)")
	p.JSONFlag(cmd, "print the inquiry as JSON")
	return cmd
}

func (s *session) answered(f control.Frame) {
	s.view.Out.Printf("✓ decided; now: %s\n", f.StateText)
	if f.Trouble != "" {
		s.view.Stands(f)
	} else if !f.Over {
		s.view.Next("parley frame show "+f.ID+" --watch", "how it goes on")
	}
}

func newEscCommand(p *cli.Program) *cobra.Command {
	var reason, key string
	var yes bool
	cmd := &cobra.Command{
		Use: "esc ID", Short: "End an inquiry at once",
		Long: `End an inquiry at once, in whatever state it is. Its members are stopped as
soon as their hosts learn of it. What there is stays in the record; what comes
later is kept as late.`,
		Example: "  parley frame esc 1f2e3d4c --reason \"the question is settled\"",
		Args:    cli.Exactly(1, "the id of an inquiry"),
		RunE: running(p, func(s *session, cmd *cobra.Command, args []string) error {
			s.hand.Path = key
			f, err := s.show(cmd.Context(), args[0], "", 0)
			if err != nil {
				return err
			}
			if f.Over {
				return control.Errorf(control.KindRefused, "", "the inquiry is over: %s", f.StateText)
			}
			if !yes && term.IsTerminal(p.Stdin) {
				s.head(f)
				if !p.Confirm(cmd.Context(), "End it at once? [y/N] ") {
					s.view.Out.Printf("It goes on.\n")
					return cli.ExitCode(1)
				}
			}
			e := protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{Text: reason}}
			hsig, err := s.sign(cmd.Context(), f.Path, protocol.HumanDecision{GateHash: f.Hash, Act: protocol.ActFrameEsc, Reason: e.Decides()})
			if err != nil {
				return err
			}
			f, err = control.EscFrame.Ask(cmd.Context(), s.client, control.EndFrameRequest{ID: f.Channel.String(), Reason: reason, Hsig: hsig})
			return s.view.Show(f, err, func() { s.over(f) })
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, kept in the record")
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` of your key (default: that of this home)")
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	p.JSONFlag(cmd, "print the inquiry as JSON")
	return cmd
}

func newResumeCommand(p *cli.Program) *cobra.Command {
	var coordinator, key string
	cmd := &cobra.Command{
		Use: "resume [ID]", Short: "Have this host coordinate an inquiry, or try again what failed",
		Long: `Have this host coordinate an inquiry from now on: the host that did is lost,
or a call of its agent has failed. The record has all that it needs. What the
earlier coordinator writes afterwards does not count.

The same agent goes on where this host runs it; else the one of the fleet's
policy, or one that is no member. --coordinator names another.`,
		Example: "  parley frame resume 1f2e3d4c --coordinator mawjs",
		Args:    cli.Between(0, 1, "at most one inquiry"),
		RunE: running(p, func(s *session, cmd *cobra.Command, args []string) error {
			s.hand.Path = key
			r := control.ResumeFrameRequest{ID: id(args), Coordinator: coordinator, Try: true}
			tried, err := control.ResumeFrame.Ask(cmd.Context(), s.client, r)
			if err != nil {
				return err
			}
			if tried.Frame.Over { // so that the passphrase is not asked for in vain
				return control.Errorf(control.KindRefused, "begin another one: parley frame QUESTION", "cannot resume the inquiry: it is over (%s)", tried.Frame.StateText)
			}
			r.ID, r.Try = tried.Frame.Channel.String(), false
			if r.Hsig, err = s.sign(cmd.Context(), tried.Frame.Path, protocol.HumanDecision{GateHash: tried.Frame.Hash, Act: protocol.ActFrameResume, Reason: tried.Decides}); err != nil {
				return err
			}
			done, err := control.ResumeFrame.Ask(cmd.Context(), s.client, r)
			return s.view.Show(done, err, func() {
				s.view.Out.Printf("✓ %s coordinates it, in epoch %d\n", term.Line(done.Frame.Coordinator), done.Frame.Epoch)
				s.view.Next("parley frame show "+done.Frame.ID+" --watch", "how it goes on")
			})
		}),
	}
	cmd.Flags().StringVar(&coordinator, "coordinator", "", "the `AGENT` that makes its calls")
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` of your key (default: that of this home)")
	p.JSONFlag(cmd, "print the inquiry as JSON")
	return cmd
}
