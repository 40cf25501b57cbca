package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The acts of briefs, perspectives and members, and what their bodies say.
const (
	ActFrameBrief       Act = "frame-brief"       // InquiryBrief
	ActFrameContext     Act = "frame-context"     // InquiryContext
	ActFrameProposals   Act = "frame-proposals"   // InquiryProposals
	ActFrameEstablished Act = "frame-established" // InquiryEstablished
	ActFrameMap         Act = "frame-map"         // InquiryMapping
	ActFrameStart       Act = "frame-start"       // InquiryStart
	ActFrameTask        Act = "frame-task"        // InquiryTask
	ActFrameSignal      Act = "frame-signal"      // InquirySignal
	ActFrameReveal      Act = "frame-reveal"      // InquiryReveal
)

// InquiryBrief is the mission brief: how the question is understood.
type InquiryBrief struct {
	InquiryWords
	Intent      string `json:"intent"`             // what is investigated, and why
	Deliverable string `json:"deliverable"`        // what form the answer has
	Scope       string `json:"scope"`              // what belongs to it and what does not
	Mode        string `json:"mode"`               // the recommended mode
	Why         string `json:"why"`                // why the mode is recommended
	Abstract    bool   `json:"abstract,omitempty"` // the question asks for general patterns: no evidence is needed
}

// DraftBrief is the act by which the mission brief is shown.
var DraftBrief = inquiryAct(ActSpec{Act: ActFrameBrief, Heading: "FRAME BRIEF", Doc: "Shows the mission brief of an inquiry."}, InquiryBrief{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Intent: "Which store fits what we write", Deliverable: "a recommendation", Scope: "stores/ only, no rewrite",
	Mode: ModeInquire, Why: "cost and operation may point to different stores",
})

func (b *InquiryBrief) check() error {
	if b.Mode != ModeRecommend && b.Mode != ModeInquire {
		return fmt.Errorf("%.80q is no mode", b.Mode)
	}
	if err := eachLine(b.Intent, b.Deliverable, b.Scope, b.Why); err != nil {
		return err
	}
	return filled("intent", b.Intent, "deliverable", b.Deliverable, "scope", b.Scope, "reason for the mode", b.Why)
}

// InquiryContext says which context was gathered: its digest, and what was looked at. No member is
// ever given the context. It only helps to find perspectives.
type InquiryContext struct {
	InquiryWords
	Digest  string   `json:"sha256"` // hex, of what was gathered
	Sources []string `json:"sources,omitempty"`
}

// GatherContext is the act that says that the context was gathered.
var GatherContext = inquiryAct(ActSpec{Act: ActFrameContext, Heading: "FRAME CONTEXT", Doc: "Says that the context of an inquiry was gathered."}, InquiryContext{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Digest: Hash([]byte("context")), Sources: []string{"stores/README.md"},
})

func (c *InquiryContext) check() error {
	if c.Text != "" && Hash([]byte(c.Text)) != c.Digest {
		return errors.New("its hash is not that of what was gathered")
	}
	return checkHash(c.Digest)
}

func checkHash(s string) error {
	if !IsHash(s) {
		return fmt.Errorf("%.80q is no SHA-256 in hex", s)
	}
	return nil
}

// InquiryPerspective is a perspective that is proposed.
type InquiryPerspective struct {
	Name         string `json:"name"`         // of a discipline or framework, never of a person
	Contribution string `json:"contribution"` // what only this perspective reveals, in one line
	TensionWith  string `json:"tension_with"` // the other perspective with which it may disagree
	Referent     string `json:"referent"`     // the subject of which both speak
}

// InquiryProposals are the perspectives that are proposed. If there is none, the text says why.
type InquiryProposals struct {
	InquiryWords
	Perspectives []InquiryPerspective `json:"perspectives,omitempty"`
}

// ProposePerspectives is the act by which perspectives are proposed.
var ProposePerspectives = inquiryAct(ActSpec{Act: ActFrameProposals, Heading: "FRAME PROPOSALS", Doc: "Proposes the perspectives of an inquiry."}, InquiryProposals{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Perspectives: []InquiryPerspective{
		{"Cost accounting", "what each store costs over three years", "Operations", "the second store"},
		{"Operations", "what breaks at night", "Cost accounting", "the second store"},
	},
})

func (p *InquiryProposals) check() error {
	var names []string
	for _, one := range p.Perspectives {
		if err := filled("name", one.Name, "contribution", one.Contribution, "other that it is in tension with", one.TensionWith, "shared referent", one.Referent); err != nil {
			return fmt.Errorf("the perspective %.80q: %w", one.Name, err)
		}
		if strings.EqualFold(one.TensionWith, one.Name) {
			return fmt.Errorf("the perspective %.80q is in tension with itself alone", one.Name)
		}
		if one.Contribution != flatText(one.Contribution) {
			return fmt.Errorf("the contribution of %.80q is no line", one.Name)
		}
		if err := eachLine(one.TensionWith, one.Referent); err != nil {
			return err
		}
		names = append(names, one.Name)
	}
	if len(names) == 0 && strings.TrimSpace(p.Text) == "" {
		return errors.New("it proposes nothing and does not say why")
	}
	return distinctWords(names, "the perspective")
}

// InquiryLens is a perspective in the trace of an inquiry that recommends.
type InquiryLens struct {
	Perspective string `json:"perspective"`
	About       string `json:"about"` // what it is good for here
}

// InquiryEstablished ends an inquiry that recommends. It has the perspectives, what so many
// perspectives are good for, and how to go on.
type InquiryEstablished struct {
	InquiryWords
	Lenses []InquiryLens `json:"lenses"`
	Tier   string        `json:"tier"` // modifier, narrowing or escalate
	Note   string        `json:"note"` // how to have them investigated
}

// EstablishLens is the act that ends an inquiry which recommends.
var EstablishLens = inquiryAct(ActSpec{Act: ActFrameEstablished, Heading: "FRAME ESTABLISHED", Doc: "Recommends perspectives, and ends an inquiry that was to do that."}, InquiryEstablished{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Lenses: []InquiryLens{{"Operations", "what breaks at night"}}, Tier: LensTier(1), Note: LensNote,
})

// LensTier says what `n` perspectives are good for.
func LensTier(n int) string {
	switch {
	case n <= 1:
		return "modifier"
	case n < 4:
		return "narrowing"
	}
	return "escalate"
}

// LensNote says how recommended perspectives are investigated.
const LensNote = "For an investigation of each in isolation, begin an inquiry with these perspectives."

func (e *InquiryEstablished) check() error {
	for _, l := range e.Lenses {
		if err := filled("perspective", l.Perspective, "word on "+l.Perspective, l.About); err != nil {
			return err
		}
	}
	switch {
	case len(e.Lenses) == 0 || e.Tier != LensTier(len(e.Lenses)):
		return errors.New("its tier is not that of so many perspectives")
	case e.Note != LensNote:
		return errors.New("it does not say how to go on")
	}
	return nil
}

// InquiryFit says which agents fit a perspective. If none fits, an agent is made for the
// perspective, and Made is true.
type InquiryFit struct {
	Perspective string          `json:"perspective"`
	Made        bool            `json:"made,omitempty"`
	Candidates  []InquiryOption `json:"candidates"` // agent@host, and why it fits
}

// InquiryMapping says which agents could investigate which perspectives.
type InquiryMapping struct {
	InquiryWords
	Fits []InquiryFit `json:"fits"`
}

// MapAgents is the act that says which agents fit.
var MapAgents = inquiryAct(ActSpec{Act: ActFrameMap, Heading: "FRAME MAP", Doc: "Says which agents fit the perspectives of an inquiry."}, InquiryMapping{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Fits: []InquiryFit{{Perspective: "Operations", Candidates: []InquiryOption{{"mawui@white", "runs our machines"}}}},
})

func (m *InquiryMapping) check() error {
	for _, f := range m.Fits {
		if len(f.Candidates) == 0 || f.Made && len(f.Candidates) > 1 {
			return fmt.Errorf("nobody investigates %.80q", f.Perspective)
		}
		var names []string
		for _, c := range f.Candidates {
			if a, err := ParseAddress(c.Key); err != nil || a.Host == "" || a.String() != c.Key {
				return fmt.Errorf("%.80q is no agent of a host", c.Key)
			}
			if err := eachLine(c.About); err != nil {
				return err
			}
			names = append(names, c.Key)
		}
		if err := distinctWords(names, "the agent"); err != nil {
			return err
		}
	}
	return nil
}

// InquiryStart says that a member was started. Its prompt follows from the brief, the perspective,
// the orientation and the question alone. Prompt is the hash of that text.
type InquiryStart struct {
	InquiryWords
	Perspective string   `json:"perspective"`
	Attempt     int      `json:"attempt"`            // from 1; one more each time that the member runs again
	Member      string   `json:"member"`             // agent@host
	Orientation []string `json:"orientation"`        // words of the brief
	Prompt      string   `json:"prompt"`             // hex SHA-256 of what it was given
	Question    string   `json:"question"`           // hex SHA-256 of the question
	Carries     []string `json:"carries,omitempty"`  // hashes of what a deepening takes over from the cycle before
	Degraded    string   `json:"degraded,omitempty"` // why the member's session does not go on (R52)
}

// The grades of a member's isolation (R53). Every member has a folder, a home and an environment
// of its own.
const (
	GradeProcess = "process" // no more than that: the member could read what the node's user can
	GradeUser    = "user"    // the member ran as another user of its machine than the node
	GradeWalls   = "walls"   // the member saw neither the node's files and processes nor those of other members
	GradeHost    = "host"    // the member had a machine for itself
)

// Stuck is a call of a member of an inquiry that has failed on its host and is still to be made.
type Stuck struct {
	Inquiry     ChannelID `json:"inquiry"`
	Perspective string    `json:"perspective"`
	Why         string    `json:"why"`
}

// MaxStuck is how many such calls a host tells of, and MaxWhy how long each of their texts may be.
const (
	MaxStuck = 16
	MaxWhy   = 300 // bytes
)

// Check returns an error if a host cannot tell of it so.
func (s Stuck) Check() error {
	if _, err := ParseChannelID(s.Inquiry.String()); err != nil {
		return fmt.Errorf("a call that has failed: %w", err)
	}
	if len(s.Why) > MaxWhy || len(s.Perspective) > MaxWhy || !utf8.ValidString(s.Why+s.Perspective) {
		return errors.New("why a call has failed is too long or not text")
	}
	return nil
}

// Grades are all grades of isolation.
func Grades() []string { return []string{GradeProcess, GradeUser, GradeWalls, GradeHost} }

// StartMember is the act that says that a member was started.
var StartMember = inquiryAct(ActSpec{Act: ActFrameStart, Heading: "FRAME START", Doc: "Says that a member of an inquiry was started."}, InquiryStart{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Perspective: "Operations", Attempt: 1, Member: "mawui@white", Orientation: []string{"stores/"},
	Prompt: Hash([]byte("prompt")), Question: Hash([]byte("question")),
})

func (s *InquiryStart) check() error {
	if s.Attempt < 1 {
		return errors.New("it has no attempt")
	}
	if a, err := ParseAddress(s.Member); err != nil || a.Host == "" {
		return fmt.Errorf("%.80q is no agent of a host", s.Member)
	}
	if err := checkHash(s.Prompt); err != nil {
		return err
	}
	return errors.Join(distinctWords(s.Orientation, "the orientation"), eachLine(s.Degraded), filled("perspective", s.Perspective))
}

// InquiryTask is what a member that was started has to do. It is for people who watch the inquiry.
type InquiryTask struct {
	InquiryWords
	Perspective string `json:"perspective"`
	Attempt     int    `json:"attempt"`
	Question    string `json:"question"` // hex SHA-256 of the question
	Scope       string `json:"scope"`
}

// NoteTask is the act that notes what a member has to do.
var NoteTask = inquiryAct(ActSpec{Act: ActFrameTask, Heading: "FRAME TASK", Doc: "Notes what a member of an inquiry has to do."}, InquiryTask{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, Perspective: "Operations", Attempt: 1, Question: Hash([]byte("question")), Scope: "stores/ only, no rewrite",
})

func (t *InquiryTask) check() error { return filled("perspective", t.Perspective, "scope", t.Scope) }

// How the run of a member ended (R49).
const (
	SignalCompleted = "completed"
	SignalFailed    = "failed"
	SignalSkipped   = "skipped"
)

// InquirySignal says that the run of a member has ended. It tells only the hash of a result: no
// text is told before all members have signalled (R53). If the run failed, the text is the last
// lines of its errors.
type InquirySignal struct {
	InquiryWords
	Perspective string `json:"perspective"`
	Attempt     int    `json:"attempt"`
	Outcome     string `json:"outcome"`
	Result      string `json:"result,omitempty"`   // hex SHA-256 of the result
	Exit        int    `json:"exit,omitempty"`     // exit code of a run that failed
	Grade       string `json:"grade"`              // how the member was isolated: one of Grades
	Degraded    string `json:"degraded,omitempty"` // what is worse than it should be, and why (R52)
}

// SignalEnd is the act by which a member's host says that its run has ended.
var SignalEnd = inquiryAct(ActSpec{Act: ActFrameSignal, Heading: "FRAME SIGNAL", Doc: "Says that the run of a member of an inquiry has ended, and the hash of its result."}, InquirySignal{
	InquiryWords: InquiryWords{FormHead: FormHead{From: "mawui", At: exampleTime}}, Perspective: "Operations", Attempt: 1, Outcome: SignalCompleted, Result: Hash([]byte("result")), Grade: "process",
})

func (s *InquirySignal) check() error {
	if !slices.Contains([]string{SignalCompleted, SignalFailed, SignalSkipped}, s.Outcome) {
		return fmt.Errorf("no run ends %.80q", s.Outcome)
	}
	if !slices.Contains(Grades(), s.Grade) {
		return fmt.Errorf("%.80q is no grade of isolation", s.Grade)
	}
	switch {
	case s.Outcome != SignalCompleted && s.Result != "":
		return errors.New("a run without an end of its own has no result")
	case s.Outcome != SignalFailed && s.Text != "":
		return errors.New("only a run that failed tells errors: a result is not told before all have ended")
	case s.Outcome == SignalCompleted:
		return errors.Join(checkHash(s.Result), eachLine(s.Degraded))
	}
	return eachLine(s.Degraded)
}

// InquiryReveal tells the result of a member, after all members have signalled. Its text is the
// result.
type InquiryReveal struct {
	InquiryWords
	Perspective string `json:"perspective"`
	Attempt     int    `json:"attempt"`
}

// RevealResult is the act by which a member's host tells its result.
var RevealResult = inquiryAct(ActSpec{Act: ActFrameReveal, Heading: "FRAME REVEAL", Doc: "Tells the result of a member of an inquiry."}, InquiryReveal{
	InquiryWords: InquiryWords{FormHead: FormHead{From: "mawui", At: exampleTime}, Text: "## Epistemic Contribution\n\nWhat breaks at night."}, Perspective: "Operations", Attempt: 1,
})

func (r *InquiryReveal) check() error { return filled("perspective", r.Perspective, "text", r.Text) }
