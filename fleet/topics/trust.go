package topics

import (
	"cmp"
	"slices"
	"time"
)

// enough is from how many sessions on two know each other, and after how many it is asked
// again whether what was accepted holds.
const enough = 5

// Sessions are those that two had with each other, rising: a session is a day, in UTC, on
// which both wrote, wherever that was (R21). Each is the time by which both had.
type Sessions []time.Time

// Until is how many of them there were at a time.
func (s Sessions) Until(at time.Time) int {
	n, _ := slices.BinarySearchFunc(s, at, func(session, at time.Time) int { return cmp.Or(session.Compare(at), -1) })
	return n
}

// After is how many of them there were on days after that of a time.
func (s Sessions) After(at time.Time) int {
	const day = 24 * time.Hour
	midnight := at.UTC().Truncate(day).Add(day)
	n, _ := slices.BinarySearchFunc(s, midnight, time.Time.Compare)
	return len(s) - n
}

// Trust is how much of what another says one can take without checking it.
type Trust string

// The tiers of trust.
const (
	TrustHigh         Trust = "high"
	TrustMedium       Trust = "medium"
	TrustInitial      Trust = "initial"
	TrustUncalibrated Trust = "uncalibrated"
)

// What high trust takes (R21).
const (
	trustedMessages = 33
	trustedScores   = 5
	trustedMean     = 0.7
)

// TrustIn is the trust in somebody with whom there were so many sessions and messages, and
// who gave these raw scores, the last one last.
func TrustIn(sessions, messages int, raws []float64) Trust {
	switch {
	case len(raws) == 0:
		return TrustUncalibrated
	case sessions < enough:
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

// Soul is whose an agent is: what its file says, else the contacts, else its human (R21).
func Soul(file, contact, human string) string { return cmp.Or(file, contact, human) }

// TeachBacks is how many lessons somebody said back in a topic, and how many the other one
// did, in all terms.
func (t Topic) TeachBacks(who string) (given, received int) {
	for _, term := range append(t.Past[:len(t.Past):len(t.Past)], t) {
		for _, it := range term.Sorted(Lesson, nil) {
			if it.By == who {
				given++
			} else {
				received++
			}
		}
	}
	return given, received
}
