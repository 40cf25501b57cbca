package protocol

import (
	"errors"
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
var Accept = NewAct(ActSpec{
	Act: ActAccept, Heading: "ACCEPT", Class: ClassDeed, Doc: "Commits its author to an item.",
}, parseAcceptance, formatAcceptance, Acceptance{exampleCommit, exampleItem, "I send these four keys only."})

func formatAcceptance(a Acceptance) string {
	return writeForm("ACCEPT", a.FormHead).put("ITEM", a.Item.String()).put("COMMITMENT", commits(a.Commitment)).String()
}

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

func parseAcceptance(body string) (Acceptance, error) {
	f := readForm("ACCEPT", body, "ITEM", "COMMITMENT")
	return Acceptance{f.FormHead, ParseItemRef(f.flat("ITEM")), changeBy(f.text("COMMITMENT"))}, nil
}

// Rejection declines an item, with a reason.
type Rejection struct {
	FormHead
	Item   ItemRef
	Reason string
}

// Reject is the act by which somebody declines.
var Reject = NewAct(ActSpec{
	Act: ActReject, Heading: "REJECT", Class: ClassDeed, Doc: "Declines an item, and says why.",
}, parseRejection, formatRejection, Rejection{exampleCommit, exampleItem, "STUCK is no state of its own."})

func formatRejection(r Rejection) string {
	return writeForm("REJECT", r.FormHead).put("ITEM", r.Item.String()).put("REASON", r.Reason).String()
}

func parseRejection(body string) (Rejection, error) {
	f := readForm("REJECT", body, "ITEM", "REASON")
	r := Rejection{f.FormHead, ParseItemRef(f.flat("ITEM")), f.text("REASON")}
	if r.Reason == "" {
		return r, errors.New("it gives no reason")
	}
	return r, nil
}

// Deferral asks to be asked again later. It is neither yes nor no.
type Deferral struct {
	FormHead
	Item   ItemRef
	Until  time.Time // UTC; zero: a day later (R29)
	Reason string    // may be empty
}

// Defer is the act by which somebody puts a decision off.
var Defer = NewAct(ActSpec{
	Act: ActDefer, Heading: "DEFER", Class: ClassDeed, Doc: "Puts the decision on an item off.",
}, parseDeferral, formatDeferral, Deferral{exampleCommit, exampleItem, exampleTime.Add(48 * time.Hour), "After mawjs ships #222"})

func formatDeferral(d Deferral) string {
	return writeForm("DEFER", d.FormHead).put("ITEM", d.Item.String()).put("UNTIL", formatInstant(d.Until)).put("REASON", d.Reason).String()
}

func parseDeferral(body string) (Deferral, error) {
	f := readForm("DEFER", body, "ITEM", "UNTIL", "REASON")
	until, err := f.instant("UNTIL")
	return Deferral{f.FormHead, ParseItemRef(f.flat("ITEM")), until, f.text("REASON")}, err
}

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
var Revoke = NewAct(ActSpec{
	Act: ActRevoke, Heading: "REVOKE", Class: ClassDeed, Doc: "Takes back what its author decided on an item, and says why.",
}, parseWithdrawal, formatWithdrawal, Withdrawal{exampleCommit, exampleItem, "The panes are gone.", exampleTime.Add(7 * 24 * time.Hour)})

func formatWithdrawal(w Withdrawal) string {
	return writeForm("REVOKE", w.FormHead).put("ITEM", w.Item.String()).put("REASON", w.Reason).put("ANSWER-BY", formatInstant(w.AnswerBy)).String()
}

func parseWithdrawal(body string) (Withdrawal, error) {
	f := readForm("REVOKE", body, "ITEM", "REASON", "ANSWER-BY")
	by, err := f.instant("ANSWER-BY")
	w := Withdrawal{f.FormHead, ParseItemRef(f.flat("ITEM")), f.text("REASON"), by}
	if w.Reason == "" {
		return w, errors.New("it gives no reason")
	}
	return w, err
}

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
var ReAccept = NewAct(ActSpec{
	Act: ActReAccept, Heading: "RE-ACCEPT", Class: ClassDeed, Doc: "Commits its author to an item anew, in other words or the same.",
}, parseRenewal, formatRenewal, Renewal{exampleCommit, ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/DONE/ABORT"}, exampleItem.Text, "STUCK is no key.", exampleTime.Add(7 * 24 * time.Hour)})

func formatRenewal(r Renewal) string {
	return writeForm("RE-ACCEPT", r.FormHead).put("ITEM", r.Item.String()).put("PREVIOUS", flatText(r.Previous)).put("CHANGES", r.Changes).
		put("ANSWER-BY", formatInstant(r.AnswerBy)).String()
}

func parseRenewal(body string) (Renewal, error) {
	f := readForm("RE-ACCEPT", body, "ITEM", "PREVIOUS", "CHANGES", "ANSWER-BY")
	by, err := f.instant("ANSWER-BY")
	return Renewal{f.FormHead, ParseItemRef(f.flat("ITEM")), f.flat("PREVIOUS"), f.text("CHANGES"), by}, err
}
