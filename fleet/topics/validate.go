package topics

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Validation is a question to one participant whether what it accepted still holds (seed,
// "Silent Revoke Detection"). It does not change.
type Validation struct {
	Path      protocol.Path
	By, Of    string // By asks Of
	At        time.Time
	Milestone protocol.Milestone
	AnswerBy  time.Time
	Answer    protocol.Path // the decision that answers it; zero if there is none yet
	Holds     bool          // that decision keeps the acceptance
	// Stale says that no answer came in time. Then the item should be revoked or accepted anew.
	Stale bool
}

// at is the question at the time `now`.
func (v *Validation) at(now time.Time) *Validation {
	if v.Stale || !v.Answer.IsZero() || now.Before(v.AnswerBy) {
		return v
	}
	next := *v
	next.Stale = true
	return &next
}

// validate asks the other participant.
func (t Topic) validate(d affair.Deed) (Topic, error) {
	w, err := protocol.Validate.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	it, err := t.of(d, w.Item)
	if err != nil {
		return t, err
	}
	who := d.Author().Name
	other := t.Other(who)
	switch {
	case it.Sort != Agreement || it.Stand(other).Phase != Accepted:
		return t, refusal.New(refusal.Senseless, "", "%s has not accepted %s", other, it.Label)
	case it.asked(other):
		return t, refusal.New(refusal.Forbidden, "wait for the answer", "%s is asked already whether %s still holds", other, it.Label)
	}
	next := *it
	next.Validations = added(it.Validations, &Validation{
		Path: d.Message.Path, By: who, Of: other, At: d.Timestamp, Milestone: w.Milestone, AnswerBy: answerBy(d, w.AnswerBy),
	})
	t.Items = put(t.Items, it, &next)
	return t, nil
}

// asked reports whether `who` is asked whether the item still holds, and has not answered.
func (it *Item) asked(who string) bool {
	return slices.ContainsFunc(it.Validations, func(v *Validation) bool { return v.Of == who && v.Answer.IsZero() })
}

// answered notes a decision as the answer to the question that its author was asked.
func (it *Item) answered(d affair.Deed, to Phase) {
	it.Validations = changed(it.Validations, func(v *Validation) *Validation {
		if v.Of != d.Author().Name || !v.Answer.IsZero() {
			return v
		}
		next := *v
		next.Answer, next.Holds, next.Stale = d.Message.Path, to == Accepted, false
		return &next
	})
}
