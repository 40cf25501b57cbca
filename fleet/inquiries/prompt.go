package inquiries

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

// The four sections of a result.
const (
	SectionContribution = "Epistemic Contribution"
	SectionAnalysis     = "Framework Analysis"
	SectionLimits       = "Horizon Limits"
	SectionAssessment   = "Assessment"
)

// ResultSections are the headings of a result, in order.
func ResultSections() []string {
	return []string{SectionContribution, SectionAnalysis, SectionLimits, SectionAssessment}
}

// Prompt is what the member of a perspective is given: the brief, the perspective, the orientation,
// the question, the form of the answer and the rules of dialogue. It follows from these alone, so
// anybody can make it again. It contains nothing of the gathered context, of other members, or of
// how tensions are found.
func (v Inquiry) Prompt(perspective string, orientation []string) string {
	demand := "Every point has substance: data, paths of files, scenarios, figures. A point that could as well be left blank is none. Name at least one file, source or figure in the analysis and in the assessment."
	if v.Brief.Abstract {
		demand = "The question is about general patterns: prefer breadth to particulars."
	}
	return fmt.Sprintf(`You are an expert in %s.

Mission brief:
- Intent: %s
- Deliverable: %s
- Scope: %s (stay within it)

Investigate by yourself from this standpoint: read and search what you were given, and collect your own evidence.
Orientation: %s
Question, word for word:
%s

Answer in four sections, each under its heading:
## %s
What this perspective alone reveals, in two or three sentences.
## %s
The concepts, terms and reasoning of the discipline.
## %s
What this perspective cannot see, or undervalues.
## %s
Your direct answer, in the form of the deliverable.

%s

You may be connected with one other perspective later, for three messages at most between you two. You are told the exact name and the form of a report then. State your position and engage with the other's reasoning; one more question may follow, which you answer with evidence. Begin no exchange unasked.
`, perspective, v.Brief.Intent, v.Brief.Deliverable, v.Brief.Scope, strings.Join(orientation, ", "), v.Opening.Text,
		SectionContribution, SectionAnalysis, SectionLimits, SectionAssessment, demand)
}

// TopicText is what peers are told of a tension. It does not name the kind of tension, because a
// label that says what was found would give them the answer. A trigger that fits no kind gets the
// text of a horizon (R44).
func TopicText(t *inquiry.Tension) string {
	var lines []string
	for _, trigger := range t.Triggers {
		switch trigger.Kind {
		case protocol.TriggerContradiction:
			lines = append(lines, fmt.Sprintf("You reached materially different conclusions on %s. Exchange reasons, and report what you agree on and what not.", trigger.Topic))
		case protocol.TriggerStakes:
			lines = append(lines, fmt.Sprintf("A consequential claim on %s needs independent validation. Assess its support, its uncertainty and what follows if it fails.", trigger.Topic))
		default:
			lines = append(lines, fmt.Sprintf("%s warrants a closer look. State your position, your main uncertainty and one question for the other.", trigger.Topic))
		}
	}
	return strings.Join(lines, "\n")
}

// Cost is how many calls an inquiry makes in its first pass, with that many perspectives and pairs
// in dialogue. `changes` of the brief and `inputs` of the human add to it (R58). An extension has a
// number of its own.
func Cost(perspectives, pairs, changes, inputs int) int {
	return 7 + 2*perspectives + 9*pairs + changes + 2*inputs
}

// Runs is how many calls the inquiry makes in its first pass, as far as this is known: one that
// recommends makes a brief, gathers context and proposes perspectives, and has no team.
func (v Inquiry) Runs() int {
	changes := max(0, v.Briefs-1)
	if v.Mode == protocol.ModeRecommend {
		return 3 + changes
	}
	return Cost(max(len(v.Chosen), len(v.Base)+len(v.Proposal.Perspectives)), len(v.Tensions), changes, len(v.Inputs))
}

// CostWords say at a gate how many runs of agents an answer leads to; "" if it is not about that
// (R58).
func (v Inquiry) CostWords(gate string) string {
	const each = "7, and 2 for each perspective, and 9 for each pair that talks"
	const more = ". A changed brief adds 1, input of yours adds 2."
	switch recommends := v.Mode == protocol.ModeRecommend; {
	case gate == protocol.GateBrief && v.Mode == "":
		return "Runs of agents: 3 to recommend; to inquire " + each + more
	case gate == protocol.GateBrief && recommends, gate == protocol.GatePerspectives && recommends:
		return fmt.Sprintf("Runs of agents: %d in all, and no more: a recommendation has no team.", v.Runs())
	case gate == protocol.GateBrief:
		return "Runs of agents: " + each + more
	case gate == protocol.GatePerspectives && v.Cycle > 1: // the number is that of the first pass
		return "Runs of agents that this adds: 2 for each perspective, 9 for each pair that talks, and 4 to join all anew."
	case gate == protocol.GatePerspectives:
		return fmt.Sprintf("Runs of agents with all of them, in the first pass: %d, and 9 for each pair that talks.", v.Runs())
	case gate == protocol.GateUnderMinimum:
		return "To recommend it instead needs no more runs of agents."
	}
	return ""
}
