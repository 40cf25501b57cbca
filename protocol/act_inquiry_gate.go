package protocol

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// The acts of the gates of inquiries, and what their bodies say.
const (
	ActFrameGate   Act = "frame-gate"   // InquiryGate
	ActFrameAnswer Act = "frame-answer" // InquiryAnswer
)

// The gates of an inquiry: what humans alone decide.
const (
	GateBrief        = "brief"
	GateZero         = "zero" // no perspective was found (R47)
	GatePerspectives = "perspectives"
	GateUnderMinimum = "under-minimum" // one perspective in inquire (R46)
	GateMap          = "map"           // several agents fit a perspective
	GateLost         = "lost"          // the host of a member is lost (R49)
	GateFailed       = "failed"        // a member has no result
	GateRoute        = "route"
	GateExtend       = "extend"
	GatePreserve     = "preserve"
)

// InquiryQuestion is one question of a gate. Its id says what it asks, so it carries no context.
type InquiryQuestion struct {
	ID      string          `json:"id"`              // id, from which it follows what is asked
	Multi   bool            `json:"multi,omitempty"` // any number of options may be chosen
	Options []InquiryOption `json:"options"`         // in their order
}

// InquiryOption is one thing that can be chosen.
type InquiryOption struct {
	Key   string `json:"key"`             // what names it in an answer
	About string `json:"about,omitempty"` // what the option means here; no other words of a gate are a model's
}

// InquirySet is the hash of an option set: the gate, the ids of its questions, and the keys of
// their options in their order. What is said about the options is not part of it (R55).
func InquirySet(gate string, questions []InquiryQuestion) string {
	bare := make([]InquiryQuestion, len(questions))
	for i, q := range questions {
		bare[i] = InquiryQuestion{ID: q.ID, Multi: q.Multi, Options: make([]InquiryOption, len(q.Options))}
		for j, o := range q.Options {
			bare[i].Options[j].Key = o.Key
		}
	}
	data, err := json.Marshal(struct {
		Gate      string
		Questions []InquiryQuestion
	}{gate, bare})
	if err != nil {
		return "" // no value of these types is refused
	}
	return Hash(data)
}

// InquiryGate asks humans to decide.
type InquiryGate struct {
	InquiryWords
	Gate        string            `json:"gate"`
	Perspective string            `json:"perspective,omitempty"` // whose member is lost, or has no result
	Questions   []InquiryQuestion `json:"questions"`
	Set         string            `json:"set"` // InquirySet of Gate and Questions
	// What the first yes of an inquiry opens, at GateBrief: its opening's In, Snapshot and Receivers.
	In        string   `json:"in,omitempty"`
	Snapshot  string   `json:"snapshot,omitempty"`
	Receivers []string `json:"receivers,omitempty"`
}

// Opens says in lines what a yes at the gate has read, and who may be given it; "" for nothing. The
// first of the receivers is the coordinator, which sees names alone.
func (g InquiryGate) Opens() string {
	if g.In == "" {
		return ""
	}
	text := fmt.Sprintf("what is investigated: %s\nits SHA-256: %s\n", g.In, g.Snapshot)
	if len(g.Receivers) > 0 { // version 0.1.0 does not name them
		var names []string
		for _, r := range g.Receivers {
			a, err := ParseAddress(r)
			if err != nil {
				a = Address{Name: r}
			}
			names = append(names, a.Shown())
		}
		text += fmt.Sprintf("who may be given a copy: %s\nwho sees the names of its files: %s\n", cmp.Or(strings.Join(names[1:], ", "), "nobody"), names[0])
	}
	return text
}

// AskInquiry is the act by which an inquiry asks humans.
var AskInquiry = inquiryAct(ActSpec{Act: ActFrameGate, Heading: "FRAME GATE", Doc: "Asks the humans of an inquiry to decide."}, InquiryGate{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Gate: GatePerspectives, Set: exampleSet, Questions: []InquiryQuestion{{
		ID: "perspectives", Multi: true, Options: []InquiryOption{{"Cost accounting", "what each store costs over three years"}, {"Operations", "what breaks at night"}}}},
})

const exampleSet = "62a186b441a59d9d93553e04cdc922df31ca9e03449abf331cfa2c80da70fcc9"

var exampleHeadFrame = FormHead{From: "mawjs", At: exampleTime}

// eachLine returns an error if one of some texts has control characters or line separators, so that it
// is no line.
func eachLine(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }) {
			return fmt.Errorf("%.80q is no line", text)
		}
	}
	return nil
}

func (g *InquiryGate) check() error {
	if len(g.Questions) == 0 {
		return errors.New("it asks nothing")
	}
	if g.Text != "" {
		return errors.New("a gate carries no context, only options")
	}
	lines := append([]string{g.In, g.Snapshot}, g.Receivers...)
	for _, q := range g.Questions {
		for _, o := range q.Options {
			lines = append(lines, o.Key, o.About)
		}
	}
	if err := eachLine(lines...); err != nil {
		return err
	}
	if g.Set != InquirySet(g.Gate, g.Questions) {
		return errors.New("its options are not those of its hash")
	}
	return nil
}

// InquiryChoice is what was chosen for a question.
type InquiryChoice struct {
	Question string   `json:"question"`          // the id of the question
	Options  []string `json:"options,omitempty"` // the keys of the options that are chosen
}

// InquiryAnswer is what a human decides at a gate. Its text is what they wrote besides: a changed
// brief, perspectives of their own (one a line), or evidence that they add (R48).
type InquiryAnswer struct {
	InquiryWords
	Gate      string          `json:"gate"`
	Set       string          `json:"set"` // the Set of the gate
	Chosen    []InquiryChoice `json:"chosen,omitempty"`
	TakesBack string          `json:"takes_back,omitempty"` // hex SHA-256 of the file of the human's own answer that counts no more
	Sight
}

// AnswerInquiry is the act by which a human answers a gate of an inquiry.
var AnswerInquiry = inquiryAct(ActSpec{Act: ActFrameAnswer, Heading: "FRAME ANSWER", Doc: "Says what a human decides at a gate of an inquiry."}, InquiryAnswer{
	InquiryWords: InquiryWords{FormHead: exampleFrame}, Gate: GatePerspectives, Set: exampleSet,
	Chosen: []InquiryChoice{{"perspectives", []string{"Operations"}}}, Sight: exampleSight,
})

func (a *InquiryAnswer) check() error {
	seen := map[string]bool{}
	for _, c := range a.Chosen {
		if seen[c.Question] {
			return fmt.Errorf("it answers %.80q twice", c.Question)
		}
		seen[c.Question] = true
		for i, o := range c.Options {
			if slices.Contains(c.Options[:i], o) {
				return fmt.Errorf("it chooses %.80q twice", o)
			}
		}
	}
	return filled("gate", a.Gate, "hash of options", a.Set)
}

// Decides is what the human's signature of an answer is about.
func (a InquiryAnswer) Decides() string {
	lines := []string{a.Gate + " " + a.Set}
	for _, c := range a.Chosen {
		options, err := json.Marshal(c.Options)
		if err != nil {
			options = nil // no list of texts is refused
		}
		lines = append(lines, c.Question+": "+string(options))
	}
	return strings.Join(append(lines, a.Text), "\n")
}
