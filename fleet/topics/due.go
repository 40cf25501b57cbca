package topics

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Due is an item of which the other one should be asked whether it still holds.
type Due struct {
	Item      *Item
	Milestone protocol.Milestone
}

// reexamined is below which raw score what was agreed is asked for again.
const reexamined = 0.7

// DueValidations are the agreements that somebody should ask the other one about, each for
// one reason. That is a result that contradicts it, a raw score below 70%, five sessions
// since it was accepted, or the end of a session (forward). What was asked and is not
// answered is not asked again, and what was answered not before there is a new reason:
// VALIDATE is for significant moments, not for each check (R29).
func (t Topic) DueValidations(me string, sessions Sessions, now time.Time, forward bool) []Due {
	other := t.Other(me)
	var last *Result
	if scored := t.Scored(other); len(scored) > 0 {
		last = scored[len(scored)-1]
	}
	var due []Due
	for _, it := range t.agreements(nil) {
		s := it.Stand(other)
		if s.Phase != Accepted || it.asked(other) {
			continue
		}
		if m := it.milestone(s, last, sessions, now, forward); m != "" {
			due = append(due, Due{it, m})
		}
	}
	return due
}

// milestone is the first reason to ask about the item; "" where there is none.
func (it *Item) milestone(s Stand, last *Result, sessions Sessions, now time.Time, forward bool) protocol.Milestone {
	if last != nil && last.At.After(s.DecidedAt) {
		for _, row := range last.Rows {
			if row.Item == it.Path && row.Flag == Contradiction {
				return protocol.MilestoneContradiction
			}
		}
		if raw, _ := last.Raw.Value(); raw < reexamined {
			return protocol.MilestoneScore
		}
	}
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	switch {
	case sessions.After(s.DecidedAt) >= enough:
		return protocol.MilestoneSessions
	case forward && day(s.DecidedAt) != day(now):
		return protocol.MilestoneForward
	}
	return ""
}
