package inquiries

import (
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// open begins the inquiry. Its deciders are the human who asked, or those whom the asking
// agent's host names (R38).
func (v Inquiry) open(recordID string, d affair.Deed) (Inquiry, error) {
	o, err := protocol.OpenInquiry.Parse(d.Body)
	switch {
	case err != nil:
		return v, malformed(err)
	case protocol.InquiryChannel(recordID, d.Host, o.Hash, o.At) != d.Message.Path.Channel():
		return v, errors.New("this is not the channel that follows from it")
	case !v.Path.IsZero():
		return v, refusal.New(refusal.Forbidden, "", "the inquiry has begun already")
	}
	human := protocol.Name(d.Message.Human)
	next := Inquiry{
		Path: d.Message.Path, Channel: d.Message.Path.Channel(), Began: d.Timestamp, Opening: o, By: protocol.Address{Name: d.Author().Name, Host: d.Host.String()},
		Hash: d.Hash, State: Opened, Coordinator: protocol.Address{Name: o.Coordinator, Host: d.Host.String()}, Epoch: 1, Base: o.Perspectives, Cycle: 1,
	}
	switch {
	case human == "" && o.Source != protocol.FromAgent:
		return v, refusal.New(refusal.Forbidden, "", "no human of %s asked that", d.Host)
	case human == "" && len(o.Humans) == 0:
		return v, refusal.New(refusal.Senseless, "name one in the agent's file: human", "it does not say which human decides")
	case human == "":
		for _, h := range o.Humans {
			next.Deciders = append(next.Deciders, Decider{Human: h, Host: d.Host})
		}
		return next, nil
	case len(o.Humans) > 0:
		return v, senseless("who asks decides, and nobody else")
	case !d.Hand.Here:
		return v, refusal.New(refusal.Forbidden, "", "%s is no human of %s who was known to call", human, d.Host)
	}
	if err := d.Decided(protocol.Path{}, "", o.Decides(), time.Time{}, ""); err != nil {
		return v, refusal.New(refusal.Forbidden, "", "%s", err)
	}
	next.Deciders = []Decider{{human, d.Host, d.Hand.Key}}
	return next, nil
}

// asked reports whether a human asked, and gave the question's text in the call.
func (v Inquiry) asked() bool {
	return len(v.Opening.Humans) == 0 && v.Opening.Source == protocol.FromArgument
}

// decides returns an error if a human's word does not count: they are no decider, or they write
// neither from their host nor with their key.
func (v Inquiry) decides(d affair.Deed) error {
	who := protocol.Name(d.Message.Human)
	switch i := slices.IndexFunc(v.Deciders, func(one Decider) bool { return one.Human == who }); {
	case who == "" || d.Author().Name != who.String() || !d.Human:
		return refusal.New(refusal.Forbidden, "", "a human decides it, and %s is none of %s", d.Author().Name, d.Host)
	case i < 0:
		return refusal.New(refusal.Forbidden, "", "%s does not decide it", who)
	case d.Host != v.Deciders[i].Host && (d.Hand.Key == "" || d.Hand.Key != v.Deciders[i].Key):
		return refusal.New(refusal.Forbidden, "", "%s decides it from %s, or with the key of there", who, v.Deciders[i].Host)
	}
	return nil
}

// esc ends the inquiry at once, in whatever state (R50). No rule cleans anything up.
func (v Inquiry) esc(d affair.Deed) (Inquiry, error) {
	e, err := protocol.EscInquiry.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	if err := v.decides(d); err != nil {
		return v, err
	}
	if err := d.Decided(v.Path, v.Hash, e.Decides(), time.Time{}, ""); err != nil {
		return v, refusal.New(refusal.Forbidden, "", "%s", err)
	}
	return v.escaped(d), nil
}

func (v Inquiry) escaped(d affair.Deed) Inquiry {
	v.State, v.Ended, v.EndedBy = Escaped, d.Timestamp, d.Message.Human
	v.Contested = protocol.Path{}
	return v
}

// resume has another host coordinate the inquiry, or the same host anew, in a later epoch (R54). If
// two hosts begin the same epoch, the first in the order of the record coordinates.
func (v Inquiry) resume(d affair.Deed) (Inquiry, error) {
	e, err := protocol.ResumeInquiry.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	if err := v.decides(d); err != nil {
		return v, err
	}
	if e.Epoch != v.Epoch+1 {
		return v, refusal.New(refusal.Forbidden, "", "it begins epoch %d, and this is %d", e.Epoch, v.Epoch)
	}
	if err := d.Decided(v.Path, v.Hash, e.Decides(), time.Time{}, ""); err != nil {
		return v, refusal.New(refusal.Forbidden, "", "%s", err)
	}
	v.Epoch, v.Coordinator = e.Epoch, protocol.Address{Name: e.Coordinator, Host: d.Host.String()}
	v.undo = nil
	return v, nil
}

// brief shows the brief. If a human gave the question's text and accepted the brief beforehand,
// there is no gate, unless the brief was changed (R40).
func (v Inquiry) brief(b protocol.InquiryBrief) (Inquiry, error) {
	if err := v.in(Opened); err != nil {
		return v, err
	}
	for _, text := range []string{b.Intent, b.Deliverable, b.Scope} {
		if placeholder(text) {
			return v, breach("F3", "%q says nothing", text)
		}
	}
	v.Brief, v.Changes, v.State = b, "", BriefDraft
	if v.Briefs++; v.Opening.AcceptBrief && v.asked() && v.Briefs == 1 {
		v.Mode, v.State = v.Opening.Mode, Gather
		if v.Mode == "" {
			v.Mode = b.Mode
		}
	}
	return v, nil
}

// gathered notes that the context was gathered, by the confirmed brief.
func (v Inquiry) gathered(c protocol.InquiryContext) (Inquiry, error) {
	if err := v.in(Gather); err != nil {
		return v, v.early("F5", err, Opened, BriefDraft, GateBrief)
	}
	v.Context, v.State = c, Propose
	return v, nil
}
