package topics

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// Due is an item about which the other participant should be asked whether it still holds.
type Due struct {
	Item      *topic.Item
	Milestone protocol.Milestone
}

// reexamined is the raw score below which it is asked again whether what was agreed still holds.
const reexamined = 0.7

// DueValidations are the agreements about which `me` should ask the other participant, each for one
// reason: a result that contradicts it, a raw score below 70%, five sessions since it was accepted,
// or, if `forward` is true, the end of a session. While an answer is waited for, nothing is asked
// again. After that it is asked again only for another reason or, once it was answered, for a new
// one: VALIDATE is for significant moments, not for each check (R29).
func (t Topic) DueValidations(me string, sessions topic.Sessions, now time.Time, forward bool) []Due {
	other := t.Other(me)
	var last *topic.Result
	if scored := t.Scored(other); len(scored) > 0 {
		last = scored[len(scored)-1]
	}
	var due []Due
	for _, it := range t.agreements(nil) {
		s := it.Stand(other)
		if s.Phase != topic.Accepted || it.Waits(other, now) {
			continue
		}
		if m := milestone(it, s, last, sessions, now, forward); m != "" {
			due = append(due, Due{it, m})
		}
	}
	return due
}

// milestone is the first reason to ask about the item for which it was not asked in vain; "" if
// there is none.
func milestone(it *topic.Item, s topic.Stand, last *topic.Result, sessions topic.Sessions, now time.Time, forward bool) protocol.Milestone {
	fresh := func(m protocol.Milestone) bool {
		return !slices.ContainsFunc(it.Validations, func(v *topic.Validation) bool { return v.Of == s.Who && v.Milestone == m && v.Answer.IsZero() })
	}
	if last != nil && last.Time.After(s.Decided) {
		for _, row := range last.Rows {
			if row.Item == it.Path && row.Flag == topic.Contradiction && fresh(protocol.MilestoneContradiction) {
				return protocol.MilestoneContradiction
			}
		}
		if raw, _ := last.Raw.Value(); raw < reexamined && fresh(protocol.MilestoneScore) {
			return protocol.MilestoneScore
		}
	}
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	switch {
	case sessions.After(s.Decided) >= topic.Enough && fresh(protocol.MilestoneSessions):
		return protocol.MilestoneSessions
	case forward && day(s.Decided) != day(now) && fresh(protocol.MilestoneForward):
		return protocol.MilestoneForward
	}
	return ""
}

// validate asks the other participant.
func (t Topic) validate(d affair.Deed, w protocol.Validation) (Topic, error) {
	it, err := t.of(d, w.Item)
	if err != nil {
		return t, err
	}
	who := d.Author().Name
	other := t.Other(who)
	switch {
	case it.Sort != topic.Agreement || it.Stand(other).Phase != topic.Accepted:
		return t, refusal.New(refusal.Senseless, "", "%s has not accepted %s", other, it.Label)
	case it.Waits(other, d.Timestamp):
		return t, refusal.New(refusal.Forbidden, "wait for the answer", "%s is asked already whether %s still holds", other, it.Label)
	}
	next := *it
	next.Validations = affair.Added(it.Validations, &topic.Validation{
		Path: d.Message.Path, By: who, Of: other, Time: d.Timestamp, Milestone: w.Milestone, AnswerBy: answerBy(d, w.AnswerBy),
	})
	t.Items = affair.Put(t.Items, it, &next)
	return t, nil
}

// answered notes a decision as the answer to the question that its author was asked.
func answered(it *topic.Item, d affair.Deed, to topic.Phase) {
	it.Validations = affair.Changed(it.Validations, func(v *topic.Validation) *topic.Validation {
		if v.Of != d.Author().Name || !v.Answer.IsZero() {
			return v
		}
		next := *v
		next.Answer, next.Holds, next.Stale = d.Message.Path, to == topic.Accepted, false
		return &next
	})
}
