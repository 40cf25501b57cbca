package protocol

import (
	"strings"
	"time"
)

// Milestone is the reason to ask whether an acceptance still holds (R29).
type Milestone string

// The milestones of the seed. Nothing else is a reason to ask.
const (
	MilestoneSessions      Milestone = "sessions"      // five sessions since it was accepted
	MilestoneScore         Milestone = "score"         // a raw score below 70%
	MilestoneContradiction Milestone = "contradiction" // a result rejects what its author accepted
	MilestoneForward       Milestone = "forward"       // the end of a session
)

// ParseMilestone reads a milestone. It gives "" for any other text.
func ParseMilestone(s string) Milestone {
	switch m := Milestone(strings.ToLower(strings.TrimSpace(s))); m {
	case MilestoneSessions, MilestoneScore, MilestoneContradiction, MilestoneForward:
		return m
	}
	return ""
}

// Validation asks whether its addressee still accepts an item.
type Validation struct {
	FormHead
	Item      ItemRef
	Milestone Milestone // empty: somebody asks without one of these reasons
	AnswerBy  time.Time // UTC; zero: the rules have their own
}

// ActValidate is the act of a Validation.
const ActValidate Act = "validate"

// Validate is the act by which somebody asks whether an acceptance still holds.
var Validate = NewAct(ActSpec{
	Act: ActValidate, Heading: "VALIDATE", Class: ClassDeed, Wakes: true, Doc: "Asks whether what was accepted some time ago still holds.",
}, parseValidation, formatValidation, Validation{exampleCommit, exampleItem, MilestoneSessions, exampleTime.Add(7 * 24 * time.Hour)})

func formatValidation(v Validation) string {
	return writeForm("VALIDATE", v.FormHead).put("ITEM", v.Item.String()).
		line("QUESTION: Do you still accept this? Current behavior matches?").
		put("MILESTONE", string(v.Milestone)).put("ANSWER-BY", formatInstant(v.AnswerBy)).
		line("REQUEST: Answer with a message that begins as one of these.").
		line("  RE-ACCEPT | from: <you> then a line ITEM: <label>, where it still holds").
		line("  REVOKE | from: <you> then a line ITEM: <label> and a line REASON: <why>").String()
}

func parseValidation(body string) (Validation, error) {
	f := readForm("VALIDATE", body, "ITEM", "MILESTONE", "ANSWER-BY")
	v := Validation{FormHead: f.FormHead, Item: ParseItemRef(f.flat("ITEM")), Milestone: ParseMilestone(f.flat("MILESTONE"))}
	var err error
	v.AnswerBy, err = f.instant("ANSWER-BY")
	return v, err
}
