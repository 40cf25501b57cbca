package demo

import (
	_ "embed" // the answers
	"encoding/json"
	"regexp"
	"strings"
	"text/template"

	"github.com/parleyfleet/parley/protocol"
)

// lensAnswers are answers to the calls of an inquiry, by words in the calls. What a member gets
// again in a dialogue contains the words of its first call. So the later calls come first.
//
//go:embed lens.txtar
var lensAnswers string

// lens answers the calls of an inquiry into which of two stores is to be kept, as a coordinator and
// as a member. It is no language model: it recognizes each call by its words.
func lens(text string) (string, error) {
	_, answers := sections(lensAnswers)
	for _, a := range answers {
		if !strings.Contains(text, a.name) {
			continue
		}
		asJSON := func(value any) (string, error) {
			data, err := json.Marshal(value)
			return string(data), err
		}
		answer, err := template.New(a.name).Funcs(template.FuncMap{"json": asJSON, "lower": strings.ToLower}).Parse(a.text)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = answer.Execute(&b, newLensCall(text))
		return b.String(), err
	}
	return "I have nothing to say to that.", nil
}

// lensCall is what a call says, for the answers.
type lensCall struct {
	Text      string
	Expert    string // the perspective of a member
	First     string // the first perspective of all
	Fresh     []protocol.InquiryPerspective
	Results   []lensFound
	Opposed   [][2]lensFound // those that keep different stores
	Dialogues []string       // their numbers
	Inputs    []string       // of the human
}

// lensFound is a result in the prompt of a coordinator.
type lensFound struct{ Name, Text, Assessment, Limits string }

var (
	lensHeading  = regexp.MustCompile(`(?m)^The result of the perspective "([^"]*)":\n((?:>.*\n?)*)`)
	lensQuote    = regexp.MustCompile(`(?m)^> ?`)
	lensDialogue = regexp.MustCompile(`(?m)^Dialogue ([0-9.]+),`)
	lensInput    = regexp.MustCompile(`(?m)^The human added:\n> (.*)$`)
)

func newLensCall(text string) lensCall {
	c := lensCall{Text: text, Expert: between(text, "You are an expert in ", "."), Dialogues: groups(lensDialogue, text), Inputs: groups(lensInput, text)}
	settled := between(text, "do not propose them again: ", "\n")
	c.First = strings.Trim(between(between(text, "The perspectives: ", "\n"), "", ", "), `"`)
	for i := len(knownLenses) - 1; i >= 0; i-- {
		if strings.Contains(text, knownLenses[i].Name) {
			c.First = knownLenses[i].Name
		}
	}
	for _, p := range knownLenses {
		if !strings.Contains(settled, p.Name) && len(c.Fresh) < 3 {
			c.Fresh = append(c.Fresh, p)
		}
	}
	for _, m := range lensHeading.FindAllStringSubmatch(text, -1) {
		body := lensQuote.ReplaceAllString(m[2], "")
		c.Results = append(c.Results, lensFound{m[1], body, firstLine(body, "Assessment"), firstLine(body, "Horizon Limits")})
	}
	for i, a := range c.Results {
		for _, b := range c.Results[i+1:] {
			if a.keeps("first") && b.keeps("second") || a.keeps("second") && b.keeps("first") {
				c.Opposed = append(c.Opposed, [2]lensFound{a, b})
			}
		}
	}
	return c
}

func (f lensFound) keeps(which string) bool { return strings.Contains(f.Assessment, "Keep the "+which) }

// between is the text after `from` and before the next `to`.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// groups is what the first group of a pattern matches.
func groups(pattern *regexp.Regexp, text string) (all []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// firstLine is the first line of a section of a result.
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
