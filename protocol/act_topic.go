package protocol

import "errors"

// Opening opens a topic between two, or loads it if it is open (R65). A participant who closed the
// topic before begins a new term with it (R30).
type Opening struct {
	FormHead        // From and With are the two participants, Topic is the name of the topic
	Anchor   string // the issue on which the topic hangs, such as maw-js#332; empty: none, or the one that the topic has
}

// ActTopic is the act of an Opening.
const ActTopic Act = "topic"

// OpenTopic is the act by which a topic is opened.
var OpenTopic = NewAct(ActSpec{
	Act: ActTopic, Heading: "TOPIC", Class: ClassDeed, Doc: "Opens a topic between two, or begins a new term of it.",
}, parseOpening, formatOpening, Opening{FormHead{From: "skills-cli", With: "mawjs", Topic: "tmux design", At: exampleTime}, "maw-js#332"})

func formatOpening(o Opening) string {
	return writeForm("TOPIC", o.FormHead).put("ANCHOR", flatText(o.Anchor)).String()
}

func parseOpening(body string) (Opening, error) {
	f := readForm("TOPIC", body, "ANCHOR")
	if f.Topic == "" {
		return Opening{}, errors.New("it does not say what the topic is called")
	}
	return Opening{f.FormHead, f.flat("ANCHOR")}, nil
}

// Closing ends a topic for its author; the other sees who closed it (R30).
type Closing struct {
	FormHead
	Reason string // may be empty
}

// ActClose is the act of a Closing.
const ActClose Act = "close"

// CloseTopic is the act by which a participant closes their side of a topic.
var CloseTopic = NewAct(ActSpec{
	Act: ActClose, Heading: "CLOSE", Class: ClassDeed, Doc: "Closes its author's side of a topic.",
}, parseClosing, formatClosing, Closing{exampleHead, "It is built."})

func formatClosing(c Closing) string {
	return writeForm("CLOSE", c.FormHead).put("REASON", c.Reason).String()
}

func parseClosing(body string) (Closing, error) {
	f := readForm("CLOSE", body, "REASON")
	return Closing{f.FormHead, f.text("REASON")}, nil
}

// JoinRequest asks to take part in a topic of two others (R31).
type JoinRequest struct {
	FormHead
	Reason string // may be empty
}

// ActJoinRequest is the act of a JoinRequest.
const ActJoinRequest Act = "join-request"

// RequestJoin is the act by which somebody asks to join.
var RequestJoin = NewAct(ActSpec{
	Act: ActJoinRequest, Heading: "JOIN-REQUEST", Class: ClassDeed, Doc: "Asks to take part in a topic.",
}, parseJoinRequest, formatJoinRequest, JoinRequest{exampleHead, "I build the panes."})

func formatJoinRequest(j JoinRequest) string {
	return writeForm("JOIN-REQUEST", j.FormHead).put("REASON", j.Reason).String()
}

func parseJoinRequest(body string) (JoinRequest, error) {
	f := readForm("JOIN-REQUEST", body, "REASON")
	return JoinRequest{f.FormHead, f.text("REASON")}, nil
}
