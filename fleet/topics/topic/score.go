package topic

import (
	"math"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Lambda is how fast a score loses its worth: by the factor e^(-λ) in each hour (R21).
type Lambda struct {
	Value float64 `json:"lambda"` // how fast a score loses its worth
	Tier  Tier    `json:"tier"`   // why it is that fast
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

// LambdaFor is the decay between two agents that had so many sessions (R21). `rule` is the rule of
// their party, which holds if it is not nil. Otherwise the decay is 0.10 for fewer than five
// sessions, 0.01 if both have the same soul, and 0.05 if they do not or nobody knows.
func LambdaFor(sessions int, soul, other string, rule *float64) Lambda {
	switch {
	case rule != nil:
		return Lambda{*rule, TierRule}
	case sessions < Enough:
		return Lambda{0.10, TierNew}
	case soul != "" && soul == other:
		return Lambda{0.01, TierIntra}
	}
	return Lambda{0.05, TierCross}
}

// HalfLife is the time after which a score is worth half, in hours. It is 0 if the score does not
// decay.
func (l Lambda) HalfLife() float64 {
	if l.Value <= 0 {
		return 0
	}
	return math.Ln2 / l.Value
}

// Decayed is what a score is worth at `now`, to the thousandth. `raw` is the score and `at` its
// time. The score keeps its worth if it has no time, if its time is ahead, or if it does not decay:
// a clock that is off makes no score grow (R21). The worth is computed whenever it is read, and
// stored nowhere.
func (l Lambda) Decayed(raw float64, at, now time.Time) float64 {
	if hours := now.Sub(at).Hours(); !at.IsZero() && hours > 0 && l.Value > 0 {
		raw *= math.Exp(-l.Value * hours)
	}
	return math.Round(raw*1000) / 1000
}

// Worth is Decayed of a score that there may be or not.
func (l Lambda) Worth(raw protocol.Score, at, now time.Time) protocol.Score {
	if x, ok := raw.Value(); ok {
		return protocol.NewScore(l.Decayed(x, at, now))
	}
	return raw
}

// Faded reports whether the last check, at the time `at`, is so long ago that its score says
// little: more than three half-lives.
func (l Lambda) Faded(at, now time.Time) bool {
	return l.Value > 0 && !at.IsZero() && now.Sub(at).Hours() > 3*l.HalfLife()
}

// Status is what a raw score means (R22).
type Status string

// The words of the seed. New means that the topic was never checked, and Closed that its participant
// has closed it.
const (
	Synced   Status = "SYNCED"
	Partial  Status = "PARTIAL"
	Degraded Status = "DEGRADED"
	Desync   Status = "DESYNC"
	New      Status = "NEW"
	Closed   Status = "CLOSED"
)

// StatusOf is the word for a raw score; "" if there is none. A bound belongs to the word above it.
func StatusOf(raw protocol.Score) Status {
	switch x, ok := raw.Value(); {
	case !ok:
		return ""
	case x >= 0.9:
		return Synced
	case x >= 0.7:
		return Partial
	case x >= 0.5:
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

// ColourOf is the colour of a decayed score; "" if there is none. A bound belongs to the colour
// above it.
func ColourOf(decayed protocol.Score) Colour {
	return map[Status]Colour{Synced: Green, Partial: Amber, Degraded: Cyan, Desync: Gray}[StatusOf(decayed)]
}

// Resync is the decayed score below which a new check is suggested.
const Resync = 0.5

// Opacity is how strongly an edge with that decayed score is drawn: from 10% to 100%.
func Opacity(decayed float64) float64 {
	return math.Round((0.1+0.9*min(1, max(0, decayed)))*1000) / 1000
}

// Sample is one score of a history. It is what a line of sync.history.jsonl says.
type Sample struct {
	At     time.Time
	By     string // the author of the answer
	Topic  string
	Raw    float64
	Lambda float64 // the decay at that time
}

// shown is how many samples a sparkline shows.
const shown = 7

// Sparkline is what the last seven scores are worth now, the last one last. Earlier scores stay in
// the history, and are only left out here.
func Sparkline(history []Sample, now time.Time) []float64 {
	return each.Of(history[max(0, len(history)-shown):], func(s Sample) float64 { return Lambda{Value: s.Lambda}.Decayed(s.Raw, s.At, now) })
}
