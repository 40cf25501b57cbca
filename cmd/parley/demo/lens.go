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
	c.First = between(between(text, "The perspectives: ", "\n"), "", ", ")
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
<<<<<<< HEAD
=======

func proposedLenses(text string) string {
	var fresh []protocol.InquiryPerspective
	_, settled, _ := strings.Cut(text, "do not propose them again: ")
	settled, _, _ = strings.Cut(strings.ReplaceAll(settled, `"`, ""), "\n")
	for _, p := range knownLenses {
		if !strings.Contains(settled, p.Name) && len(fresh) < 3 {
			fresh = append(fresh, p)
		}
	}
	names := append(strings.Split(settled, ", "), func() (all []string) {
		for _, p := range fresh {
			all = append(all, p.Name)
		}
		return all
	}()...)
	for i, p := range fresh {
		if !slices.ContainsFunc(names, func(n string) bool {
			return strings.TrimSuffix(n, ". Propose at least one that is new.") == p.TensionWith
		}) {
			for _, n := range names {
				if n = strings.TrimSuffix(n, ". Propose at least one that is new."); n != "" && n != p.Name {
					fresh[i].TensionWith = n
				}
			}
		}
	}
	return said(map[string]any{"perspectives": fresh, "reasons": ""})
}

// lensResult is what a member finds.
func lensResult(text string) string {
	_, name, _ := strings.Cut(text, "You are an expert in ")
	name, _, _ = strings.Cut(name, ".")
	finding, verdict := "Both stores answer the 12 questions that are asked of them; see stores/first.md.", "Keep either store: the 12 questions do not tell them apart."
	switch name {
	case "Cost accounting":
		finding, verdict = "The second store is cheaper by 300 a month; see stores/second.md.", "Keep the second store: it saves 10800 in three years."
	case "Reliability engineering":
		finding, verdict = "The second store was restarted four times in a month; see stores/second.md.", "Keep the first store: nobody has to get up for it."
	}
	return fmt.Sprintf("## %s\nAs %s I see what others do not count.\n\n## %s\n%s\n\n## %s\nI cannot see what %s leaves out.\n\n## %s\n%s\n",
		"Epistemic Contribution", name, "Framework Analysis", finding, "Horizon Limits", strings.ToLower(name), "Assessment", verdict)
}

// lensFound is a result in the prompt of a coordinator.
type lensFound struct{ name, text string }

var lensHeading = regexp.MustCompile(`(?m)^The result of the perspective "([^"]*)":\n((?:>.*\n?)*)`)

func lensResults(text string) (all []lensFound) {
	for _, m := range lensHeading.FindAllStringSubmatch(text, -1) {
		body := regexp.MustCompile(`(?m)^> ?`).ReplaceAllString(m[2], "")
		all = append(all, lensFound{m[1], body})
	}
	return all
}

func firstLens(text string) string {
	for _, p := range knownLenses {
		if strings.Contains(text, p.Name) {
			return p.Name
		}
	}
	if _, rest, ok := strings.Cut(text, "The perspectives: "); ok {
		rest, _, _ = strings.Cut(rest, "\n")
		name, _, _ := strings.Cut(rest, ", ")
		return strings.Trim(name, `"`)
	}
	return "the first perspective"
}

// section is a section of a result.
func (f lensFound) section(heading string) string {
	_, below, _ := strings.Cut("\n"+f.text, "\n## "+heading+"\n")
	below, _, _ = strings.Cut(below, "\n## ")
	return strings.TrimSpace(below)
}

func lensPreview(text string) string {
	var w protocol.InquiryPreview
	for _, f := range lensResults(text) {
		w.Results = append(w.Results, protocol.InquiryGlance{
			Perspective: f.name, Title: "What " + strings.ToLower(f.name) + " counts", Summary: firstLine(f.section("Assessment"), "It says nothing."),
			Limits: firstLine(f.section("Horizon Limits"), "It names none."),
		})
	}
	return said(w)
}

func firstLine(text, instead string) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
		return line
	}
	return instead
}

func lensTensions(text string) string {
	all := lensResults(text)
	var w struct {
		Triggers []protocol.InquiryTrigger `json:"triggers"`
		None     string                    `json:"none"`
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			keeps := func(f lensFound, which string) bool {
				return strings.Contains(f.section("Assessment"), "Keep the "+which)
			}
			if keeps(a, "first") && keeps(b, "second") || keeps(a, "second") && keeps(b, "first") {
				w.Triggers = append(w.Triggers, protocol.InquiryTrigger{
					Kind: protocol.TriggerContradiction, Peers: []string{a.name, b.name}, Topic: "which store to keep", Quotes: []protocol.InquiryQuote{
						{Perspective: a.name, Section: "Assessment", Words: firstLine(a.section("Assessment"), "")},
						{Perspective: b.name, Section: "Assessment", Words: firstLine(b.section("Assessment"), "")},
					},
				})
			}
		}
	}
	if len(w.Triggers) == 0 {
		w.None = "Looked for contradiction, horizon intersection and high-stakes claims; the assessments speak of different things."
	}
	return said(w)
}

func lensOutcomes(text string) string {
	var w protocol.InquiryOutcomes
	for _, m := range regexp.MustCompile(`(?m)^Dialogue ([0-9.]+),`).FindAllStringSubmatch(text, -1) {
		w.Outcomes = append(w.Outcomes, protocol.InquiryOutcome{Tension: m[1], Resolution: "partial", Strength: "moderate", Basis: "both count 300 a month and four nights, and weigh them differently"})
	}
	return said(w)
}

func lensSynthesis(text string) string {
	all := lensResults(text)
	talked := strings.Contains(text, "\nDialogue ")
	var w protocol.InquirySynthesis
	var assessment, basis strings.Builder
	for _, f := range all {
		words := firstLine(f.section("Assessment"), "")
		if words == "" {
			continue
		}
		claim := fmt.Sprintf("%s (isolated inquiry): %s", f.name, words)
		fmt.Fprintf(&assessment, "- %s\n", claim)
		fmt.Fprintf(&basis, "- %s: its result.\n", f.name)
		w.Basis = append(w.Basis, protocol.InquiryBasis{Claim: claim, Kind: protocol.BasisResult, Sources: []protocol.InquirySource{{Perspective: f.name, Words: words}}})
	}
	for _, input := range regexp.MustCompile(`(?m)^The human added:\n> (.*)$`).FindAllStringSubmatch(text, -1) {
		claim := "By the human: " + input[1]
		fmt.Fprintf(&assessment, "- %s\n", claim)
		w.Basis = append(w.Basis, protocol.InquiryBasis{Claim: claim, Kind: protocol.BasisInput, Sources: []protocol.InquirySource{{Words: input[1]}}})
	}
	if len(all) > 1 {
		claim := "What remains is a choice: money or sleep."
		fmt.Fprintf(&assessment, "- %s\n", claim)
		w.Basis = append(w.Basis, protocol.InquiryBasis{Claim: claim, Kind: protocol.BasisFusion, Sources: []protocol.InquirySource{{Perspective: all[0].name}, {Perspective: all[1].name}}})
	}
	point := "The stores hold the same orders."
	if len(all) > 1 && all[0].text != all[1].text {
		strength := protocol.IndependentConvergence
		if talked && len(all) == 2 {
			strength = "moderate"
		}
		names := []string{all[0].name, all[len(all)-1].name}
		w.Agreements = append(w.Agreements, protocol.InquiryAgreement{Point: point, Perspectives: names, Strength: strength})
		point += " That is unexpected: they were proposed because they weigh most things differently."
	}
	sections := fmt.Sprintf("## %s\n%s\n\n## %s\nWhether 300 a month is worth four nights.\n\n## %s\n%s\n## %s\n%s- the last claim joins two results (own joining).\n",
		"Convergence", point, "Divergence", "Integrated Assessment", assessment.String(), "Synthesis Basis", basis.String())
	return "Here it is.\n\n" + sections + "\n" + strings.TrimPrefix(said(w), "Here it is.\n\n")
}

func lensTrace(text string) string {
	var w protocol.InquiryTrace
	for _, f := range lensResults(text) {
		row := protocol.InquiryTraceRow{Perspective: f.name, Sections: []string{"Integrated Assessment"}, Survived: true}
		if gap := firstLine(f.section("Horizon Limits"), ""); gap != "" {
			row.Unaddressed = []string{gap}
		}
		w.Rows = append(w.Rows, row)
	}
	return said(w)
}
>>>>>>> h2
