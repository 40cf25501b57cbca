package inquiries

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// propose puts perspectives before the human: at least two together with those that the human
// named, and at least one that the human did not name.
func (v Inquiry) propose(w protocol.InquiryProposals) (Inquiry, error) {
	if err := v.in(Propose); err != nil {
		return v, v.early("F12", err, Opened, BriefDraft, GateBrief, Gather)
	}
	names := slices.Clone(v.Base)
	for _, p := range w.Perspectives {
		if composite(p.Name) {
			return v, breach("F16", "%q is no single perspective", p.Name)
		}
		if has(v.Base, p.Name) {
			return v, breach("F17", "%q is a perspective of the inquiry already", p.Name)
		}
		names = append(names, p.Name)
	}
	if len(w.Perspectives) == 0 {
		v.Proposal, v.State = w, GateZero
		return v, nil
	}
	if len(names) < 2 {
		return v, breach("F20", "it leaves nothing to choose: there are to be two perspectives at least")
	}
	for _, p := range w.Perspectives {
		if !has(names, p.TensionWith) {
			return v, senseless("%q is in tension with %q, which is no perspective", p.Name, p.TensionWith)
		}
	}
	v.Proposal, v.State = w, GatePerspectives
	return v, nil
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

// named are the perspectives in a text that has one on each line.
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
func (v Inquiry) choose(w protocol.InquiryAnswer) Inquiry {
	if own := named(w.Text); len(own) > 0 {
		v.Base = added(v.Base, own...)
		if len(v.novel()) == 0 {
			v.State = Propose // there is always a perspective that the human did not name
		}
		return v
	}
	all := slices.Clone(v.Base)
	for _, name := range v.novel() { // in the order of the proposal
		if slices.Contains(chosen(w, protocol.GatePerspectives), name) {
			all = append(all, name)
		}
	}
	v.Chosen = all
	switch {
	case v.Mode == protocol.ModeRecommend:
		v.State = Established
	case len(all) < 2:
		v.State = GateUnderMinimum
	case v.Cycle > 1 && len(all) == len(v.Members): // nothing new was chosen
		v.State = Present
	default:
		v.State = Map
	}
	return v
}

// establish ends an inquiry that recommends.
func (v Inquiry) establish(d affair.Deed, w protocol.InquiryEstablished) (Inquiry, error) {
	if err := v.in(Established); err != nil {
		return v, err
	}
	var names []string
	for _, l := range w.Lenses {
		names = append(names, l.Perspective)
	}
	if !slices.Equal(names, v.Chosen) {
		return v, breach("F25", "its trace is not of the chosen perspectives")
	}
	v.Lens, v.State, v.Ended = w, Recommended, d.Timestamp
	return v, nil
}
