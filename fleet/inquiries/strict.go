package inquiries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// A host of an older version counts some deeds that break a line, and all hosts have to find the
// same value. So these deeds are not void. No command writes them, and who verifies an inquiry finds
// them.

// flaw is a line that a deed breaks although it counts, and how.
type flaw struct{ line, why string }

// strict finds the flaws of a deed that is about to be taken into an inquiry.
func (v Inquiry) strict(m *protocol.Message) []flaw {
	s := stricter{v: v, m: m}
	s.form()
	s.addressed()
	s.words()
	return s.flaws
}

type stricter struct {
	v     Inquiry
	m     *protocol.Message
	flaws []flaw
}

func (s *stricter) say(line, format string, args ...any) {
	s.flaws = append(s.flaws, flaw{line, fmt.Sprintf(format, args...)})
}

// saysMore are the lines that are broken if an act of the inquiry's own program says more than its
// words.
var saysMore = map[protocol.Act][]string{
	protocol.ActFrameStart: {"F13", "F30"}, protocol.ActFrameTask: {"F29", "F13"}, protocol.ActFrameGate: {"F67"}, protocol.ActFrameMap: {"F27"},
	protocol.ActFrameSignal: {"F42"}, protocol.ActFramePreview: {"F44"}, protocol.ActFrameTopic: {"F49"}, protocol.ActFrameExchange: {"F54"},
	protocol.ActFrameReport: {"F55"}, protocol.ActFrameFollowUp: {"F56"}, protocol.ActFrameOutcomes: {"F58"}, protocol.ActFrameTrace: {"F78"},
	protocol.ActFrameShutdown: {"F80"}, protocol.ActFrameTeamEnd: {"F80"}, protocol.ActFrameFindings: {"F79"}, protocol.ActFrameEstablished: {"F25"},
	protocol.ActFrameReveal: {"F42"},
}

// withText are those of them that have a text.
var withText = []protocol.Act{protocol.ActFrameTopic, protocol.ActFrameExchange, protocol.ActFrameFollowUp, protocol.ActFrameReveal, protocol.ActFrameSignal}

// form looks at what could be said behind the words: in fields that nobody reads, in the text of an
// act that has none, in the first line, and behind the block.
func (s *stricter) form() {
	lines := saysMore[s.m.Act]
	if lines == nil {
		return
	}
	w, plain := protocol.InquiryForm(s.m.Act, s.m.Body)
	switch author := s.m.Author().Name; {
	case !plain || len(s.m.Extra) > 0:
		s.all(lines, "it says more than its form has")
	case w.Text != "" && !slices.Contains(withText, s.m.Act):
		s.all(lines, "it has a text, and its form has none")
	case w.With != "" || w.Topic != "" || w.Mark != "" || w.From != author:
		s.all(lines, "its first line says more than who wrote it, and when")
	}
}

func (s *stricter) all(lines []string, why string) {
	for _, l := range lines {
		s.say(l, "%s", why)
	}
}

// addressed looks at who is told: the humans see what they decide on, and peers are told alike.
func (s *stricter) addressed() {
	only := func(line string, want ...protocol.Address) {
		for _, a := range append(slices.Clone(want), s.m.To...) {
			if !slices.Contains(want, a) || !slices.Contains(s.m.To, a) {
				s.say(line, "it is not told to %s alone", names(want))
				return
			}
		}
	}
	tension := func(id string) []protocol.Address {
		if t := s.v.tension(id); t != nil {
			return s.v.pair(t, "")
		}
		return nil
	}
	line, toHumans := map[protocol.Act]string{
		protocol.ActFrameBrief: "F4", protocol.ActFrameGate: "F4", protocol.ActFrameProposals: "F14", protocol.ActFramePreview: "F44",
		protocol.ActFrameOutcomes: "F58", protocol.ActFrameSynthesis: "F66", protocol.ActFrameTrace: "F78",
	}[s.m.Act]
	for _, d := range s.v.Deciders {
		if toHumans && !slices.Contains(s.m.To, d.Address()) {
			s.say(line, "it is not shown to %s, who decides", d.Human)
		}
	}
	switch s.m.Act {
	case protocol.ActFrameStart:
		if w, err := protocol.StartMember.Parse(s.m.Body); err == nil {
			if a, err := protocol.ParseAddress(w.Member); err == nil {
				only("F28", a)
			}
		}
	case protocol.ActFrameTopic:
		if w, err := protocol.SignalTopic.Parse(s.m.Body); err == nil {
			only("F51", tension(w.Tension)...)
		}
	case protocol.ActFrameFollowUp:
		if w, err := protocol.FollowUp.Parse(s.m.Body); err == nil && s.v.Member(w.Perspective) != nil {
			only("F56", s.v.Member(w.Perspective).Agent)
		}
	}
}

func names(all []protocol.Address) string {
	var list []string
	for _, a := range all {
		list = append(list, a.Shown())
	}
	return strings.Join(list, " and ")
}

// words looks at what is said.
func (s *stricter) words() {
	switch s.m.Act {
	case protocol.ActFrameProposals:
		strictly(s, protocol.ProposePerspectives, s.proposals)
	case protocol.ActFrameEstablished:
		strictly(s, protocol.EstablishLens, func(w protocol.InquiryEstablished) {
			for _, l := range w.Lenses {
				s.filled("F25", "the word on "+l.Perspective, l.About)
			}
		})
	case protocol.ActFrameGate:
		strictly(s, protocol.AskInquiry, s.gate)
	case protocol.ActFrameStart:
		strictly(s, protocol.StartMember, func(w protocol.InquiryStart) {
			if w.Degraded != "" {
				s.say("F13", "it says something of the member besides its prompt")
			}
		})
	case protocol.ActFrameSignal:
		strictly(s, protocol.SignalEnd, func(w protocol.InquirySignal) {
			if w.Degraded != "" && w.Degraded != NoSession {
				s.say("F42", "it says more of the run than how it ended")
			}
		})
	case protocol.ActFramePreview:
		strictly(s, protocol.PreviewResults, func(w protocol.InquiryPreview) {
			for _, g := range w.Results {
				s.filled("F44", "the preview of "+g.Perspective, g.Title, g.Summary, g.Limits)
			}
		})
	case protocol.ActFrameDetection:
		strictly(s, protocol.DetectTensions, s.detection)
	case protocol.ActFrameReport:
		strictly(s, protocol.ReportDialogue, func(w protocol.InquiryReport) {
			s.filled("F55", "the report of "+w.Perspective, w.Position, w.Agreement, w.Rationale)
			if w.Divergence != "" {
				s.filled("F55", "the report of "+w.Perspective, w.Divergence)
			}
		})
	case protocol.ActFrameOutcomes:
		strictly(s, protocol.ShowOutcomes, s.outcomes)
	case protocol.ActFrameSynthesis:
		strictly(s, protocol.Synthesize, s.synthesis)
	case protocol.ActFrameTrace:
		strictly(s, protocol.ShowTrace, s.trace)
	case protocol.ActFrameFindings:
		strictly(s, protocol.KeepFindings, s.findings)
	}
}

func strictly[W any](s *stricter, act protocol.WordAct[W], look func(W)) {
	if w, err := act.Parse(s.m.Body); err == nil {
		look(w)
	}
}

// NoSession is what a signal says of a member that is told again what it found (R52). A signal says
// nothing else: what its member found is not told yet.
const NoSession = "its program keeps no sessions, so for the dialogue it is given its earlier result again"

// SaysNothing reports whether a text only holds a place.
func SaysNothing(text string) bool { return placeholder(text) || holdsPlace(text) }

// filled looks for texts that only hold a place.
func (s *stricter) filled(line, what string, texts ...string) {
	for _, text := range texts {
		if SaysNothing(text) {
			s.say(line, "%s says nothing: %.80q", what, text)
		}
	}
}

func (s *stricter) proposals(w protocol.InquiryProposals) {
	var all []string
	for _, p := range w.Perspectives {
		all = append(all, p.Name)
	}
	for _, p := range w.Perspectives {
		if several(p.Name, append(slices.Clone(s.v.Base), all...)) {
			s.say("F16", "%q is no single perspective", p.Name)
		}
	}
	if len(w.Perspectives) == 0 {
		s.filled("F24", "the reason why there is none", w.Text)
	}
}

// many are names that stand for several perspectives.
var many = pattern.New(`(?i)^(all|both|every(thing|one)?|each|any|combin(ed|ation|ing)|hybrid|mixed|mixture|the (first|last|other|rest|two|three)|(first|last) (two|three))\b|\s[+&/|]\s|[0-9]\s*(\+|,|and|&)\s*[0-9]|\b(combined|together|as well as|hybrid|and all)\b`)

// several reports whether a name joins perspectives, rather than being one. Law and economics is
// one, unless one of its halves is another of the perspectives.
func several(name string, all []string) bool {
	if many.MatchString(name) || composite(name) {
		return true
	}
	for _, sep := range []string{" and ", ", ", " with ", " plus ", " und ", " et ", " y "} {
		for part := range strings.SplitSeq(strings.ToLower(name), sep) {
			part = strings.TrimSpace(part)
			if !strings.EqualFold(part, name) && has(all, part) {
				return true
			}
		}
	}
	return false
}

// gate looks at what is said about options, and at what only the gate on the brief may say.
func (s *stricter) gate(w protocol.InquiryGate) {
	if w.Gate != protocol.GateBrief && (w.In != "" || w.Snapshot != "" || len(w.Receivers) > 0) {
		s.say("F67", "it carries context")
	}
	due := s.v.Questions(w.Gate)
	for i, q := range w.Questions {
		for j, o := range q.Options {
			want := ""
			if i < len(due) && j < len(due[i].Options) {
				want = due[i].Options[j].About
			}
			if w.Gate == protocol.GateBrief && o.Key == s.v.Brief.Mode && q.ID == AskMode && strings.HasPrefix(AboutMode+oneLine(s.v.Brief.Why), strings.TrimSuffix(o.About, "…")) {
				want = o.About
			}
			if o.About != want && w.Gate != protocol.GateRoute && w.Gate != protocol.GatePerspectives {
				s.say("F67", "it says something about %q", o.Key)
			}
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// AboutMode begins what the gate on the brief says about the recommended mode.
const AboutMode = "Recommended: "

// kindWords are words from which peers would learn which kind of tension was found (F49).
var kindWords = []string{"contradict", "horizon", "high-stakes", "high stakes", "uncorroborated", "emergent"}

// Leaks is the word of a topic that reveals the kind of a tension; "" for none. A word of the
// question reveals nothing.
func (v Inquiry) Leaks(topic string) string {
	for _, w := range kindWords {
		if strings.Contains(strings.ToLower(topic), w) && !strings.Contains(strings.ToLower(v.Opening.Text), w) {
			return w
		}
	}
	return ""
}

func (s *stricter) detection(w protocol.InquiryDetection) {
	for _, t := range w.Triggers {
		if kind := s.v.Leaks(t.Topic); kind != "" {
			s.say("F49", "the topic %.80q says %q: the two are told the topic, and are not to know what kind of tension was found", t.Topic, kind)
		}
		s.filled("F47", "the topic", t.Topic)
		if t.Kind == protocol.TriggerStakes || t.Kind == protocol.TriggerEmergent {
			s.filled("F47", "the reason", t.Why)
		}
		for i, q := range t.Quotes {
			m := s.v.Member(q.Perspective)
			if m == nil {
				continue
			}
			sections, _ := Sections(m.Result, ResultSections()...)
			if !clause(sections[q.Section], q.Words) {
				s.say("F47", "the quote %.80q of %q says nothing by itself", q.Words, q.Perspective)
			}
			if slices.Contains(t.Quotes[:i], q) {
				s.say("F47", "%.80q is quoted twice", q.Words)
			}
		}
	}
	if len(w.Triggers) == 0 && letters(w.Text) < 50 {
		s.say("F48", "it does not say why there is none")
	}
}

func (s *stricter) outcomes(w protocol.InquiryOutcomes) {
	for _, o := range w.Outcomes {
		s.filled("F58", "the basis of "+o.Tension, o.Basis)
		switch t := s.v.tension(o.Tension); {
		case o.Resolution == "persistent" && o.Strength != "weak", o.Resolution == "partial" && o.Strength == "strong", o.Resolution == "agreed" && o.Strength == "weak":
			s.say("F58", "the agreement of tension %s is %s, and its strength is %s", o.Tension, o.Resolution, o.Strength)
		case o.Resolution == "persistent" && t != nil && len(t.Divergent()) == 0:
			s.say("F58", "nobody of tension %s reports that something divides them", o.Tension)
		}
	}
}

// titleOfSynthesis may stand before the sections of a synthesis.
const titleOfSynthesis = "Framed Analysis"

// synthesis looks whether all that is said joins what others said (F59 to F62): each sentence rests
// on a quote, or is marked as the coordinator's own joining.
func (s *stricter) synthesis(w protocol.InquirySynthesis) {
	for _, f := range strays(w.Text, titleOfSynthesis, SynthesisSections()...) {
		s.say("F60", "the synthesis: %s", f)
	}
	sections, _ := Sections(w.Text, SynthesisSections()...)
	for _, one := range s.v.Unbased(w) {
		s.say("F61", "%.80q has no basis", one)
		s.say("F62", "%.80q is not marked as the coordinator's own", one)
	}
	for _, b := range slices.Concat(w.Basis, w.Others) {
		s.based(b)
	}
	for _, b := range w.Others {
		if err := s.v.based(sections[SectionConvergence]+"\n"+sections[SectionDivergence], b); err != nil {
			s.say("F61", "%s", err)
		}
	}
	for _, one := range Sentences(sections[SectionBasis]) {
		if !s.v.namesSource(one, w) {
			s.say("F61", "%.80q of the section %s names no source", one, SectionBasis)
		}
	}
}

// based looks whether the sources of a claim say something.
func (s *stricter) based(b protocol.InquiryBasis) {
	for _, src := range b.Sources {
		if src.Words == "" {
			continue
		}
		texts := s.v.Evidence(b.Kind, src.Perspective)
		if !slices.ContainsFunc(texts, func(text string) bool { return clause(text, src.Words) }) {
			s.say("F61", "the quote %.80q says nothing by itself", src.Words)
		}
	}
	if b.Kind != protocol.BasisFusion && !slices.ContainsFunc(b.Sources, func(src protocol.InquirySource) bool { return src.Words != "" }) {
		s.say("F61", "%.80q quotes nothing", b.Claim)
	}
}

// Unbased are the sentences, points and headings of a synthesis that no row of its basis covers.
func (v Inquiry) Unbased(w protocol.InquirySynthesis) (all []string) {
	sections, _ := Sections(w.Text, SynthesisSections()...)
	for _, h := range []string{SectionConvergence, SectionDivergence, SectionIntegrated} {
		claims := w.Others
		if h == SectionIntegrated {
			claims = w.Basis
		}
		for _, one := range Sentences(sections[h]) {
			if !slices.ContainsFunc(claims, func(b protocol.InquiryBasis) bool { return covers(b.Claim, one) }) && !saysNone(one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// covers reports whether a claim is a sentence, or most of it.
func covers(claim, sentence string) bool {
	claim, sentence = bare(claim), bare(sentence)
	return strings.Contains(claim, sentence) || strings.Contains(sentence, claim) && letters(claim)*5 >= letters(sentence)*3
}

// saysNone reports whether a sentence only says that there is nothing to say.
func saysNone(sentence string) bool {
	return slices.Contains([]string{"none", "nothing", "n/a"}, strings.ToLower(bare(sentence)))
}

// namesSource reports whether a line of the section on the basis names what a claim rests on.
func (v Inquiry) namesSource(line string, w protocol.InquirySynthesis) bool {
	lower := strings.ToLower(line)
	known := slices.Concat(v.Chosen, []string{"human", "user_input", "coordinator", "dialogue", "claim"})
	return slices.ContainsFunc(known, func(s string) bool { return strings.Contains(lower, strings.ToLower(s)) }) ||
		slices.ContainsFunc(slices.Concat(w.Basis, w.Others), func(b protocol.InquiryBasis) bool { return covers(b.Claim, line) })
}

// trace looks whether the trace says of each perspective what the synthesis shows of it.
func (s *stricter) trace(w protocol.InquiryTrace) {
	for _, r := range w.Rows {
		m := s.v.Member(r.Perspective)
		if m == nil {
			continue
		}
		due := s.v.Row(m)
		for _, h := range due.Sections {
			if !slices.Contains(r.Sections, h) {
				s.say("F78", "the synthesis quotes %q in %s, and the trace does not say so", r.Perspective, h)
			}
		}
		if due.Survived && !r.Survived {
			s.say("F78", "what %q alone found is in the synthesis, and the trace does not say so", r.Perspective)
		}
		sections, _ := Sections(m.Result, ResultSections()...)
		for _, gap := range r.Unaddressed {
			if !clause(sections[SectionLimits], gap) {
				s.say("F83", "the gap %.80q says nothing by itself", gap)
			}
		}
		if len(r.Unaddressed) == 0 && len(due.Unaddressed) > 0 {
			s.say("F83", "nothing addresses the limits of %q, and the trace has none", r.Perspective)
		}
	}
}

// Row is what the record itself shows of what a perspective gave: the sections that quote it,
// whether a claim rests on it alone, and its limits, if nothing of the inquiry speaks of them.
func (v Inquiry) Row(m *Member) protocol.InquiryTraceRow {
	row := protocol.InquiryTraceRow{Perspective: m.Perspective}
	texts, _ := Sections(v.Synthesis.Text, SynthesisSections()...)
	add := func(h string) {
		if !slices.Contains(row.Sections, h) {
			row.Sections = append(row.Sections, h)
		}
	}
	cites := func(b protocol.InquiryBasis) bool {
		return slices.ContainsFunc(b.Sources, func(src protocol.InquirySource) bool { return src.Perspective == m.Perspective })
	}
	limits := SectionTexts(m.Result)[SectionLimits]
	addressed := func(words string) bool { return words != "" && strings.Contains(limits, words) }
	spoken := false
	for i, b := range slices.Concat(v.Synthesis.Others, v.Synthesis.Basis) {
		if !cites(b) {
			continue
		}
		switch {
		case i >= len(v.Synthesis.Others):
			add(SectionIntegrated)
			row.Survived = row.Survived || b.Kind == protocol.BasisResult && len(b.Sources) == 1
		case b.Kind == protocol.BasisFusion:
		case strings.Contains(texts[SectionConvergence], b.Claim):
			add(SectionConvergence)
		default:
			add(SectionDivergence)
		}
		for _, src := range b.Sources {
			spoken = spoken || src.Perspective == m.Perspective && addressed(src.Words)
		}
	}
	for _, a := range v.Synthesis.Agreements {
		if slices.Contains(a.Perspectives, m.Perspective) {
			add(SectionConvergence)
		}
	}
	for _, t := range v.Tensions {
		for _, trigger := range t.Triggers {
			spoken = spoken || slices.ContainsFunc(trigger.Quotes, func(q protocol.InquiryQuote) bool {
				return q.Perspective == m.Perspective && q.Section == SectionLimits
			})
		}
	}
	if !spoken && !placeholder(limits) {
		row.Unaddressed = slices.DeleteFunc(Sentences(limits), func(s string) bool { return !clause(limits, s) })
	}
	return row
}

// SectionTexts are the sections of a result.
func SectionTexts(result string) map[string]string {
	sections, _ := Sections(result, ResultSections()...)
	return sections
}

// findings looks whether all of what the human preserved is kept.
func (s *stricter) findings(w protocol.InquiryFindings) {
	sections, _ := Sections(s.v.Synthesis.Text, SynthesisSections()...)
	for _, f := range w.Findings {
		if strings.TrimSpace(f.Words) != sections[SectionOf(f.Category)] {
			s.say("F79", "it keeps a part of %q, and the human preserved it whole", f.Category)
		}
	}
}
