package inquiries

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// propose puts perspectives before the human: at least two together with those that the human
// named, and at least one that the human did not name.
func (s *step) propose(w protocol.InquiryProposals) error {
	if err := s.in(Propose); err != nil {
		return s.early("F12", err, Opened, BriefDraft, GateBrief, Gather)
	}
	names := slices.Clone(s.Base)
	for _, p := range w.Perspectives {
		if composite(p.Name) {
			return breach("F16", "%q is no single perspective", p.Name)
		}
		if has(s.Base, p.Name) {
			return breach("F17", "%q is a perspective of the inquiry already", p.Name)
		}
		names = append(names, p.Name)
	}
	if len(w.Perspectives) == 0 {
		s.Proposal, s.State = w, GateZero
		return nil
	}
	if len(names) < 2 {
		return breach("F20", "it leaves nothing to choose: there are to be two perspectives at least")
	}
	for _, p := range w.Perspectives {
		if !has(names, p.TensionWith) {
			return senseless("%q is in tension with %q, which is no perspective", p.Name, p.TensionWith)
		}
	}
	s.Proposal, s.State = w, GatePerspectives
	return nil
}

// composite reports whether a name stands for several perspectives: "All three", "1+2 only".
func composite(name string) bool {
	first, _, _ := strings.Cut(strings.ToLower(name), " ")
	return first == "all" || first == "both" || sum.MatchString(name)
}

var sum = pattern.New(`\s\+\s|[0-9]\s*\+\s*[0-9]`)

// has reports whether a list has a name, in any case.
func has(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// novel are the proposed perspectives that the human has not named.
func (v Inquiry) novel() []string {
	var names []string
	for _, p := range v.Proposal.Perspectives {
		if !has(v.Base, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// contribution is what a proposed perspective reveals.
func (v Inquiry) contribution(name string) string {
	for _, p := range v.Proposal.Perspectives {
		if p.Name == name {
			return p.Contribution
		}
	}
	return ""
}

func named(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	return names
}

// supplies returns an error if a text does not name new perspectives of the human's own.
func (v Inquiry) supplies(text string) error {
	names := named(text)
	if len(names) == 0 {
		return refusal.New(refusal.Senseless, "name one in each line", "it names no perspective")
	}
	for i, n := range names {
		if composite(n) || has(names[:i], n) || has(v.Base, n) || len(n) > 256 || strings.ContainsFunc(n, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }) {
			return senseless("%q is no perspective, or one that is there already", n)
		}
	}
	return nil
}

// choose takes the chosen perspectives. If the human supplies perspectives of their own, the gate
// is asked again (R55).
func (s *step) choose(w protocol.InquiryAnswer) {
	if own := named(w.Text); len(own) > 0 {
		s.Base = affair.Added(s.Base, own...)
		if len(s.novel()) == 0 {
			s.State = Propose // there is always a perspective that the human did not name
		}
		return
	}
	all := slices.Clone(s.Base)
	for _, name := range s.novel() { // in the order of the proposal
		if slices.Contains(chosen(w, protocol.GatePerspectives), name) {
			all = append(all, name)
		}
	}
	s.Chosen = all
	switch {
	case s.Mode == protocol.ModeRecommend:
		s.State = Established
	case len(all) < 2:
		s.State = GateUnderMinimum
	case s.Cycle > 1 && len(all) == len(s.Members): // nothing new was chosen
		s.State = Present
	default:
		s.State = Map
	}
}

func (s *step) establish(w protocol.InquiryEstablished) error {
	names := each.Of(w.Lenses, func(l protocol.InquiryLens) string { return l.Perspective })
	if !slices.Equal(names, s.Chosen) {
		return breach("F25", "its trace is not of the chosen perspectives")
	}
	s.Lens, s.State, s.End.At = w, Recommended, s.deed.Timestamp
	return nil
}
