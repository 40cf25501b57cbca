package inquiries

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

// The four sections of a synthesis.
const (
	SectionConvergence = "Convergence"
	SectionDivergence  = "Divergence"
	SectionIntegrated  = "Integrated Assessment"
	SectionBasis       = "Synthesis Basis"
)

// SynthesisSections are the headings of a synthesis, in order.
func SynthesisSections() []string {
	return []string{SectionConvergence, SectionDivergence, SectionIntegrated, SectionBasis}
}

// synthesize joins the results. Each claim of the assessment rests on words of a result, of a
// report or of the human. Otherwise it is marked as the coordinator's own joining of results.
func (s *step) synthesize(w protocol.InquirySynthesis) error {
	if err := s.in(Synthesize); err != nil {
		return s.early("F46", err, Preview, Detect)
	}
	sections, faults := Sections(w.Text, SynthesisSections()...)
	if len(faults) > 0 {
		return breach("F60", "the synthesis: %s", strings.Join(faults, "; "))
	}
	for _, b := range w.Basis {
		if err := s.based(sections[SectionIntegrated], b); err != nil {
			return err
		}
	}
	for _, claim := range Paragraphs(sections[SectionIntegrated]) {
		if !slices.ContainsFunc(w.Basis, func(b protocol.InquiryBasis) bool { return strings.Contains(claim, b.Claim) }) {
			return breach("F61", "%.80q has no basis", claim)
		}
	}
	for _, a := range w.Agreements {
		if err := s.agrees(sections[SectionConvergence], a); err != nil {
			return err
		}
	}
	s.Synthesis, s.State = w, Present
	s.Syntheses++
	return nil
}

// Paragraphs are the paragraphs of a text, and the points of its lists.
func Paragraphs(text string) []string {
	var list []string
	open := false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		point := strings.HasPrefix(bare, "- ") || strings.HasPrefix(bare, "* ")
		switch {
		case bare == "" || strings.HasPrefix(bare, "#"):
			open = false
		case point || !open:
			list, open = append(list, line), true
		default:
			list[len(list)-1] += "\n" + line
		}
	}
	return list
}

// based returns an error if a claim does not rest on what it names as its basis.
func (v Inquiry) based(assessment string, b protocol.InquiryBasis) error {
	if !quoted(assessment, b.Claim) {
		return breach("F61", "the claim %.80q does not stand in the assessment", b.Claim)
	}
	if len(v.Tensions) == 0 && (b.Kind == protocol.BasisAgreement || b.Kind == protocol.BasisDivergence) {
		return breach("F64", "there was no dialogue on which %.80q could rest", b.Claim)
	}
	for _, s := range b.Sources {
		m := v.Member(s.Perspective)
		if b.Kind != protocol.BasisInput && (m == nil || m.Result == "" || m.Dropped) {
			return breach("F59", "%q has no result on which %.80q could rest", s.Perspective, b.Claim)
		}
		stands := false
		switch b.Kind {
		case protocol.BasisResult:
			stands = quoted(m.Result, s.Words)
		case protocol.BasisAgreement, protocol.BasisDivergence:
			stands = slices.ContainsFunc(v.dialogueOf(s.Perspective, ""), func(text string) bool { return quoted(text, s.Words) })
		case protocol.BasisInput:
			stands = slices.ContainsFunc(v.Inputs, func(text string) bool { return quoted(text, s.Words) })
		case protocol.BasisFusion: // marked as the coordinator's own
			stands = s.Words == "" || quoted(m.Result, s.Words)
		}
		if !stands {
			return breach("F61", "%.80q does not stand where the claim %.80q says", s.Words, b.Claim)
		}
	}
	return nil
}

// Evidence are the texts on which a claim of that kind can rest, for that perspective.
func (v Inquiry) Evidence(kind, perspective string) []string {
	m := v.Member(perspective)
	switch {
	case kind == protocol.BasisInput:
		return v.Inputs
	case m == nil:
		return nil
	case kind == protocol.BasisAgreement || kind == protocol.BasisDivergence:
		return v.dialogueOf(perspective, kind)
	}
	return []string{m.Result}
}

// dialogueOf is what a perspective reported of its dialogues, and what it answered to follow-ups. For
// what was agreed, what is left open is no part of it, and the other way round.
func (v Inquiry) dialogueOf(perspective, kind string) []string {
	var texts []string
	for _, t := range v.Tensions {
		for _, r := range t.Reports {
			if r.Perspective == perspective {
				texts = append(texts, r.Position, r.Rationale)
				if kind != protocol.BasisDivergence {
					texts = append(texts, r.Agreement)
				}
				if kind != protocol.BasisAgreement {
					texts = append(texts, r.Divergence)
				}
			}
		}
		for _, a := range t.Answers {
			if a.Perspective == perspective {
				texts = append(texts, a.Text)
			}
		}
	}
	return texts
}

// agrees returns an error if perspectives do not agree on a point. An agreement is between results
// of different provenance: two results that differ. It is an independent convergence exactly if the
// perspectives did not talk.
func (v Inquiry) agrees(convergence string, a protocol.InquiryAgreement) error {
	if !quoted(convergence, a.Point) {
		return breach("F63", "%.80q does not stand in the section on convergence", a.Point)
	}
	provenance := map[string]bool{}
	for _, p := range a.Perspectives {
		m := v.Member(p)
		if m == nil || m.Result == "" || m.Dropped {
			return breach("F63", "%q has no result", p)
		}
		provenance[m.Signal.Result] = true
	}
	if len(provenance) < 2 {
		return breach("F63", "agreement on %.80q is between results of one provenance", a.Point)
	}
	talked := slices.ContainsFunc(v.Tensions, func(t *inquiry.Tension) bool {
		return slices.Contains(a.Perspectives, t.Peers[0]) && slices.Contains(a.Perspectives, t.Peers[1])
	})
	if talked == (a.Strength == protocol.IndependentConvergence) {
		return breach("F63", "agreement on %.80q is %q only without dialogue", a.Point, protocol.IndependentConvergence)
	}
	return nil
}

// trace shows what each perspective gave, before the human chooses what is preserved.
func (s *step) trace(w protocol.InquiryTrace) error {
	all := s.Standing()
	if len(w.Rows) != len(all) {
		return breach("F78", "it does not show each perspective once")
	}
	for i, r := range w.Rows {
		m := all[i]
		if r.Perspective != m.Perspective {
			return breach("F78", "it does not show %q", m.Perspective)
		}
		limits := SectionTexts(m.Result)
		for _, gap := range r.Unaddressed {
			if !quoted(limits[SectionLimits], gap) {
				return breach("F83", "%.80q is no limit of %q", gap, r.Perspective)
			}
		}
		for _, name := range r.Sections {
			if !slices.Contains([]string{SectionConvergence, SectionDivergence, SectionIntegrated}, name) {
				return senseless("%q is no section of the synthesis", name)
			}
		}
	}
	s.Trace, s.State = w, GatePreserve
	return nil
}

// team are the exact names of all members, each named once.
func (v Inquiry) team() []string {
	var names []string
	for _, m := range v.Members {
		if name := m.Agent.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (s *step) shutDown(w protocol.InquiryTeam) error {
	if !slices.Equal(w.Members, s.team()) {
		return senseless("the team is another one")
	}
	s.End.Told = true
	return nil
}

func (s *step) endTeam(w protocol.InquiryTeam) error {
	if !s.End.Told || s.End.Disbanded || !slices.Equal(w.Members, s.team()) {
		return breach("F80", "the team is another one, was not told to end, or has ended")
	}
	if s.End.Disbanded = true; !s.End.wraps {
		s.State, s.End.At = Withdrawn, s.deed.Timestamp
	}
	return nil
}

// SectionOf is the section of a synthesis from which findings of a category come.
func SectionOf(category string) string {
	return map[string]string{KeepConvergence: SectionConvergence, KeepDivergence: SectionDivergence, KeepAssessment: SectionIntegrated}[category]
}

// keep preserves what the human chose, and ends the inquiry.
func (s *step) keep(w protocol.InquiryFindings) error {
	if !s.End.Disbanded {
		return breach("F80", "findings come after the end of the team")
	}
	sections, _ := Sections(s.Synthesis.Text, SynthesisSections()...)
	var kept []string
	for _, f := range w.Findings {
		kept = append(kept, f.Category)
		if !slices.Contains(s.End.Preserve, f.Category) || !quoted(sections[SectionOf(f.Category)], f.Words) {
			return breach("F79", "the finding %.80q is not what the human preserved", f.Words)
		}
	}
	for _, category := range s.End.Preserve {
		if !slices.Contains(kept, category) {
			return breach("F79", "nothing is kept of %q, which the human preserved", category)
		}
	}
	if !slices.Equal(w.Gaps, s.Trace.Gaps) {
		return breach("F83", "its gaps are not those of the trace")
	}
	s.End.Findings, s.State, s.End.At = w, WrappedUp, s.deed.Timestamp
	return nil
}
