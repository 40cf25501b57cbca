package protocol

import "errors"

// OpenQuestion puts a question on a topic's list.
type OpenQuestion struct {
	FormHead
	Item ItemRef
}

// ActOpen is the act of an OpenQuestion.
const ActOpen Act = "open"

// Ask is the act by which a question is put on the list.
var Ask = NewAct(ActSpec{
	Act: ActOpen, Heading: "OPEN", Class: ClassDeed, Doc: "Puts an open question on the list of a topic.",
}, parseOpenQuestion, formatOpenQuestion, OpenQuestion{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}})

func formatOpenQuestion(q OpenQuestion) string {
	return writeForm("OPEN", q.FormHead).put("ITEM", q.Item.String()).String()
}

func parseOpenQuestion(body string) (OpenQuestion, error) {
	f := readForm("OPEN", body, "ITEM")
	q := OpenQuestion{f.FormHead, ParseItemRef(f.flat("ITEM"))}
	if q.Item.Text == "" {
		return q, errors.New("it asks nothing")
	}
	return q, nil
}

// Resolution settles an open question, or what its author disagreed about.
type Resolution struct {
	FormHead
	Item    ItemRef
	Outcome string // may be empty
}

// ActResolve is the act of a Resolution.
const ActResolve Act = "resolve"

// Resolve is the act by which a question is settled.
var Resolve = NewAct(ActSpec{
	Act: ActResolve, Heading: "RESOLVE", Class: ClassDeed, Doc: "Settles an open question.",
}, parseResolution, formatResolution, Resolution{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}, "mawjs does."})

func formatResolution(r Resolution) string {
	return writeForm("RESOLVE", r.FormHead).put("ITEM", r.Item.String()).put("OUTCOME", r.Outcome).String()
}

func parseResolution(body string) (Resolution, error) {
	f := readForm("RESOLVE", body, "ITEM", "OUTCOME")
	return Resolution{f.FormHead, ParseItemRef(f.flat("ITEM")), f.text("OUTCOME")}, nil
}
