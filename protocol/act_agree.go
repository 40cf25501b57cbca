package protocol

import (
	"errors"
	"time"
)

// Proposal puts an agreement to the other participant of a topic. By that its author is committed
// to it (R60).
type Proposal struct {
	FormHead
	Item     ItemRef
	AnswerBy time.Time // UTC; until then silence is no timeout. Zero: the rules have their own
}

// ActAgree is the act of a Proposal.
const ActAgree Act = "agree"

// Agree is the act by which an agreement is proposed.
var Agree = NewAct(ActSpec{
	Act: ActAgree, Heading: "AGREE", Class: ClassDeed, Doc: "Proposes an agreement, to which its author commits.",
}, parseProposal, formatProposal, Proposal{
	exampleHead, ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/STUCK/DONE/ABORT"}, exampleTime.Add(7 * 24 * time.Hour),
})

func formatProposal(p Proposal) string {
	return writeForm("AGREE", p.FormHead).put("ITEM", p.Item.String()).put("ANSWER-BY", formatInstant(p.AnswerBy)).
		line("REQUEST: Commit, decline or put it off: a message that begins as one of these.").
		line("  ACCEPT | from: <you> then a line ITEM: <label> and a line COMMITMENT: <what changes>").
		line("  REJECT | from: <you> then a line ITEM: <label> and a line REASON: <why>").
		line("  DEFER | from: <you> then a line ITEM: <label> and a line UNTIL: <date>").String()
}

func parseProposal(body string) (Proposal, error) {
	f := readForm("AGREE", body, "ITEM", "ANSWER-BY")
	p := Proposal{FormHead: f.FormHead, Item: ParseItemRef(f.flat("ITEM"))}
	if p.Item.Text == "" {
		return p, errors.New("it does not say what is to be agreed")
	}
	var err error
	p.AnswerBy, err = f.instant("ANSWER-BY")
	return p, err
}

// instant is a field that names a moment; the zero time if the field is missing.
func (f *form) instant(key string) (time.Time, error) {
	if f.flat(key) == "" {
		return time.Time{}, nil
	}
	return ParseInstant(f.flat(key))
}

// exampleTime and exampleHead stand in the examples of acts.
var (
	exampleTime = time.Date(2026, 4, 15, 10, 22, 0, 0, time.UTC)
	exampleHead = FormHead{From: "mawjs", Topic: "tmux design", At: exampleTime}
)
