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
// milestone that came since they were accepted: results begin to contradict them, the raw score falls
// below 70%, there were five sessions or, if `forward` is true, a session ends. Each time that a
// milestone comes is asked about once, whatever became of earlier questions: VALIDATE is for
// significant moments, not for each check (R29).
func (t Topic) DueValidations(me string, sessions topic.Sessions, now time.Time, forward bool) []Due {
	other := t.Other(me)
	results := t.Scored(other)
	var due []Due
	for _, it := range t.agreements(nil) {
		s := it.Stand(other)
		if s.Phase != topic.Accepted {
			continue
		}
		if m := milestone(it, s, results, sessions, now, forward); m != "" {
			due = append(due, Due{it, m})
		}
	}
	return due
}

// milestone is the first milestone of an item that came and was not asked about since; "" if there is
// none. While an answer is waited for, it is also the answer on what had come when it was asked for.
func milestone(it *topic.Item, s topic.Stand, results []*topic.Result, sessions topic.Sessions, now time.Time, forward bool) protocol.Milestone {
	low := func(r *topic.Result) bool { raw, _ := r.Raw.Value(); return raw < reexamined }
	contradicts := func(r *topic.Result) bool {
		return slices.ContainsFunc(r.Rows, func(row topic.Row) bool { return row.Item == it.Path && row.Flag == topic.Contradiction })
	}
	var fifth, end time.Time
	if n := sessions.After(s.Decided); n >= topic.Enough {
		fifth = sessions[len(sessions)-n+topic.Enough-1]
	}
	if today := day(now); forward && !today.Equal(day(s.Decided)) {
		end = today
	}
	for _, m := range []struct {
		is   protocol.Milestone
		came time.Time
	}{
		{protocol.MilestoneContradiction, since(results, s.Decided, contradicts)}, {protocol.MilestoneScore, since(results, s.Decided, low)},
		{protocol.MilestoneSessions, fifth}, {protocol.MilestoneForward, end},
	} {
		asked := func(v *topic.Validation) bool {
			return v.Of == s.Who && v.Answer.IsZero() && !v.Time.Before(m.came) && (v.Milestone == m.is || v.Waits(s.Who, now))
		}
		if !m.came.IsZero() && !slices.ContainsFunc(it.Validations, asked) {
			return m.is
		}
	}
	return ""
}

// since is the time of the first of the last results without a break, after a decision, that are so;
// zero if the last one is not.
func since(results []*topic.Result, decided time.Time, so func(*topic.Result) bool) (at time.Time) {
	for _, r := range slices.Backward(results) {
		if !r.Time.After(decided) || !so(r) {
			break
		}
		at = r.Time
	}
	return at
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

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
	case slices.ContainsFunc(it.Validations, func(v *topic.Validation) bool {
		again := w.Milestone == "" || v.Milestone == w.Milestone && day(v.Time).Equal(day(d.Timestamp))
		return again && v.Waits(other, d.Timestamp)
	}):
		return t, refusal.New(refusal.Forbidden, "wait for the answer", "%s is asked already whether %s still holds", other, it.Label)
	}
	asked := &topic.Validation{Path: d.Message.Path, By: who, Of: other, Time: d.Timestamp, Milestone: w.Milestone, AnswerBy: answerBy(d, w.AnswerBy)}
	t.Items = affair.Edited(t.Items, it, func(it *topic.Item) { it.Validations = affair.Added(it.Validations, asked) })
	return t, nil
}

// answered notes a decision as the answer to the question that its author was asked.
func answered(it *topic.Item, d affair.Deed, to topic.Phase) {
	open := func(v *topic.Validation) bool { return v.Of == d.Author().Name && v.Answer.IsZero() }
	it.Validations = affair.Changed(it.Validations, open, func(v *topic.Validation) {
		v.Answer, v.Holds, v.Stale = d.Message.Path, to == topic.Accepted, false
	})
}
