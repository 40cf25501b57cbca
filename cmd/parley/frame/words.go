package frame

import (
	"cmp"
	"strconv"

	"github.com/parleyfleet/parley/protocol"
)

// ask is the text of a gate's question, given the ids of both. What a question asks follows from
// these alone (R55).
func ask(gate, question string) string {
	switch question {
	case "brief":
		return "Mission brief"
	case "mode":
		return "Mode"
	case "perspectives":
		return "Which lenses for this inquiry?"
	case "perspective":
		return "Which perspective is to be deepened?"
	case "keep":
		return "What is to be preserved?"
	case "onwards":
		return cmp.Or(map[string]string{
			protocol.GateZero:         "No perspective was proposed. How is it to go on?",
			protocol.GateUnderMinimum: "One perspective alone makes no inquiry. How is it to go on?",
			protocol.GateLost:         "This member does not answer: its host is lost, or what it runs fails there. How is it to go on?",
			protocol.GateFailed:       "This member has no result. How is it to go on?",
			protocol.GateExtend:       "What is to be extended?",
		}[gate], "How would you like to proceed?")
	}
	return "Who investigates " + strconv.Quote(question) + "?"
}

// labels are the texts that are shown for the options that are the same in every inquiry.
var labels = map[string]string{
	"confirm": "Confirm", "modify-intent": "Modify intent", "modify-deliverable": "Modify deliverable", "modify-scope": "Modify scope",
	"recommend": "Recommend", "inquire": "Inquire", "modify-brief": "Modify the brief", "supply-perspectives": "Supply perspectives",
	"extend-selection": "Extend the selection", "recommend-instead": "Recommend instead", "keep-waiting": "Keep waiting",
	"run-elsewhere": "Run it elsewhere", "go-on-without": "Go on without it", "esc": "Esc", "extend": "Extend", "add-input": "Add input",
	"wrap-up": "Wrap up", "withdraw": "Withdraw", "add-perspective": "Add a perspective", "deepen": "Deepen one", "review": "Review the results",
	"convergence": "Convergence", "divergence": "Divergence", "assessment": "Integrated assessment",
}

// abouts say what those options do, if the gate itself says nothing about them.
var abouts = map[string]string{
	"confirm": "proceed with this brief", "modify-intent": "adjust what is investigated", "modify-deliverable": "adjust the form of the answer",
	"modify-scope": "adjust what belongs to it", "recommend": "perspectives alone, no team", "inquire": "each perspective is investigated by itself",
	"modify-brief": "say what is to be different", "supply-perspectives": "name your own, one a line", "extend-selection": "choose again",
	"recommend-instead": "end with this perspective as a recommendation", "keep-waiting": "its host may come back; what failed is tried again", "run-elsewhere": "the same once more, on another host if there is one; in a dialogue, with what it found",
	"go-on-without": "its perspective has no result", "esc": "end the inquiry at once", "add-perspective": "propose others beside those that there are",
	"deepen": "have one perspective investigated further", "review": "show the results again",
}

// beside says what may or must be written in addition to an answer; it is zero if nothing may be.
type beside struct {
	question string
	must     bool
	names    bool // the text is perspectives
}

// typed is the question at a terminal, where the answer is one line.
func (b beside) typed() string {
	switch {
	case b.names && b.must:
		return b.question + ", separated by commas:"
	case b.names:
		return b.question + ", separated by commas (Enter for none):"
	}
	return b.question
}

// freely returns what may or must be written in addition to what was chosen.
func freely(gate string, chosen map[string][]string) beside {
	first := func(id string) string {
		if len(chosen[id]) > 0 {
			return chosen[id][0]
		}
		return ""
	}
	switch gate {
	case protocol.GateBrief:
		if c := first("brief"); c != "" && c != "confirm" {
			return beside{question: "What is to be different?", must: true}
		}
	case protocol.GateZero:
		switch first("onwards") {
		case "modify-brief":
			return beside{question: "What is to be different?", must: true}
		case "supply-perspectives":
			return beside{question: "Your perspectives", must: true, names: true}
		}
	case protocol.GatePerspectives:
		return beside{question: "Perspectives of your own (with them you choose once more)", names: true}
	case protocol.GateRoute:
		if first("onwards") == "add-input" {
			return beside{question: "Your input:", must: true}
		}
	}
	return beside{}
}
