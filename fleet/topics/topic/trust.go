package topic

import (
	"cmp"
	"slices"
	"time"
)

// Enough is the number of sessions with which two agents know each other. It is also the number
// after which it is asked again whether what was accepted holds.
const Enough = 5

// Sessions are the sessions that two agents had with each other, in their order. A session is a
// day, in UTC, on which both wrote, in whatever channel (R21). Its time is the moment from which
// both had written.
type Sessions []time.Time

// Until is how many sessions there were at that time.
func (s Sessions) Until(at time.Time) int {
	n, _ := slices.BinarySearchFunc(s, at, func(session, at time.Time) int { return cmp.Or(session.Compare(at), -1) })
	return n
}

// After is how many sessions there were on days after the day of `at`.
func (s Sessions) After(at time.Time) int {
	const day = 24 * time.Hour
	midnight := at.UTC().Truncate(day).Add(day)
	n, _ := slices.BinarySearchFunc(s, midnight, time.Time.Compare)
	return len(s) - n
}

// Trust is how much of what another agent says can be taken without a check.
type Trust string

// The tiers of trust.
const (
	TrustHigh         Trust = "high"
	TrustMedium       Trust = "medium"
	TrustInitial      Trust = "initial"
	TrustUncalibrated Trust = "uncalibrated"
)

// What high trust needs (R21).
const (
	trustedMessages = 33
	trustedScores   = 5
	trustedMean     = 0.7
)

// TrustIn is the trust in an agent with which there were so many sessions and messages. `raws` are
// the raw scores that it gave, the last one last.
func TrustIn(sessions, messages int, raws []float64) Trust {
	switch {
	case len(raws) == 0:
		return TrustUncalibrated
	case sessions < Enough:
		return TrustInitial
	case messages < trustedMessages:
		return TrustMedium
	}
	sum := 0.0
	last := raws[max(0, len(raws)-trustedScores):]
	for _, raw := range last {
		sum += raw
	}
	if sum/float64(len(last)) < trustedMean {
		return TrustMedium
	}
	return TrustHigh
}

// Soul is the human to whom an agent belongs: the one that its file names, else the one in the
// contacts, else its human (R21).
func Soul(file, contact, human string) string { return cmp.Or(file, contact, human) }
