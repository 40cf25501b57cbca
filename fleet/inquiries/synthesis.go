package inquiries

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
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
func (v Inquiry) synthesize(w protocol.InquirySynthesis) (Inquiry, error) {
	if err := v.in(Synthesize); err != nil {
		return v, v.early("F46", err, Preview, Detect)
	}
	sections, faults := Sections(w.Text, SynthesisSections()...)
	if len(faults) > 0 {
		return v, breach("F60", "the synthesis: %s", strings.Join(faults, "; "))
	}
	for _, b := range w.Basis {
		if err := v.based(sections[SectionIntegrated], b); err != nil {
			return v, err
		}
	}
	for _, claim := range paragraphs(sections[SectionIntegrated]) {
		if !slices.ContainsFunc(w.Basis, func(b protocol.InquiryBasis) bool { return strings.Contains(claim, b.Claim) }) {
			return v, breach("F61", "%.80q has no basis", claim)
		}
	}
	for _, a := range w.Agreements {
		if err := v.agrees(sections[SectionConvergence], a); err != nil {
			return v, err
		}
	}
	v.Synthesis, v.State = w, Present
	v.Syntheses++
	return v, nil
}

// paragraphs are the paragraphs of a text, and the points of its lists.
func paragraphs(text string) []string {
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
			stands = slices.ContainsFunc(v.dialogueOf(s.Perspective), func(text string) bool { return quoted(text, s.Words) })
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
		return v.dialogueOf(perspective)
	}
	return []string{m.Result}
}

// dialogueOf is what a perspective reported of its dialogues, and what it answered to follow-ups.
func (v Inquiry) dialogueOf(perspective string) []string {
	var texts []string
	for _, t := range v.Tensions {
		for _, r := range t.Reports {
			if r.Perspective == perspective {
				texts = append(texts, r.Position, r.Agreement, r.Divergence, r.Rationale)
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
		return senseless("%.80q does not stand in the section on convergence", a.Point)
	}
	provenance := map[string]bool{}
	for _, p := range a.Perspectives {
		m := v.Member(p)
		if m == nil || m.Result == "" || m.Dropped {
			return senseless("%q has no result", p)
		}
		provenance[m.Signal.Result] = true
	}
	if len(provenance) < 2 {
		return senseless("agreement on %.80q is between results of one provenance", a.Point)
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
func (v Inquiry) trace(w protocol.InquiryTrace) (Inquiry, error) {
	if err := v.in(Trace); err != nil {
		return v, err
	}
	all := v.Standing()
	if len(w.Rows) != len(all) {
		return v, breach("F78", "it does not show each perspective once")
	}
	for i, r := range w.Rows {
		m := all[i]
		if r.Perspective != m.Perspective {
			return v, breach("F78", "it does not show %q", m.Perspective)
		}
		limits, _ := Sections(m.Result, ResultSections()...)
		for _, gap := range r.Unaddressed {
			if !quoted(limits[SectionLimits], gap) {
				return v, breach("F83", "%.80q is no limit of %q", gap, r.Perspective)
			}
		}
		for _, s := range r.Sections {
			if !slices.Contains([]string{SectionConvergence, SectionDivergence, SectionIntegrated}, s) {
				return v, senseless("%q is no section of the synthesis", s)
			}
		}
	}
	v.Trace, v.State = w, GatePreserve
	return v, nil
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

// shutDown tells the members to end.
func (v Inquiry) shutDown(w protocol.InquiryTeam) (Inquiry, error) {
	if err := v.in(Shutdown); err != nil {
		return v, err
	}
	if !slices.Equal(w.Members, v.team()) {
		return v, senseless("the team is another one")
	}
	v.Told = true
	return v, nil
}

// endTeam ends the team. A withdrawn inquiry ends with it.
func (v Inquiry) endTeam(d affair.Deed, w protocol.InquiryTeam) (Inquiry, error) {
	if err := v.in(Shutdown); err != nil {
		return v, err
	}
	if !v.Told || v.Disbanded || !slices.Equal(w.Members, v.team()) {
		return v, breach("F80", "the team is another one, was not told to end, or has ended")
	}
	if v.Disbanded = true; !v.wraps {
		v.State, v.Ended = Withdrawn, d.Timestamp
	}
	return v, nil
}

// SectionOf is the section of a synthesis from which findings of a category come.
func SectionOf(category string) string {
	return map[string]string{KeepConvergence: SectionConvergence, KeepDivergence: SectionDivergence, KeepAssessment: SectionIntegrated}[category]
}

// keep preserves what the human chose, and ends the inquiry.
func (v Inquiry) keep(d affair.Deed, w protocol.InquiryFindings) (Inquiry, error) {
	if err := v.in(Shutdown); err != nil {
		return v, err
	}
	if !v.Disbanded {
		return v, breach("F80", "findings come after the end of the team")
	}
	sections, _ := Sections(v.Synthesis.Text, SynthesisSections()...)
	var kept []string
	for _, f := range w.Findings {
		kept = append(kept, f.Category)
		if !slices.Contains(v.Preserve, f.Category) || !quoted(sections[SectionOf(f.Category)], f.Words) {
			return v, breach("F79", "the finding %.80q is not what the human preserved", f.Words)
		}
	}
	for _, category := range v.Preserve {
		if !slices.Contains(kept, category) {
			return v, breach("F79", "nothing is kept of %q, which the human preserved", category)
		}
	}
	if !slices.Equal(w.Gaps, v.Trace.Gaps) {
		return v, breach("F83", "its gaps are not those of the trace")
	}
	v.Findings, v.State, v.Ended = w, WrappedUp, d.Timestamp
	return v, nil
}
