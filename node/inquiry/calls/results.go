package calls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// results are the results of all members, in the form of the coordinator's prompts.
func results(v inquiries.Inquiry) string {
	var texts []string
	for _, m := range v.Standing() {
		texts = append(texts, m.Result)
	}
	text := ""
	for i, result := range within(maxResults, texts...) {
		m := v.Standing()[i]
		text += fmt.Sprintf("\nThe result of the perspective %q:\n%s", m.Perspective, quote(result))
		if len(m.Flags) > 0 {
			text += "(What this result lacks: " + strings.Join(m.Flags, "; ") + ".)\n"
		}
	}
	return text
}

func previewWords(v inquiries.Inquiry) string {
	return lead("sum up each result by itself, so that the human can check later what was made of them.", v) + results(v) + `
- title: what this lens uniquely reveals, in a few words
- summary: its key findings and its assessment, in two or three sentences
- limits: what it does not see, by its own words
` + fmt.Sprintf(inJSON, `{"results": [{"perspective": "…", "title": "…", "summary": "…", "limits": "…"}]}`)
}

func readPreview(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, answer string) (affair.Command, error) {
	var w protocol.InquiryPreview
	if _, err := block(answer, &w, "results"); err != nil {
		return affair.Command{}, err
	}
	var ordered []protocol.InquiryGlance
	for _, m := range v.Standing() {
		i := slices.IndexFunc(w.Results, func(g protocol.InquiryGlance) bool { return strings.EqualFold(word(g.Perspective), m.Perspective) })
		if i < 0 {
			return affair.Command{}, fmt.Errorf("it does not sum up the result of %q", m.Perspective)
		}
		g := w.Results[i]
		g.Perspective, g.Flags = m.Perspective, m.Flags // a rule finds what a result lacks (R57)
		if inquiries.SaysNothing(g.Limits) && len(m.Flags) > 0 {
			g.Limits = "It names none." // otherwise a result without this section could not be shown
		}
		ordered = append(ordered, g)
	}
	w.Results = ordered
	return inquiries.Draft(a, inquiry, protocol.PreviewResults, w), nil
}

func detectionWords(v inquiries.Inquiry) string {
	text := lead("find where results are in tension.", v) + results(v)
	if len(v.Tensions) > 0 {
		text += "\nThese were talked over before. Name one again only where a result has changed since:\n" + dialogues(v)
	}
	return text + `
The kinds of tension:
- contradiction: two perspectives conclude differently on one thing; quote the words of both
- horizon-intersection: what one says that it cannot see is what another one contributes; quote the limit of the one and the contribution of the other
- uncorroborated-high-stakes: a claim of great consequence that no other one confirms; quote it, say why the stakes are high, and name as second peer the perspective that can best validate it
- emergent: a tension that fits none of these; quote it, and say why the named kinds do not fit
Quotes are copied exactly from the named section, ` + strings.Join(inquiries.ResultSections(), ", ") + `. Peers are two perspectives by their names. The topic is what the two are told: it names the thing that is spoken of, and neither a kind of tension nor who is right. Look for all kinds; find none where there is none: then leave the list empty and say in "none" that you looked for contradiction, horizon intersection and high-stakes claims, and why there are none.
` + guards(v) + fmt.Sprintf(inJSON, `{"triggers": [{"kind": "contradiction", "peers": ["…", "…"], "topic": "one line", "why": "", "quotes": [{"perspective": "…", "section": "Assessment", "words": "…"}]}], "none": ""}`)
}

func readDetection(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, answer string) (affair.Command, error) {
	var w struct {
		Triggers []protocol.InquiryTrigger `json:"triggers"`
		None     string                    `json:"none"`
	}
	if _, err := block(answer, &w, "triggers", "none"); err != nil {
		return affair.Command{}, err
	}
	d := protocol.InquiryDetection{Triggers: w.Triggers}
	for i := range d.Triggers {
		t := &d.Triggers[i]
		t.Kind = keyword(t.Kind, protocol.TriggerContradiction, protocol.TriggerHorizon, protocol.TriggerStakes, protocol.TriggerEmergent)
		if strings.EqualFold(keyword(t.Kind, "high-stakes"), "high-stakes") {
			t.Kind = protocol.TriggerStakes
		}
		t.Topic, t.Why = line(t.Topic), line(t.Why)
		for j, p := range t.Peers {
			t.Peers[j] = named(v, p)
		}
		for j := range t.Quotes {
			t.Quotes[j] = placed(v, t.Quotes[j])
		}
	}
	if len(d.Triggers) == 0 {
		d.Text = spelled.Replace(strings.TrimSpace(w.None))
	}
	return inquiries.Draft(a, inquiry, protocol.DetectTensions, d), nil
}

// spelled are the kinds of tension in the spelling of the rule.
var spelled = strings.NewReplacer("horizon-intersection", "horizon intersection", "Horizon-intersection", "Horizon intersection", "Horizon-Intersection", "Horizon Intersection",
	"high stakes", "high-stakes", "High stakes", "High-stakes", "High Stakes", "High-Stakes")

// placed is a quote with its words as they stand in the result, and with the section in which they
// do.
func placed(v inquiries.Inquiry, q protocol.InquiryQuote) protocol.InquiryQuote {
	q.Perspective, q.Section = named(v, q.Perspective), keyword(q.Section, inquiries.ResultSections()...)
	m := v.Member(q.Perspective)
	if m == nil {
		return q
	}
	sections, _ := inquiries.Sections(m.Result, inquiries.ResultSections()...)
	for _, name := range append([]string{q.Section}, inquiries.ResultSections()...) {
		if words := exact(sections[name], q.Words); strings.Contains(sections[name], words) && words != "" {
			q.Section, q.Words = name, inquiries.Whole(sections[name], words)
			return q
		}
	}
	return q
}

// named is a perspective by its proper name, in whatever case it was written.
func named(v inquiries.Inquiry, name string) string {
	for _, p := range v.Chosen {
		if strings.EqualFold(p, word(name)) {
			return p
		}
	}
	return name
}

func synthesisWords(v inquiries.Inquiry) string {
	text := lead("join what the perspectives found into one answer. Only what they found, what the peers reported and what the human added is in it: no new analysis. Where you join sources beyond what one of them says, mark it as your own joining.", v) + brief(v) + results(v) + dialogues(v)
	for _, input := range within(maxInputs, v.Inputs...) {
		text += "\nThe human added:\n" + quote(input)
	}
	for _, pair := range opposed(v) {
		text += fmt.Sprintf("\n%s and %s were proposed as being in tension. Where they agree all the same, say in %s why that is unexpected, with this word.\n", pair[0], pair[1], inquiries.SectionConvergence)
	}
	strength := `"strong" (shared evidence and conclusion), "moderate" (shared conclusion) or "weak" (part of it) where both talked with each other; "independent convergence" where they did not`
	return text + fmt.Sprintf(`
Answer in four sections, each under its heading, then one block of JSON.
## %s
Where perspectives agree, and how strongly: %s. Where they unexpectedly agree, say why looking from several was worth it.
## %s
Where they differ, and what became of it in dialogue.
## %s
The answer, attributed to perspectives: say of each claim whether it is from isolated inquiry or from dialogue.
## %s
The word "rows" alone: it is made of the rows below.
There are no words before the first section, and no others with headings.

In the JSON:
- agreements: each point as it stands, word for word, in %s; its perspectives; its strength
- basis: one row for each sentence, point and heading of %s, %s and %s; what has no row is marked as your own joining. "claim" is its words exactly as they stand there; "kind" is "result" (words of a result), "dialogue-agreement" or "dialogue-divergence" (words of a report), "user_input" (words of the human) or "synthesis" (your own joining); "sources" name perspectives with the words as they stand in the source, exactly, a clause at least; for "synthesis" without words
%s`, inquiries.SectionConvergence, strength, inquiries.SectionDivergence, inquiries.SectionIntegrated, inquiries.SectionBasis, inquiries.SectionConvergence, inquiries.SectionConvergence, inquiries.SectionDivergence, inquiries.SectionIntegrated, guards(v)) +
		fmt.Sprintf(inJSON, `{"agreements": [{"point": "…", "perspectives": ["…", "…"], "strength": "…"}], "basis": [{"claim": "…", "kind": "result", "sources": [{"perspective": "…", "words": "…"}]}]}`)
}

func readSynthesis(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, answer string) (affair.Command, error) {
	var w protocol.InquirySynthesis
	o, err := block(answer, &w, "basis")
	if err != nil {
		return affair.Command{}, err
	}
	sections, faults := inquiries.Sections(sectionsOf(answer, o, inquiries.SynthesisSections()), inquiries.SynthesisSections()...)
	if len(faults) > 0 { // in another form
		f, _ := taken(answer, inquiries.SynthesisSections())
		sections, faults = inquiries.Sections(f.text(inquiries.SynthesisSections()), inquiries.SynthesisSections()...)
	}
	if len(faults) > 0 {
		return affair.Command{}, fmt.Errorf("the synthesis: %s", strings.Join(faults, "; "))
	}
	for name, text := range sections {
		sections[name] = high.Regexp().ReplaceAllString(text, "### ") // below the headings of the sections
	}
	for i := range w.Agreements {
		g := &w.Agreements[i]
		g.Point = exact(sections[inquiries.SectionConvergence], g.Point)
		g.Strength = keyword(g.Strength, "strong", "moderate", "weak", protocol.IndependentConvergence)
		for j, p := range g.Perspectives {
			g.Perspectives[j] = named(v, p)
		}
	}
	rows := w.Basis
	w.Basis, w.Others = nil, nil
	for _, b := range rows {
		b = based(v, b)
		claim := exact(sections[inquiries.SectionIntegrated], b.Claim)
		if b.Claim = claim; strings.Contains(sections[inquiries.SectionIntegrated], claim) {
			w.Basis = append(w.Basis, b)
			continue
		}
		for _, name := range []string{inquiries.SectionConvergence, inquiries.SectionDivergence} {
			b.Claim = exact(sections[name], b.Claim)
		}
		w.Others = append(w.Others, b)
	}
	joined(v, &w, sections)
	return inquiries.Draft(a, inquiry, protocol.Synthesize, w), nil
}

// high are headings that would be as high as those of the sections.
var high = pattern.New(`(?m)^[ \t]{0,3}#{1,2}[ \t]+`)

// based is a row of a basis with its kind and its quotes as they stand in the sources.
func based(v inquiries.Inquiry, b protocol.InquiryBasis) protocol.InquiryBasis {
	b.Kind = keyword(b.Kind, protocol.BasisResult, protocol.BasisAgreement, protocol.BasisDivergence, protocol.BasisInput, protocol.BasisFusion)
	quotes := 0
	for j := range b.Sources {
		s := &b.Sources[j]
		s.Perspective = named(v, s.Perspective)
		stands := false
		for _, text := range v.Evidence(b.Kind, s.Perspective) {
			if words := exact(text, s.Words); !stands && strings.Contains(text, words) {
				s.Words, stands = inquiries.Whole(text, words), true
			}
		}
		switch {
		case b.Kind == protocol.BasisInput:
			s.Perspective = "" // it is the human's
		case b.Kind == protocol.BasisFusion && !stands:
			s.Words = "" // the coordinator itself joined results, and quotes nobody
		}
		if s.Words != "" {
			quotes++
		}
	}
	if quotes == 0 && b.Kind == protocol.BasisResult { // what quotes nobody is the coordinator's own
		b.Kind = protocol.BasisFusion
	}
	return b
}

// joined writes the text of a synthesis: its sections, and its basis from the rows. A sentence that
// no row covers is marked as the coordinator's own joining (F62). A paragraph of the assessment
// without any row is not: it is new, and the rules refuse it.
func joined(v inquiries.Inquiry, w *protocol.InquirySynthesis, sections map[string]string) {
	write := func() {
		w.Text = ""
		for _, name := range inquiries.SynthesisSections() {
			w.Text += "## " + name + "\n\n" + sections[name] + "\n\n"
		}
		w.Text = strings.TrimSpace(w.Text)
	}
	write()
	isNew := func(claim string) bool {
		return slices.ContainsFunc(inquiries.Paragraphs(sections[inquiries.SectionIntegrated]), func(p string) bool {
			return strings.Contains(p, claim) && !slices.ContainsFunc(w.Basis, func(b protocol.InquiryBasis) bool { return strings.Contains(p, b.Claim) })
		})
	}
	for _, claim := range slices.DeleteFunc(v.Unbased(*w), isNew) {
		own := protocol.InquiryBasis{Claim: claim, Kind: protocol.BasisFusion}
		var all []protocol.InquirySource
		for _, m := range v.Standing() {
			if all = append(all, protocol.InquirySource{Perspective: m.Perspective}); strings.Contains(strings.ToLower(claim), strings.ToLower(m.Perspective)) {
				own.Sources = append(own.Sources, all[len(all)-1])
			}
		}
		if own.Sources == nil {
			own.Sources = all
		}
		if strings.Contains(sections[inquiries.SectionIntegrated], claim) {
			w.Basis = append(w.Basis, own)
		} else {
			w.Others = append(w.Others, own)
		}
	}
	rows := ""
	for _, b := range slices.Concat(w.Others, w.Basis) {
		var from []string
		for _, s := range b.Sources {
			from = append(from, cmp.Or(s.Perspective, "the human"))
		}
		rows += "- " + strings.TrimLeft(line(b.Claim), "-*# ") + " (" + kindNames[b.Kind] + strings.Join(slices.Compact(from), ", ") + ")\n"
	}
	sections[inquiries.SectionBasis] = strings.TrimSpace(rows)
	write()
}

// kindNames are the kinds of a basis, for people.
var kindNames = map[string]string{
	protocol.BasisResult: "from the isolated inquiry of ", protocol.BasisAgreement: "agreed in dialogue by ", protocol.BasisDivergence: "left open in dialogue by ",
	protocol.BasisInput: "added by ", protocol.BasisFusion: "joined by the coordinator, from ",
}

// sectionsOf are the sections of an answer, from its first heading on, without the JSON. The JSON
// usually stands behind them, and sometimes before or among them.
func sectionsOf(answer string, o object, headings []string) string {
	before, after := without(answer, o)
	if text := fromHeading(before, headings); whole(text, headings) {
		return text // what stands behind the JSON does not belong to it
	}
	return fromHeading(before+"\n\n"+after, headings)
}

func whole(text string, headings []string) bool {
	_, faults := inquiries.Sections(text, headings...)
	return !slices.ContainsFunc(faults, func(f string) bool { return strings.HasSuffix(f, "is missing") })
}

func fromHeading(text string, headings []string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, one := range lines {
		for _, h := range headings {
			if whole(one, []string{h}) {
				return strings.TrimSpace(strings.Join(lines[i:], "\n"))
			}
		}
	}
	return ""
}

func traceWords(v inquiries.Inquiry) string {
	return lead("show what each perspective gave to the synthesis, before the human ends the inquiry.", v) + results(v) + "\nThe synthesis:\n" + quote(within(maxContext, v.Synthesis.Text)[0]) + fmt.Sprintf(`
- sections: which of %s, %s, %s the perspective influenced
- survived: whether what it alone found is in the synthesis
- unaddressed: which of its horizon limits no perspective addressed, each copied exactly from its section %s
`, inquiries.SectionConvergence, inquiries.SectionDivergence, inquiries.SectionIntegrated, inquiries.SectionLimits) +
		fmt.Sprintf(inJSON, `{"rows": [{"perspective": "…", "sections": ["Integrated Assessment"], "survived": true, "unaddressed": ["…"]}]}`)
}

func readTrace(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, answer string) (affair.Command, error) {
	var w protocol.InquiryTrace
	if _, err := block(answer, &w, "rows"); err != nil {
		return affair.Command{}, err
	}
	var ordered []protocol.InquiryTraceRow
	w.Gaps = nil
	for _, m := range v.Standing() {
		i := slices.IndexFunc(w.Rows, func(r protocol.InquiryTraceRow) bool { return strings.EqualFold(word(r.Perspective), m.Perspective) })
		if i < 0 {
			return affair.Command{}, fmt.Errorf("it does not show %q", m.Perspective)
		}
		r := w.Rows[i]
		r.Perspective = m.Perspective
		for j, section := range r.Sections {
			r.Sections[j] = keyword(section, inquiries.SynthesisSections()...)
		}
		r.Sections = slices.DeleteFunc(r.Sections, func(s string) bool { return s == inquiries.SectionBasis }) // its content is what is asked for here
		sections, _ := inquiries.Sections(m.Result, inquiries.ResultSections()...)
		var unaddressed []string
		for _, gap := range r.Unaddressed {
			if isNone(gap) || strings.TrimSpace(gap) == "" || sections[inquiries.SectionLimits] == "" { // a result without that section names none
				continue
			}
			gap = inquiries.Whole(sections[inquiries.SectionLimits], exact(sections[inquiries.SectionLimits], gap))
			if !slices.Contains(unaddressed, gap) {
				unaddressed = append(unaddressed, gap)
			}
		}
		due := v.Row(m)
		for _, section := range due.Sections { // what the rows of the synthesis show, nobody has to remember
			if !slices.Contains(r.Sections, section) {
				r.Sections = append(r.Sections, section)
			}
		}
		r.Survived = r.Survived || due.Survived
		if r.Unaddressed = unaddressed; len(unaddressed) == 0 {
			r.Unaddressed = due.Unaddressed
		}
		for _, gap := range r.Unaddressed {
			if !slices.Contains(w.Gaps, gap) {
				w.Gaps = append(w.Gaps, gap)
			}
		}
		ordered = append(ordered, r)
	}
	w.Rows = ordered
	return inquiries.Draft(a, inquiry, protocol.ShowTrace, w), nil
}

// findings are the whole sections that the human preserved.
func findings(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry) affair.Command {
	sections, _ := inquiries.Sections(v.Synthesis.Text, inquiries.SynthesisSections()...)
	w := protocol.InquiryFindings{Gaps: v.Trace.Gaps}
	for _, category := range v.End.Preserve {
		w.Findings = append(w.Findings, protocol.InquiryFinding{Category: category, Words: sections[inquiries.SectionOf(category)]})
	}
	return inquiries.Draft(a, inquiry, protocol.KeepFindings, w)
}
