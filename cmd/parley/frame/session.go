package frame

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// session is one run of a command of inquiries.
type session struct {
	p      *cli.Program
	client control.Service
	view   cli.View
	hand   *hand.Signer
	walk   bool   // the human goes from gate to gate: Enter decides nothing, and they can skip one
	left   string // in a walk: "s" or "q", with which they left the gate

	escapes bool // the gate that is shown has an option "esc", which ends the inquiry
}

func running(p *cli.Program, run func(s *session, cmd *cobra.Command, args []string) error) cli.Run {
	return p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
		return run(&session{p: p, client: client, view: v, hand: &hand.Signer{}}, cmd, args)
	})
}

// sign returns the human's signature of a decision about the message at a path, if it is about one;
// "" if they have no key.
func (s *session) sign(ctx context.Context, about string, d protocol.HumanDecision) (hsig string, err error) {
	if about != "" {
		if d.Gate, err = protocol.ParsePath(about); err != nil {
			return "", err
		}
	}
	return s.hand.Sign(ctx, s.p, s.client, d)
}

// asked reads what a gate asks from the gate's own message, whatever the node tells of it: a human
// must sign what they saw.
func asked(g *control.FrameGate) (w protocol.InquiryGate, err error) {
	err = hand.Shown(g.Path, g.Hash, g.File, g.Asker, func(m *protocol.Message) error {
		if w, err = protocol.AskInquiry.Parse(m.Body); err == nil && (w.Gate != g.Gate || w.Set != g.Set) {
			err = errors.New("the node shows another gate than the message has")
		}
		return err
	})
	return w, err
}

// answer signs what a human decides at a gate, and has it written. At a contested gate it takes back
// one by one what the human said otherwise, so that what they say now holds.
func (s *session) answer(ctx context.Context, f control.Frame, chosen []protocol.InquiryChoice, text string) (control.Frame, error) {
	for {
		w := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: text}, Gate: f.Gate.Gate, Set: f.Gate.Set, Chosen: chosen}
		for _, said := range f.Gate.Said {
			other := w
			if other.Chosen, other.Text = said.Chosen, said.Text; w.TakesBack == "" && other.Decides() != w.Decides() {
				w.TakesBack = said.Hash
			}
		}
		d := protocol.HumanDecision{GateHash: f.Gate.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides(), TakesBack: w.TakesBack}
		hsig, err := s.sign(ctx, f.Gate.Path, d)
		if err != nil {
			return f, err
		}
		saw, err := s.hand.Saw(f.Gate.Asker, hsig)
		if err != nil {
			return f, err
		}
		next, err := control.AnswerFrame.Ask(ctx, s.client, control.AnswerFrameRequest{
			ID: f.Channel.String(), Gate: f.Gate.Path, Chosen: chosen, Text: text, TakesBack: w.TakesBack, Hsig: hsig, Seen: saw,
		})
		if err != nil || w.TakesBack == "" || next.Gate == nil || !next.Gate.Contested {
			return next, err
		}
		f = next
	}
}

// show asks for an inquiry. If `since` is not "", it waits until that deed is not the inquiry's
// last one any more, for `within` at most (0: as long as the node chooses).
func (s *session) show(ctx context.Context, id, since string, within time.Duration) (control.Frame, error) {
	return control.ShowFrame.Ask(ctx, s.client, control.ShowFrameRequest{ID: id, Since: since, Within: control.Seconds(within)})
}
