package topics

import (
	"math"
	"time"
)

// Lambda is how fast a score loses its worth: by e^(-λ) an hour (R21).
type Lambda struct {
	Value float64
	Tier  Tier // where it is from
}

// Tier is why a score decays as it does.
type Tier string

// The tiers of the seed.
const (
	TierRule  Tier = "party rule"
	TierNew   Tier = "new relationship"
	TierIntra Tier = "intra-soul"
	TierCross Tier = "cross-soul"
)

// LambdaFor is the decay between two that had so many sessions (R21). The rule of the
// party holds if there is one. Else it is 0.10 for fewer than five sessions, 0.01 where
// both are of one soul, and 0.05 where they are not or nobody knows.
func LambdaFor(sessions int, soul, other string, rule *float64) Lambda {
	switch {
	case rule != nil:
		return Lambda{*rule, TierRule}
	case sessions < enough:
		return Lambda{0.10, TierNew}
	case soul != "" && soul == other:
		return Lambda{0.01, TierIntra}
	}
	return Lambda{0.05, TierCross}
}

// HalfLife is after how long a score is worth half, in hours; 0 where it does not decay.
func (l Lambda) HalfLife() float64 {
	if l.Value <= 0 {
		return 0
	}
	return math.Ln2 / l.Value
}

// Decayed is what a score is worth now, to the thousandth. One that never was, whose time
// is ahead or that does not decay is worth what it says: a clock that is off makes no score
// grow (R21). It is computed whenever it is read, and stored nowhere.
func (l Lambda) Decayed(raw float64, at, now time.Time) float64 {
	if hours := now.Sub(at).Hours(); !at.IsZero() && hours > 0 && l.Value > 0 {
		raw *= math.Exp(-l.Value * hours)
	}
	return math.Round(raw*1000) / 1000
}

// Faded reports whether the last check is so long ago that its score says little: more
// than three half-lives.
func (l Lambda) Faded(at, now time.Time) bool {
	return l.Value > 0 && !at.IsZero() && now.Sub(at).Hours() > 3*l.HalfLife()
}

// Status is what a raw score means (R22).
type Status string

// The words of the seed; New is a topic that was never checked.
const (
	Synced   Status = "SYNCED"
	Partial  Status = "PARTIAL"
	Degraded Status = "DEGRADED"
	Desync   Status = "DESYNC"
	New      Status = "NEW"
)

// StatusOf is the word for a raw score. The bounds belong to the upper word.
func StatusOf(raw float64) Status {
	switch {
	case raw >= 0.9:
		return Synced
	case raw >= 0.7:
		return Partial
	case raw >= 0.5:
		return Degraded
	}
	return Desync
}

// Colour is how a decayed score is shown (R22). Divergence is cyan and never red: it is
// where the work is.
type Colour string

// The colours of the seed.
const (
	Green Colour = "green"
	Amber Colour = "amber"
	Cyan  Colour = "cyan"
	Gray  Colour = "gray"
)

// ColourOf is the colour of a decayed score. The bounds belong to the upper colour.
func ColourOf(decayed float64) Colour {
	return map[Status]Colour{Synced: Green, Partial: Amber, Degraded: Cyan, Desync: Gray}[StatusOf(decayed)]
}

// Resync is below which decayed score a new check is suggested.
const Resync = 0.5

// Opacity is how strongly an edge of that decayed score is drawn: from 10% to 100%.
func Opacity(decayed float64) float64 {
	return math.Round((0.1+0.9*min(1, max(0, decayed)))*1000) / 1000
}

// Sample is one score of a history: what a line of sync.history.jsonl says.
type Sample struct {
	At     time.Time
	By     string // whose answer it is
	Topic  string
	Raw    float64
	Lambda float64 // as it was then
}

// History are the scores that somebody gave in this term and in earlier ones, in the order
// of the record. Which decay held at a time follows from what the two had with each other
// until then, and is asked for.
func (t Topic) History(by string, lambda func(at time.Time) Lambda) []Sample {
	var all []Sample
	for _, term := range append(t.Past[:len(t.Past):len(t.Past)], t) {
		for _, r := range term.Scored(by) {
			raw, _ := r.Raw.Value()
			all = append(all, Sample{At: r.At, By: r.By, Topic: term.Slug.String(), Raw: raw, Lambda: lambda(r.At).Value})
		}
	}
	return all
}

// shown is how many samples a sparkline has.
const shown = 7

// Sparkline is the worth of the last seven scores now, the last one last. More are never
// dropped from a history, only from what is shown of it.
func Sparkline(history []Sample, now time.Time) []float64 {
	var line []float64
	for _, s := range history[max(0, len(history)-shown):] {
		line = append(line, Lambda{Value: s.Lambda}.Decayed(s.Raw, s.At, now))
	}
	return line
}
