package party

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/frame"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// walks reports whether a person is at a terminal, and can be led from gate to gate.
func (s *session) walks() bool {
	return !s.view.JSON && s.view.Out.Terminal && s.view.Err.Terminal && term.IsTerminal(s.p.Stdin) && s.p.ForOperator("answer a gate") == nil
}

// walk leads the human through the gates that wait, and those that open meanwhile. It ends when each
// was shown once, or when they leave. One unlock of their key serves for all.
func (s *session) walk(ctx context.Context, gates []control.Gate) error {
	var signer hand.Signer
	defer signer.Forget()
	shown := map[string]bool{}
	for len(gates) > 0 {
		for i, g := range gates {
			s.view.Out.Printf("\n%s\n", s.view.Out.Bold(fmt.Sprintf("Gate %d of %d", len(shown)+1, len(shown)+len(gates)-i)))
			shown[g.Path] = true
			goesOn, err := s.visit(ctx, g, &signer)
			if err != nil && ctx.Err() == nil {
				s.problem(err)
			}
			if !goesOn || ctx.Err() != nil {
				return s.remaining(context.WithoutCancel(ctx))
			}
		}
		list, err := control.Gates.Ask(ctx, s.client, control.GatesRequest{})
		if err != nil {
			return err
		}
		gates = slices.DeleteFunc(list.Gates, func(g control.Gate) bool { return shown[g.Path] })
	}
	return s.remaining(ctx)
}

// Visit leads the human at the terminal through one gate, as parley gates does through all. An unlock
// of their key ends with it.
func Visit(ctx context.Context, p *cli.Program, g control.Gate) error {
	if err := p.ForOperator("answer a gate"); err != nil {
		return err
	}
	s := &session{p: p}
	if err := s.begin(); err != nil {
		return err
	}
	var signer hand.Signer
	defer signer.Forget()
	_, err := s.visit(ctx, g, &signer)
	return err
}

// remaining says at the end of a walk what still waits.
func (s *session) remaining(ctx context.Context) error {
	list, err := control.Gates.Ask(ctx, s.client, control.GatesRequest{})
	return s.view.Show(list, err, func() {
		if len(list.Gates) == 0 {
			s.view.Out.Printf("\nNothing waits for %s any more.\n", list.Human)
			return
		}
		s.view.Out.Printf("\nStill open: %s.\n", cli.Count(len(list.Gates), "gate"))
		s.view.Next("parley gates", "come back to them")
	})
}

// visit shows a gate as it is now, and takes the human's answer. It returns false if they leave the
// walk.
func (s *session) visit(ctx context.Context, g control.Gate, signer *hand.Signer) (goesOn bool, err error) {
	if g.For == "inquiry" {
		left, err := frame.Visit(ctx, s.p, s.client, s.view, signer, g.Channel, g.Path)
		return left != "q", err
	}
	if g, err = s.gateNow(ctx, g.Path); err != nil {
		return true, err
	}
	for open(g) {
		if err := trusted(g); err != nil {
			return true, err
		}
		s.gate(g)
		a, r, word := s.answerTo(ctx)
		if word == "s" || word == "q" {
			return word == "s", nil
		}
		now, err := s.gateNow(ctx, g.Path)
		if err != nil {
			return true, err
		}
		if !reflect.DeepEqual(now, g) {
			s.view.Note("It changed meanwhile: you decided nothing.")
			g = now
			continue
		}
		err = s.settle(ctx, g, r, a, signer)
		if err == nil || ctx.Err() != nil {
			return true, err
		}
		s.problem(err)
		if g, err = s.gateNow(ctx, g.Path); err != nil {
			return true, err
		}
	}
	s.line("%s  %s — %s: %s by %s meanwhile", cli.ShellWord(g.ID), term.Line(g.Party), term.Line(g.Title), g.Outcome, term.Line(g.DecidedBy))
	return true, nil
}

func (s *session) gateNow(ctx context.Context, path string) (control.Gate, error) {
	list, err := control.Gates.Ask(ctx, s.client, control.GatesRequest{ID: path, Files: true})
	if err != nil {
		return control.Gate{}, err
	}
	return list.Gates[0], nil
}

// answerTo has the human say what becomes of the gate that was shown. `word` is "s" if they skip it and
// "q" if they leave; Ctrl-C and the end of the input leave too.
func (s *session) answerTo(ctx context.Context) (a answering, r control.AnswerGateRequest, word string) {
	for {
		line, err := s.p.Ask(ctx, "[a]ccept [r]eject [d]efer [s]kip [q]uit: ")
		if err != nil {
			return a, r, "q"
		}
		word, rest, _ := strings.Cut(line, " ")
		r.Reason = strings.TrimSpace(rest)
		switch strings.ToLower(word) {
		case "a", "accept":
			a = accepting
		case "r", "reject":
			a = rejecting
		case "d", "defer":
			a = deferring
			if r.Until, r.Reason, err = s.until(r.Reason); err != nil {
				s.view.Note("Nothing was decided: " + err.Error())
				continue
			}
		case "s", "skip":
			return a, r, "s"
		case "q", "quit":
			return a, r, "q"
		default:
			s.view.Note("Nothing was decided: type one of the letters a, r, d, s and q")
			continue
		}
		r.Act = a.act
		return a, r, ""
	}
}

// problem says what went wrong at one gate, without an end of the walk.
func (s *session) problem(err error) {
	why := control.AsError(err)
	s.view.Note("error: " + why.Message)
	if why.Hint != "" {
		s.view.Note("hint: " + why.Hint)
	}
}

// until reads what was typed behind "d": until when, and why.
func (s *session) until(text string) (until time.Time, why string, err error) {
	text = cmp.Or(text, usualDelay)
	if until, err = untilOf(text, s.view); err == nil {
		return until, "", nil
	}
	word, why, _ := strings.Cut(text, " ")
	if until, err = untilOf(word, s.view); err != nil {
		err = fmt.Errorf("%q is no time such as 2h, 3d or 2026-05-23", term.Line(word))
	}
	return until, strings.TrimSpace(why), err
}
