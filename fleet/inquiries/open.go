package inquiries

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// open begins the inquiry. Its deciders are the human who asked, or those whom the asking
// agent's host names (R38).
func (s *step) open(o protocol.InquiryOpening) error {
	switch {
	case protocol.InquiryChannel(s.record, s.deed.Host, o.Hash, o.At) != s.deed.Message.Path.Channel():
		return errors.New("this is not the channel that follows from it")
	case !s.Path.IsZero():
		return refusal.New(refusal.Forbidden, "", "the inquiry has begun already")
	}
	human := protocol.Name(s.deed.Message.Human)
	s.Inquiry = Inquiry{
		Path: s.deed.Message.Path, Channel: s.deed.Message.Path.Channel(), Began: s.deed.Timestamp, Opening: o, By: protocol.Address{Name: s.deed.Author().Name, Host: s.deed.Host.String()},
		Hash: s.deed.Hash, State: Opened, Coordinator: protocol.Address{Name: o.Coordinator, Host: s.deed.Host.String()}, Epoch: 1, Base: o.Perspectives, Cycle: 1,
	}
	switch {
	case human == "" && o.Source != protocol.FromAgent:
		return refusal.New(refusal.Forbidden, "", "no human of %s asked that", s.deed.Host)
	case human == "" && len(o.Humans) == 0:
		return refusal.New(refusal.Senseless, "name one in the agent's file: human", "it does not say which human decides")
	case human == "":
		for _, h := range o.Humans {
			s.Deciders = append(s.Deciders, Decider{Human: h, Host: s.deed.Host})
		}
		return nil
	case len(o.Humans) > 0:
		return senseless("who asks decides, and nobody else")
	case !s.deed.Hand.Here:
		return refusal.New(refusal.Forbidden, "", "%s is no human of %s who was known to call", human, s.deed.Host)
	}
	if err := s.deed.Decided(protocol.Path{}, "", o.Decides(), time.Time{}, ""); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	s.Deciders = []Decider{{human, s.deed.Host, s.deed.Hand.Key}}
	return nil
}

// asked reports whether a human asked, and gave the question's text in the call.
func (v Inquiry) asked() bool {
	return len(v.Opening.Humans) == 0 && v.Opening.Source == protocol.FromArgument
}

// decides returns an error if a human's word does not count: they are no decider, or they write
// neither from their host nor with their key.
func (s *step) decides() error {
	who := protocol.Name(s.deed.Message.Human)
	switch i := slices.IndexFunc(s.Deciders, func(one Decider) bool { return one.Human == who }); {
	case who == "" || s.deed.Author().Name != who.String() || !s.deed.Human:
		return refusal.New(refusal.Forbidden, "", "a human decides it, and %s is none of %s", s.deed.Author().Name, s.deed.Host)
	case i < 0:
		return refusal.New(refusal.Forbidden, "", "%s does not decide it", who)
	case s.deed.Host != s.Deciders[i].Host && (s.deed.Hand.Key == "" || s.deed.Hand.Key != s.Deciders[i].Key):
		return refusal.New(refusal.Forbidden, "", "%s decides it from %s, or with the key of there", who, s.Deciders[i].Host)
	}
	return nil
}

// esc ends the inquiry at once, in whatever state (R50). No rule cleans anything up.
func (s *step) esc(e protocol.InquiryEsc) error {
	if err := s.decides(); err != nil {
		return err
	}
	if err := s.deed.Decided(s.Path, s.Hash, e.Decides(), time.Time{}, ""); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	s.escaped()
	return nil
}

func (s *step) escaped() {
	s.State, s.End.At, s.End.By = Escaped, s.deed.Timestamp, s.deed.Message.Human
	s.Contested = protocol.Path{}
}

// resume has another host coordinate the inquiry, or the same host anew, in a later epoch (R54). If
// two hosts begin the same epoch, the first in the order of the record coordinates.
func (s *step) resume(e protocol.InquiryEpoch) error {
	if err := s.decides(); err != nil {
		return err
	}
	if e.Epoch != s.Epoch+1 {
		return refusal.New(refusal.Forbidden, "", "it begins epoch %d, and this is %d", e.Epoch, s.Epoch)
	}
	if err := s.deed.Decided(s.Path, s.Hash, e.Decides(), time.Time{}, ""); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	s.Epoch, s.Coordinator = e.Epoch, protocol.Address{Name: e.Coordinator, Host: s.deed.Host.String()}
	s.undo = nil
	return nil
}

// brief shows the brief. If a human gave the question's text and accepted the brief beforehand,
// there is no gate, unless the brief was changed (R40).
func (s *step) brief(b protocol.InquiryBrief) error {
	for _, text := range []string{b.Intent, b.Deliverable, b.Scope} {
		if placeholder(text) {
			return breach("F3", "%q says nothing", text)
		}
	}
	s.Brief, s.Changes, s.State = b, "", BriefDraft
	if s.Briefs++; s.Opening.AcceptBrief && s.asked() && s.Briefs == 1 {
		s.Mode, s.State = s.Opening.Mode, Gather
		s.Mode = cmp.Or(s.Mode, b.Mode)
	}
	return nil
}

func (s *step) gathered(c protocol.InquiryContext) error {
	if err := s.in(Gather); err != nil {
		return s.early("F5", err, Opened, BriefDraft, GateBrief)
	}
	s.Context, s.State = c, Propose
	return nil
}
