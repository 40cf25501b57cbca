package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The acts of results and dialogues, and what their bodies say.
const (
	ActFramePreview   Act = "frame-preview"   // InquiryPreview
	ActFrameDetection Act = "frame-detection" // InquiryDetection
	ActFrameTopic     Act = "frame-topic"     // InquiryTopic
	ActFrameExchange  Act = "frame-exchange"  // InquiryExchange
	ActFrameReport    Act = "frame-report"    // InquiryReport
	ActFrameOutcomes  Act = "frame-outcomes"  // InquiryOutcomes
)

// InquiryGlance is one result, summed up.
type InquiryGlance struct {
	Perspective string   `json:"perspective"`     // its name
	Title       string   `json:"title"`           // what it reveals, in a few words
	Summary     string   `json:"summary"`         // its key findings and its assessment
	Limits      string   `json:"limits"`          // what this perspective does not see
	Flags       []string `json:"flags,omitempty"` // what the result lacks of its form (R57)
}

// InquiryPreview shows each result by itself, before the coordinator makes anything of the results.
type InquiryPreview struct {
	InquiryWords
	Results []InquiryGlance `json:"results"`
}

// PreviewResults is the act by which results are shown.
var PreviewResults = inquiryAct(ActSpec{Act: ActFramePreview, Heading: "FRAME PREVIEW", Doc: "Sums up the results of an inquiry, each by itself."}, InquiryPreview{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Results: []InquiryGlance{{Perspective: "Operations", Title: "What breaks at night", Summary: "The second store needs a restart a week.", Limits: "It says nothing of cost."}},
})

func (p *InquiryPreview) check() error {
	for _, g := range p.Results {
		if err := filled("perspective", g.Perspective, "title", g.Title, "summary", g.Summary, "horizon limits", g.Limits); err != nil {
			return fmt.Errorf("%.80s: %w", g.Perspective, err)
		}
	}
	return nil
}

// The kinds of tension. Peers never see them.
const (
	TriggerContradiction = "contradiction"
	TriggerHorizon       = "horizon-intersection"
	TriggerStakes        = "uncorroborated-high-stakes"
	TriggerEmergent      = "emergent"
)

// InquiryQuote is words of a result, as they stand in one of its sections.
type InquiryQuote struct {
	Perspective string `json:"perspective"` // its name
	Section     string `json:"section"`     // section of its result
	Words       string `json:"words"`       // as they stand there
}

// InquiryTrigger is one tension between two perspectives.
type InquiryTrigger struct {
	Kind   string         `json:"kind"`   // kind of the tension; peers were not told it
	Peers  []string       `json:"peers"`  // two perspectives; for a claim of high stakes, its own and that of the validator
	Topic  string         `json:"topic"`  // what it is about, in one line
	Why    string         `json:"why"`    // why the stakes are high, or why the named kinds do not fit
	Quotes []InquiryQuote `json:"quotes"` // the words on which it rests
}

// InquiryDetection says which tensions there are. Its text is the reason if there is none.
type InquiryDetection struct {
	InquiryWords
	Triggers []InquiryTrigger `json:"triggers,omitempty"`
}

// DetectTensions is the act by which tensions are found.
var DetectTensions = inquiryAct(ActSpec{Act: ActFrameDetection, Heading: "FRAME DETECTION", Doc: "Says where the results of an inquiry are in tension."}, InquiryDetection{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Triggers: []InquiryTrigger{{TriggerContradiction, []string{"Operations", "Cost accounting"}, "the second store", "", []InquiryQuote{
		{"Operations", "Assessment", "Keep the first."}, {"Cost accounting", "Assessment", "Keep the second."},
	}}},
})

func (d *InquiryDetection) check() error {
	for _, t := range d.Triggers {
		switch {
		case !slices.Contains([]string{TriggerContradiction, TriggerHorizon, TriggerStakes, TriggerEmergent}, t.Kind):
			return fmt.Errorf("%.80q is no kind of tension", t.Kind)
		case len(t.Peers) != 2 || t.Peers[0] == t.Peers[1]:
			return errors.New("a tension is between two")
		case len(t.Quotes) == 0:
			return errors.New("a tension rests on quotes")
		case (t.Kind == TriggerStakes || t.Kind == TriggerEmergent) && t.Why == "":
			return fmt.Errorf("it does not say why it is %s", t.Kind)
		}
		if t.Topic != flatText(t.Topic) || t.Topic == "" {
			return errors.New("a tension has a topic of one line")
		}
	}
	return nil
}

// InquiryTalk is what the words of all deeds of a dialogue have: their inquiry, and which of its
// tensions they are about.
type InquiryTalk struct {
	InquiryWords
	Inquiry ChannelID `json:"inquiry"` // the channel of the inquiry
	Tension string    `json:"tension"` // id of the tension
}

// InquiryOf is the inquiry that the words of a dialogue name, even if the words are faulty
// otherwise.
func InquiryOf(m *Message) (ChannelID, bool) {
	_, _, block, err := splitInquiry(byName[m.Act].Heading, m.Body)
	if err != nil {
		return "", false
	}
	var t struct {
		Inquiry string `json:"inquiry"`
	}
	if json.Unmarshal([]byte(block), &t) != nil {
		return "", false
	}
	c, err := ParseChannelID(t.Inquiry)
	return c, err == nil
}

// InquiryTopic connects two peers. Its text is what the peers are told. It does not name the kind
// of tension.
type InquiryTopic struct {
	InquiryTalk
	Peers []string `json:"peers"` // agent@host, exactly as they are addressed
	Form  []string `json:"form"`  // the fields of their reports
}

// SignalTopic is the act by which two peers are connected.
var SignalTopic = inquiryAct(ActSpec{Act: ActFrameTopic, Heading: "FRAME TOPIC", Doc: "Tells two peers of an inquiry what to talk about."}, InquiryTopic{
	exampleTalk("mawjs", 1, "You reached materially different conclusions on the second store. Exchange reasons and report agreement and divergence."),
	[]string{"mawui@white", "neo@white"}, ReportForm(),
})

// ReportForm are the fields of a peer's report (R42).
func ReportForm() []string {
	return []string{"Final position", "Agreement points", "Remaining divergence", "Rationale"}
}

func exampleTalk(from string, epoch int, text string) InquiryTalk {
	return InquiryTalk{InquiryWords{FormHead{From: from, At: exampleTime}, text, epoch}, DeriveChannel("record", "@inquiry"), "1.1"}
}

func (t *InquiryTopic) check() error {
	if len(t.Peers) != 2 || !slices.Equal(t.Form, ReportForm()) {
		return errors.New("it does not connect two peers with the form of their reports")
	}
	return filled("inquiry", t.Inquiry.String(), "tension", t.Tension, "topic", t.Text)
}

// InquiryExchange is what a peer says to the other one.
type InquiryExchange struct {
	InquiryTalk
	Perspective string `json:"perspective"`
	Number      int    `json:"number"`         // 1 to 3 (R43)
	Done        bool   `json:"done,omitempty"` // they have no more to say
}

// ExchangeWords is the act by which peers talk.
var ExchangeWords = inquiryAct(ActSpec{Act: ActFrameExchange, Heading: "FRAME EXCHANGE", Doc: "What a peer of an inquiry says to another."},
	InquiryExchange{exampleTalk("mawui", 0, "It needs a restart a week."), "Operations", 1, false})

func (e *InquiryExchange) check() error {
	if e.Number < 1 || e.Number > 3 {
		return errors.New("a pair has three messages")
	}
	return filled("inquiry", e.Inquiry.String(), "tension", e.Tension, "perspective", e.Perspective, "text", e.Text)
}

// InquiryReport is a peer's report of a dialogue: four texts, of which divergence may be
// empty.
type InquiryReport struct {
	InquiryTalk
	Perspective string `json:"perspective"`          // its name
	Position    string `json:"final_position"`       // its position at the end
	Agreement   string `json:"agreement_points"`     // what both agree on
	Divergence  string `json:"remaining_divergence"` // what is left; "" for nothing
	Rationale   string `json:"rationale"`            // why
}

// ReportDialogue is the act by which a peer reports.
var ReportDialogue = inquiryAct(ActSpec{Act: ActFrameReport, Heading: "FRAME REPORT", Doc: "What a peer of an inquiry reports of a dialogue."},
	InquiryReport{exampleTalk("mawui", 0, ""), "Operations", "Keep the first.", "The second is cheaper.", "Whether that is worth a night a week.", "Nobody is awake then."})

func (r *InquiryReport) check() error {
	return filled("inquiry", r.Inquiry.String(), "tension", r.Tension, "perspective", r.Perspective, "final position", r.Position, "agreement points", r.Agreement, "rationale", r.Rationale)
}

// InquiryFollowUp asks a peer one more question, or is the answer to it.
type InquiryFollowUp struct {
	InquiryTalk
	Perspective string `json:"perspective"`
}

// The acts of InquiryFollowUps.
const (
	ActFrameFollowUp     Act = "frame-follow-up"
	ActFrameFollowAnswer Act = "frame-follow-answer"
)

// Peers who do not agree are each asked once.
var (
	FollowUp = inquiryAct(ActSpec{Act: ActFrameFollowUp, Heading: "FRAME FOLLOW-UP", Doc: "Asks a peer of an inquiry what divides it from another."},
		InquiryFollowUp{exampleTalk("mawjs", 1, "What does a night a week cost?"), "Operations"})
	AnswerFollowUp = inquiryAct(ActSpec{Act: ActFrameFollowAnswer, Heading: "FRAME FOLLOW-ANSWER", Doc: "What a peer of an inquiry answers to that."},
		InquiryFollowUp{exampleTalk("mawui", 0, "A person a year."), "Operations"})
)

func (f *InquiryFollowUp) check() error {
	return filled("inquiry", f.Inquiry.String(), "tension", f.Tension, "perspective", f.Perspective, "text", f.Text)
}

// InquiryOutcome is what came of one dialogue, in the coordinator's judgement (R42).
type InquiryOutcome struct {
	Tension    string `json:"tension"`
	Resolution string `json:"resolution"` // agreed, partial or persistent
	Strength   string `json:"strength"`   // strong, moderate or weak
	Basis      string `json:"basis"`
}

// InquiryOutcomes shows what came of the dialogues.
type InquiryOutcomes struct {
	InquiryWords
	Outcomes []InquiryOutcome `json:"outcomes"`
}

// ShowOutcomes is the act that shows what came of dialogues.
var ShowOutcomes = inquiryAct(ActSpec{Act: ActFrameOutcomes, Heading: "FRAME OUTCOMES", Doc: "Shows what came of the dialogues of an inquiry."},
	InquiryOutcomes{InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, []InquiryOutcome{{"1.1", "partial", "moderate", "both count nights, by different figures"}}})

func (o *InquiryOutcomes) check() error {
	for _, one := range o.Outcomes {
		if !slices.Contains([]string{"agreed", "partial", "persistent"}, one.Resolution) || !slices.Contains([]string{"strong", "moderate", "weak"}, one.Strength) {
			return fmt.Errorf("the outcome of %.80q is none", one.Tension)
		}
		if err := filled("basis of "+one.Tension, one.Basis); err != nil {
			return err
		}
	}
	return nil
}
