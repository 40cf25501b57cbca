package protocol

import (
	"errors"
	"fmt"
	"slices"
)

// The acts of the end of an inquiry, and what their bodies say.
const (
	ActFrameSynthesis Act = "frame-synthesis" // InquirySynthesis
	ActFrameTrace     Act = "frame-trace"     // InquiryTrace
	ActFrameFindings  Act = "frame-findings"  // InquiryFindings
)

// What a claim of a synthesis rests on.
const (
	BasisResult     = "result"              // words of a result
	BasisAgreement  = "dialogue-agreement"  // words of a report
	BasisDivergence = "dialogue-divergence" // words of a report
	BasisInput      = "user_input"          // words that the human added (R48)
	BasisFusion     = "synthesis"           // the coordinator's own joining of the sources
)

// InquirySource is where a claim is from. The words are as they stand there; a claim that the
// coordinator joined has none.
type InquirySource struct {
	Perspective string `json:"perspective,omitempty"` // none: the human
	Words       string `json:"words,omitempty"`       // as they stand there; none if the coordinator joined sources
}

// InquiryBasis is what one claim of a synthesis rests on.
type InquiryBasis struct {
	Claim   string          `json:"claim"`   // as it stands in the section
	Kind    string          `json:"kind"`    // result, dialogue-agreement, dialogue-divergence, user_input or synthesis
	Sources []InquirySource `json:"sources"` // the sources of the claim
}

// IndependentConvergence is the strength of an agreement without dialogue.
const IndependentConvergence = "independent convergence"

// InquiryAgreement is something on which perspectives agree.
type InquiryAgreement struct {
	Point        string   `json:"point"`        // as it stands in the section on convergence
	Perspectives []string `json:"perspectives"` // names of the perspectives that agree
	Strength     string   `json:"strength"`     // strong, moderate, weak; IndependentConvergence without dialogue
}

// InquirySynthesis joins the results. Its text is the four sections.
type InquirySynthesis struct {
	InquiryWords
	Agreements []InquiryAgreement `json:"agreements,omitempty"`
	Basis      []InquiryBasis     `json:"basis"`
	// Others are what the claims of the other two sections rest on. Version 0.1.0 does not know them.
	Others []InquiryBasis `json:"others,omitempty"`
}

// Synthesize is the act by which the results are joined.
var Synthesize = inquiryAct(ActSpec{Act: ActFrameSynthesis, Heading: "FRAME SYNTHESIS", Doc: "Joins what the perspectives of an inquiry found."}, InquirySynthesis{
	InquiryWords: InquiryWords{FormHead: exampleHeadFrame, Epoch: 1, Text: "## Convergence\n\n…\n\n## Divergence\n\n…\n\n## Integrated Assessment\n\nKeep the first.\n\n## Synthesis Basis\n\n…"},
	Basis:        []InquiryBasis{{"Keep the first.", BasisResult, []InquirySource{{"Operations", "Keep the first."}}}},
})

func (s *InquirySynthesis) check() error {
	if len(s.Basis) == 0 {
		return errors.New("nothing of it has a basis")
	}
	for _, b := range slices.Concat(s.Basis, s.Others) {
		if !slices.Contains([]string{BasisResult, BasisAgreement, BasisDivergence, BasisInput, BasisFusion}, b.Kind) || len(b.Sources) == 0 {
			return fmt.Errorf("the claim %.80q has no basis", b.Claim)
		}
		if err := filled("claim", b.Claim); err != nil {
			return err
		}
	}
	for _, a := range s.Agreements {
		if !slices.Contains([]string{"strong", "moderate", "weak", IndependentConvergence}, a.Strength) {
			return fmt.Errorf("no agreement is %.80q", a.Strength)
		}
		if err := filled("point of agreement", a.Point); err != nil {
			return err
		}
	}
	return nil
}

// InquiryTraceRow is what one perspective contributed to the synthesis.
type InquiryTraceRow struct {
	Perspective string   `json:"perspective"`           // its name
	Sections    []string `json:"sections,omitempty"`    // the sections that it influenced
	Survived    bool     `json:"survived"`              // what this perspective alone found is in the synthesis
	Unaddressed []string `json:"unaddressed,omitempty"` // those of its limits that nobody addressed
}

// InquiryTrace shows what each perspective contributed, before a wrap-up ends the inquiry.
type InquiryTrace struct {
	InquiryWords
	Rows []InquiryTraceRow `json:"rows"`
	Gaps []string          `json:"gaps,omitempty"` // the limits that nobody addressed, of all rows
}

// ShowTrace is the act that shows what perspectives gave.
var ShowTrace = inquiryAct(ActSpec{Act: ActFrameTrace, Heading: "FRAME TRACE", Doc: "Shows what each perspective gave to an inquiry, and what none saw."}, InquiryTrace{
	InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, []InquiryTraceRow{{"Operations", []string{"Integrated Assessment"}, true, []string{"cost"}}}, []string{"cost"},
})

func (t *InquiryTrace) check() error {
	var gaps []string
	for _, r := range t.Rows {
		for _, gap := range r.Unaddressed {
			if !slices.Contains(gaps, gap) {
				gaps = append(gaps, gap)
			}
		}
	}
	if !slices.Equal(gaps, t.Gaps) {
		return errors.New("its gaps are not those of its rows")
	}
	return nil
}

// InquiryTeam names members that are told to end, or that have ended.
type InquiryTeam struct {
	InquiryWords
	Members []string `json:"members,omitempty"` // agent@host
}

// The acts of InquiryTeams.
const (
	ActFrameShutdown Act = "frame-shutdown"
	ActFrameTeamEnd  Act = "frame-team-end"
)

// The acts by which members are told to end, and by which it is said that the team has ended.
var (
	ShutDownTeam = inquiryAct(ActSpec{Act: ActFrameShutdown, Heading: "FRAME SHUTDOWN", Doc: "Tells the members of an inquiry to end."},
		InquiryTeam{InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, []string{"mawui@white"}})
	EndTeam = inquiryAct(ActSpec{Act: ActFrameTeamEnd, Heading: "FRAME TEAM-END", Doc: "Says that the members of an inquiry have ended."},
		InquiryTeam{InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, []string{"mawui@white"}})
)

func (t *InquiryTeam) check() error { return nil }

// InquiryFinding is something that a human preserved.
type InquiryFinding struct {
	Category string `json:"category"` // convergence, divergence or assessment
	Words    string `json:"words"`    // as they stand in that section of the synthesis
}

// InquiryFindings end an inquiry that is wrapped up. They are what is kept of it (R56).
type InquiryFindings struct {
	InquiryWords
	Findings []InquiryFinding `json:"findings,omitempty"`
	Gaps     []string         `json:"gaps,omitempty"`
}

// KeepFindings is the act by which an inquiry is wrapped up.
var KeepFindings = inquiryAct(ActSpec{Act: ActFrameFindings, Heading: "FRAME FINDINGS", Doc: "Says what is kept of an inquiry, and ends it."},
	InquiryFindings{InquiryWords{FormHead: exampleHeadFrame, Epoch: 1}, []InquiryFinding{{"assessment", "Keep the first."}}, []string{"cost"}})

func (f *InquiryFindings) check() error {
	for _, one := range f.Findings {
		if err := filled("category", one.Category, "words", one.Words); err != nil {
			return err
		}
	}
	return nil
}
