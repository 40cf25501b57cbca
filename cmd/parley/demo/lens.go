package demo

import (
	"cmp"
	_ "embed" // the answers
	"encoding/json"
	"os"
	"regexp"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// lensAnswers are answers to the calls of an inquiry, by words in the calls. In them, $NAME is one of
// the values of the call. What a member gets again in a dialogue contains the words of its first
// call. So the later calls come first.
//
//go:embed lens.txtar
var lensAnswers string

// lens answers the calls of an inquiry into which of two stores is to be kept, as a coordinator and
// as a member. It is no language model: it recognizes each call by its words.
func lens(text string) string {
	_, answers := sections(lensAnswers)
	for _, a := range answers {
		if !strings.Contains(text, a.name) {
			continue
		}
		values := lensValues(text)
		return os.Expand(a.text, func(name string) string { return values[name] })
	}
	return "I have nothing to say to that."
}

// lensFound is a result in the prompt of a coordinator.
type lensFound struct{ name, text, assessment, limits string }

// lensValues are what answers take from a call: texts, and JSON.
func lensValues(text string) map[string]string {
	glances, rows, triggers := []protocol.InquiryGlance{}, []protocol.InquiryTraceRow{}, []protocol.InquiryTrigger{}
	outcomes, agreements, basis := []protocol.InquiryOutcome{}, []protocol.InquiryAgreement{}, []protocol.InquiryBasis{}
	expert, settled := between(text, "You are an expert in ", "."), between(text, "do not propose them again: ", "\n")
	v := map[string]string{"expert": expert, "discipline": strings.ToLower(expert), "first": strings.Trim(between(between(text, "The perspectives: ", "\n"), "", ", "), `"`)}
	for i := len(knownLenses) - 1; i >= 0; i-- {
		if strings.Contains(text, knownLenses[i].Name) {
			v["first"] = knownLenses[i].Name
		}
	}
	var fresh []protocol.InquiryPerspective
	for _, p := range knownLenses {
		if !strings.Contains(settled, p.Name) && len(fresh) < 3 {
			fresh = append(fresh, p)
		}
	}
	var results []lensFound
	for _, m := range regexp.MustCompile(`(?m)^The result of the perspective "([^"]*)":\n((?:>.*\n?)*)`).FindAllStringSubmatch(text, -1) {
		body := regexp.MustCompile(`(?m)^> ?`).ReplaceAllString(m[2], "")
		results = append(results, lensFound{m[1], body, firstLine(body, "Assessment"), firstLine(body, "Horizon Limits")})
	}
	for i, a := range results {
		glances = append(glances, protocol.InquiryGlance{
			Perspective: a.name, Title: "What " + strings.ToLower(a.name) + " counts", Summary: cmp.Or(a.assessment, "It says nothing."), Limits: cmp.Or(a.limits, "It names none.")})
		rows = append(rows, protocol.InquiryTraceRow{Perspective: a.name, Sections: []string{"Integrated Assessment"}, Survived: true, Unaddressed: []string{a.limits}})
		if a.assessment != "" {
			v["grounds"] += "- " + a.name + ": its result.\n"
			basis = append(basis, protocol.InquiryBasis{Claim: a.name + " (isolated inquiry): " + a.assessment, Kind: "result", Sources: []protocol.InquirySource{{Perspective: a.name, Words: a.assessment}}})
		}
		for _, b := range results[i+1:] {
			if a.keeps("first") && b.keeps("second") || a.keeps("second") && b.keeps("first") {
				triggers = append(triggers, protocol.InquiryTrigger{
					Kind: protocol.TriggerContradiction, Peers: []string{a.name, b.name}, Topic: "which store to keep",
					Quotes: []protocol.InquiryQuote{{Perspective: a.name, Section: "Assessment", Words: a.assessment}, {Perspective: b.name, Section: "Assessment", Words: b.assessment}}})
			}
		}
	}
	for _, input := range groups(`(?m)^The human added:\n> (.*)$`, text) {
		basis = append(basis, protocol.InquiryBasis{Claim: "By the human: " + input, Kind: "user_input", Sources: []protocol.InquirySource{{Words: input}}})
	}
	dialogues := groups(`(?m)^Dialogue ([0-9.]+),`, text)
	if n := len(results); n > 1 {
		one, two, last := results[0], results[1], results[n-1]
		basis = append(basis, protocol.InquiryBasis{
			Claim: "What remains is a choice: money or sleep.", Kind: "synthesis", Sources: []protocol.InquirySource{{Perspective: one.name}, {Perspective: two.name}}})
		if one.text != two.text {
			v["surprise"] = " That is unexpected: they were proposed because they weigh most things differently."
			agreement := protocol.InquiryAgreement{Point: "The stores hold the same orders.", Perspectives: []string{one.name, last.name}, Strength: protocol.IndependentConvergence}
			if len(dialogues) > 0 && n == 2 {
				agreement.Strength = "moderate"
			}
			agreements = append(agreements, agreement)
		}
	}
	for _, b := range basis {
		v["claims"] += "- " + b.Claim + "\n"
	}
	for _, id := range dialogues {
		outcomes = append(outcomes, protocol.InquiryOutcome{Tension: id, Resolution: "partial", Strength: "moderate", Basis: "both count 300 a month and four nights, and weigh them differently"})
	}
	for name, value := range map[string]any{"fresh": fresh, "summaries": glances, "triggers": triggers, "outcomes": outcomes, "agreements": agreements, "basis": basis, "rows": rows} {
		data, _ := json.Marshal(value) // lists of texts always fit
		v[name] = string(data)
	}
	return v
}

func (f lensFound) keeps(which string) bool { return strings.Contains(f.assessment, "Keep the "+which) }

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func groups(pattern, text string) (all []string) {
	return each.Of(regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1), func(m []string) string { return m[1] })
}

func firstLine(result, heading string) string {
	section := strings.TrimSpace(between("\n"+result, "\n## "+heading+"\n", "\n## "))
	return between(section, "", "\n")
}

// knownLenses are perspectives, and what each of them reveals.
var knownLenses = []protocol.InquiryPerspective{
	{Name: "Cost accounting", Contribution: "what each store costs over three years", TensionWith: "Reliability engineering", Referent: "the second store"},
	{Name: "Reliability engineering", Contribution: "what breaks at night, and who gets up", TensionWith: "Cost accounting", Referent: "the second store"},
	{Name: "Data modelling", Contribution: "which questions each store can answer at all", TensionWith: "Cost accounting", Referent: "the orders in both stores"},
	{Name: "Queueing theory", Contribution: "how each store behaves when orders come in bursts", TensionWith: "Cost accounting", Referent: "the orders in both stores"},
}
