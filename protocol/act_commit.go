package protocol

import (
	"strings"
	"time"
)

// The acts by which somebody says for themselves what they decide on an item.
const (
	ActAccept   Act = "accept"
	ActReject   Act = "reject"
	ActDefer    Act = "defer"
	ActRevoke   Act = "revoke"
	ActReAccept Act = "re-accept"
)

var (
	exampleCommit = FormHead{From: "mawjs", At: exampleTime}
	exampleItem   = ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/STUCK/DONE/ABORT"}
)

// Acceptance commits its author to an item.
type Acceptance struct {
	FormHead
	Item       ItemRef // may be empty where `re` names the item
	Commitment string  // what changes by it; may be empty
}

// Accept is the act by which somebody commits.
var Accept = formAct(deed(ActAccept, "ACCEPT", "Commits its author to an item."), Acceptance{exampleCommit, exampleItem, "I send these four keys only."}, func(a *Acceptance) []part {
	return []part{itemPart(&a.Item), {
		key: "COMMITMENT", read: func(f *form) error { a.Commitment = changeBy(f.text("COMMITMENT")); return nil },
		write: func() string { return commits(a.Commitment) },
	}}
})

// The words of a commitment in the seed. What the commitment changes stands between them.
const (
	accepted = "I accept this state."
	changing = "Behavior change:"
)

// commits is the text of a commitment that changes something, or nothing.
func commits(change string) string {
	if change == "" {
		return accepted
	}
	return accepted + " " + changing + " " + change
}

// changeBy is what a commitment changes: what its author says besides that they accept.
func changeBy(commitment string) string {
	if rest, ok := strings.CutPrefix(commitment, accepted); ok {
		return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), changing))
	}
	return commitment
}

// Rejection declines an item, with a reason.
type Rejection struct {
	FormHead
	Item   ItemRef
	Reason string
}

// Reject is the act by which somebody declines.
var Reject = formAct(deed(ActReject, "REJECT", "Declines an item, and says why."), Rejection{exampleCommit, exampleItem, "STUCK is no state of its own."}, func(r *Rejection) []part {
	return []part{itemPart(&r.Item), textPart("REASON", &r.Reason), needs(&r.Reason, noReason)}
})

// noReason is what is wrong with words that lack their reason.
const noReason = "it gives no reason"

// Deferral asks to be asked again later. It is neither yes nor no.
type Deferral struct {
	FormHead
	Item   ItemRef
	Until  time.Time // UTC; zero: a day later (R29)
	Reason string    // may be empty
}

// Defer is the act by which somebody puts a decision off.
var Defer = formAct(deed(ActDefer, "DEFER", "Puts the decision on an item off."),
	Deferral{exampleCommit, exampleItem, exampleTime.Add(48 * time.Hour), "After mawjs ships #222"}, func(d *Deferral) []part {
		return []part{itemPart(&d.Item), timePart("UNTIL", &d.Until), textPart("REASON", &d.Reason)}
	})

// Withdrawal takes back what its author has decided on an item. The item is open again.
type Withdrawal struct {
	FormHead
	Item   ItemRef
	Reason string
	// AnswerBy is the time until which its author's silence is no timeout, now that the item is
	// open again. UTC; zero: the usual time (R25).
	AnswerBy time.Time
}

// Revoke is the act by which a decision is taken back.
var Revoke = formAct(deed(ActRevoke, "REVOKE", "Takes back what its author decided on an item, and says why."),
	Withdrawal{exampleCommit, exampleItem, "The panes are gone.", exampleTime.Add(7 * 24 * time.Hour)}, func(w *Withdrawal) []part {
		return []part{itemPart(&w.Item), textPart("REASON", &w.Reason), needs(&w.Reason, noReason), timePart("ANSWER-BY", &w.AnswerBy)}
	})

// Renewal commits its author to an item again: to the words that the item has, or to other words,
// which are then put to the other participant.
type Renewal struct {
	FormHead
	// Item is the item. Its text is the words from now on; an empty text leaves the words as they
	// are.
	Item     ItemRef
	Previous string // the words until now; may be empty
	Changes  string // what is different; may be empty
	// AnswerBy is the time until which silence of the other participant is no timeout, if the words
	// are different. UTC; zero: the usual time (R25).
	AnswerBy time.Time
}

// ReAccept is the act by which somebody commits anew.
var ReAccept = formAct(deed(ActReAccept, "RE-ACCEPT", "Commits its author to an item anew, in other words or the same."),
	Renewal{exampleCommit, ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/DONE/ABORT"}, exampleItem.Text, "STUCK is no key.", exampleTime.Add(7 * 24 * time.Hour)}, func(r *Renewal) []part {
		return []part{itemPart(&r.Item), flatPart("PREVIOUS", &r.Previous), textPart("CHANGES", &r.Changes), timePart("ANSWER-BY", &r.AnswerBy)}
	})
