package topics

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

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
	case it.Sort != topic.Agreement || it.Stand(other).Phase != topic.Accepted:
		return t, refusal.New(refusal.Senseless, "", "%s has not accepted %s", other, it.Label)
	case it.Asked(other):
		return t, refusal.New(refusal.Forbidden, "wait for the answer", "%s is asked already whether %s still holds", other, it.Label)
	}
	next := *it
	next.Validations = added(it.Validations, &topic.Validation{
		Path: d.Message.Path, By: who, Of: other, Time: d.Timestamp, Milestone: w.Milestone, AnswerBy: answerBy(d, w.AnswerBy),
	})
	t.Items = put(t.Items, it, &next)
	return t, nil
}

// answered notes a decision as the answer to the question that its author was asked.
func answered(it *topic.Item, d affair.Deed, to topic.Phase) {
	it.Validations = changed(it.Validations, func(v *topic.Validation) *topic.Validation {
		if v.Of != d.Author().Name || !v.Answer.IsZero() {
			return v
		}
		next := *v
		next.Answer, next.Holds, next.Stale = d.Message.Path, to == topic.Accepted, false
		return &next
	})
}
