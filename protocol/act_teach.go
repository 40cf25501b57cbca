package protocol

import (
	"errors"
	"strings"
)

// Lesson says back what its author has learned from the other one.
type Lesson struct {
	FormHead
	Label   Label // empty if somebody wrote the message by hand
	Learned string
}

// ActTeachBack is the act of a Lesson.
const ActTeachBack Act = "teach-back"

// TeachBack is the act by which somebody says what they have learned.
var TeachBack = NewAct(ActSpec{
	Act: ActTeachBack, Heading: "TEACH-BACK", Class: ClassDeed, Doc: "Says back what its author has learned from the other one.",
}, parseLesson, formatLesson, Lesson{exampleHead, "T1", "Panes keep their titles over a restart."})

func formatLesson(l Lesson) string {
	return writeForm("TEACH-BACK", l.FormHead, "label", l.Label.String()).put("LEARNED", l.Learned).String()
}

func parseLesson(body string) (Lesson, error) {
	f := readForm("TEACH-BACK", body, "LEARNED")
	l := Lesson{f.FormHead, f.label(), f.text("LEARNED")}
	if l.Learned == "" {
		return l, errors.New("it does not say what was learned")
	}
	return l, nil
}

// label returns the label beside the heading, or "" if there is none that can be read.
func (f *form) label() Label {
	l, err := ParseLabel(strings.Trim(f.head("label"), "[]"))
	if err != nil {
		return ""
	}
	return l
}

// Dissent says what its author sees otherwise. It stays: differences are kept, not erased.
type Dissent struct {
	FormHead
	Label    Label  // empty if somebody wrote the message by hand
	Position string // what its author holds
}

// ActDisagree is the act of a Dissent.
const ActDisagree Act = "disagree"

// Disagree is the act by which a difference is put on record.
var Disagree = NewAct(ActSpec{
	Act: ActDisagree, Heading: "DISAGREE", Class: ClassDeed, Doc: "Puts on record what its author sees otherwise.",
}, parseDissent, formatDissent, Dissent{exampleHead, "D1", "Titles belong to the panes, not to the team."})

func formatDissent(d Dissent) string {
	return writeForm("DISAGREE", d.FormHead, "label", d.Label.String()).put("POSITION", d.Position).String()
}

func parseDissent(body string) (Dissent, error) {
	f := readForm("DISAGREE", body, "POSITION", "ITEM")
	d := Dissent{f.FormHead, f.label(), f.text("POSITION")}
	if d.Position == "" {
		d.Position = f.text("ITEM")
	}
	if d.Position == "" {
		return d, errors.New("it does not say what is seen otherwise")
	}
	return d, nil
}
