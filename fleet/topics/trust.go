package topics

import (
	"cmp"
	"time"
)

// enough is from how many sessions on two know each other, and after how many it is asked
// again whether what was accepted holds.
const enough = 5

// Contact is a message between two, wherever it was.
type Contact struct {
	By string
	At time.Time
}

// Sessions is how many sessions two had in their contacts after a time: a session is a day,
// in UTC, on which both wrote (R21). That day itself counts only where the time is zero.
func Sessions(contacts []Contact, after time.Time) int {
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	who, n := map[string]string{}, 0
	both := map[string]bool{}
	for _, c := range contacts {
		d := day(c.At)
		if !after.IsZero() && d <= day(after) || both[d] {
			continue
		}
		if by, wrote := who[d]; wrote && by != c.By {
			both[d] = true
			n++
		}
		who[d] = c.By
	}
	return n
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
