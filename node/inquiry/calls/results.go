package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// results are the results of all members, in the form of the coordinator's prompts.
func results(v inquiries.Inquiry) string {
	texts := each.Of(v.Standing(), func(m *inquiries.Member) string { return m.Result })
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
		if inquiries.SaysNothing(g.Limits) && (len(m.Flags) > 0 || strings.TrimSpace(g.Limits) != "") {
			g.Limits = "It names none."
			if own := inquiries.SectionTexts(m.Result)[inquiries.SectionLimits]; !inquiries.SaysNothing(own) {
				g.Limits = cutLine(own)
			}
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
- contradiction: two perspectives conclude differently on one thing; quote the words in which both differ
- horizon-intersection: what one says that it cannot see is what another one contributes; quote the limit of the one and the contribution of the other
- uncorroborated-high-stakes: a claim of great consequence that no other one confirms; quote it, say why the stakes are high, and name as second peer the perspective that can best validate it
- emergent: a tension that fits none of these; quote it, and say why the named kinds do not fit
Quotes are copied exactly from the named section, ` + strings.Join(inquiries.ResultSections(), ", ") + `. Peers are two perspectives by their names. The topic is what the two are told: it names the thing that is spoken of, and neither a kind of tension nor who is right. Look for all kinds; find none where there is none: then leave the list empty and say in "none" that you looked for contradiction, horizon intersection and high-stakes claims, and why there are none.
` + guards(v) + fmt.Sprintf(inJSON, `{"triggers": [{"kind": "contradiction", "peers": ["…", "…"], "topic": "one line", "why": "", "quotes": [{"perspective": "…", "section": "Assessment", "words": "…"}]}], "none": ""}`)
}

func readDetection(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, s Surroundings, answer string) (affair.Command, error) {
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
		if s.Refused != "" && v.Leaks(*t) != "" { // it was asked for another one, and the two know the question
			t.Topic = cutLine(v.Opening.Text)
		}
	}
	var once []protocol.InquiryTrigger
	for _, t := range d.Triggers {
		if t.Kind == protocol.TriggerStakes && len(t.Peers) > 0 && slices.ContainsFunc(t.Quotes, func(q protocol.InquiryQuote) bool { return q.Perspective == t.Peers[0] }) { // the other one is to validate it
			t.Quotes = slices.DeleteFunc(t.Quotes, func(q protocol.InquiryQuote) bool { return len(t.Peers) == 2 && q.Perspective == t.Peers[1] })
		}
		if !slices.ContainsFunc(once, func(o protocol.InquiryTrigger) bool {
			return o.Kind == t.Kind && o.Topic == t.Topic && slices.Equal(o.Peers, t.Peers)
		}) {
			once = append(once, t)
		}
	}
	if d.Triggers = once; len(once) == 0 {
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
	sections := inquiries.SectionTexts(m.Result)
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
	text := lead("join what the perspectives found into one answer. Only what they found, what the peers reported and what the human added is in it: no new analysis. Where you join sources beyond what one of them says, mark it as your own joining. Figures and paths are those of the sources.", v) + brief(v) + results(v) + dialogues(v)
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
	agreements := w.Agreements
	w.Agreements = nil
	for _, g := range agreements {
		g.Point = inquiries.Whole(sections[inquiries.SectionConvergence], exact(sections[inquiries.SectionConvergence], g.Point))
		if strings.Contains(sections[inquiries.SectionConvergence], g.Point) && !v.Says(sections[inquiries.SectionConvergence], g.Point) {
			continue // it says nothing on which anybody could agree
		}
		g.Strength = keyword(g.Strength, "strong", "moderate", "weak", protocol.IndependentConvergence)
		for j, p := range g.Perspectives {
			g.Perspectives[j] = named(v, p)
		}
		all := v.Agreed(g)
		if g.Strength == protocol.IndependentConvergence {
			all = []protocol.InquiryAgreement{g} // nobody knows how strong it would be by dialogue
		}
		for _, a := range all {
			if !slices.ContainsFunc(w.Agreements, func(o protocol.InquiryAgreement) bool {
				return o.Point == a.Point && slices.Equal(o.Perspectives, a.Perspectives)
			}) {
				w.Agreements = append(w.Agreements, a)
			}
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
	stands := func(kind string, s protocol.InquirySource) (words string, says bool) {
		for _, text := range v.Evidence(kind, named(v, s.Perspective)) {
			if w := exact(text, s.Words); w != "" && strings.Contains(text, w) {
				if words = inquiries.Whole(text, w); v.Says(text, words) {
					return words, true
				}
			}
		}
		return words, false
	}
	if b.Kind != protocol.BasisFusion { // the kind in which the words stand
		for _, kind := range []string{b.Kind, protocol.BasisResult, protocol.BasisAgreement, protocol.BasisDivergence} {
			if !slices.ContainsFunc(b.Sources, func(s protocol.InquirySource) bool { _, says := stands(kind, s); return !says }) {
				b.Kind = kind
				break
			}
		}
	}
	if b.Kind != protocol.BasisInput && len(v.Foreign(b.Claim)) > 0 {
		b.Kind = protocol.BasisFusion
	}
	quotes := 0
	for j := range b.Sources {
		s := &b.Sources[j]
		words, says := stands(b.Kind, *s)
		s.Perspective = named(v, s.Perspective)
		if words != "" {
			s.Words = words
		}
		switch {
		case b.Kind == protocol.BasisInput:
			s.Perspective = "" // it is the human's
		case b.Kind == protocol.BasisFusion && !says, words != "" && !says:
			s.Words = "" // the coordinator itself joined results, and quotes nobody
		}
		if s.Words != "" {
			quotes++
		}
	}
	if quotes > 0 && b.Kind != protocol.BasisFusion {
		b.Sources = slices.DeleteFunc(b.Sources, func(s protocol.InquirySource) bool { return s.Words == "" })
	}
	if quotes == 0 && b.Kind != protocol.BasisInput { // what quotes nobody is the coordinator's own
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
		rows += inquiries.BasisLine(b) + "\n"
	}
	sections[inquiries.SectionBasis] = strings.TrimSpace(rows)
	write()
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
		for _, section := range r.Sections {
			if section = keyword(section, inquiries.SynthesisSections()...); !slices.Contains(inquiries.SynthesisSections(), section) {
				return affair.Command{}, fmt.Errorf("%q is no section of the synthesis", section)
			}
		}
		sections := inquiries.SectionTexts(m.Result)
		var unaddressed []string
		for _, gap := range r.Unaddressed {
			if inquiries.IsNone(gap) || strings.TrimSpace(gap) == "" || sections[inquiries.SectionLimits] == "" { // a result without that section names none
				continue
			}
			gap = inquiries.Whole(sections[inquiries.SectionLimits], exact(sections[inquiries.SectionLimits], gap))
			if !slices.Contains(unaddressed, gap) {
				unaddressed = append(unaddressed, gap)
			}
		}
		due := v.Row(m) // what the rows of the synthesis show, nobody has to remember
		r.Sections, r.Survived, r.Unaddressed = due.Sections, due.Survived, unaddressed
		for _, limit := range due.Unaddressed {
			if !inquiries.Names(unaddressed, limit) {
				r.Unaddressed = append(r.Unaddressed, limit)
			}
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
