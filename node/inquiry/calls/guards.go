package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

const (
	driftCycles = 3   // after so many cycles, members that frame things alike have drifted together
	earlyCycles = 2   // unanimity within so many cycles is early
	lessons     = 3   // so many inquiries have to show the same before something is proposed
	same        = 0.8 // from this likeness on, two texts say the same
	similar     = 0.4 // from this likeness on, two tensions are of one kind
)

// Guards are what the coordinator is told, and the human is shown, while an inquiry goes on (frame,
// "Adversarial Guards"): members that frame things alike after several cycles (F68), unanimity in
// the first two cycles (F69), and results with the same text. Nothing is done because of them.
func Guards(v inquiries.Inquiry) (notes []string) {
	for _, group := range groups(v, func(a, b *inquiries.Member) bool { return a.Result == b.Result }) {
		notes = append(notes, fmt.Sprintf("%s gave one and the same text: it counts as one source, and is no agreement.", strings.Join(group, " and ")))
	}
	if v.Cycle >= driftCycles {
		for _, group := range groups(v, func(a, b *inquiries.Member) bool { return alike(framing(a), framing(b)) >= same }) {
			notes = append(notes, fmt.Sprintf("%s give the same framing in cycle %d: their difference is lost, which is a finding and no efficiency.", strings.Join(group, " and "), v.Cycle))
		}
	}
	if v.Cycle <= earlyCycles && len(v.Standing()) > 1 && len(v.Detection.Triggers) == 0 && v.Detection.Text != "" {
		notes = append(notes, "All perspectives were unanimous early, in cycle "+fmt.Sprint(v.Cycle)+": name the assumption that they share unexamined, and where it goes on propose a dissenting perspective.")
	}
	return notes
}

func guards(v inquiries.Inquiry) (text string) {
	for _, g := range Guards(v) {
		text += "\nNote: " + g + "\n"
	}
	return text
}

func framing(m *inquiries.Member) string {
	sections := inquiries.SectionTexts(m.Result)
	return sections[inquiries.SectionContribution]
}

// groups are the perspectives with results of which several are alike, in their order.
func groups(v inquiries.Inquiry, like func(a, b *inquiries.Member) bool) (all [][]string) {
	var taken []string
	for i, a := range v.Standing() {
		if a.Result == "" || slices.Contains(taken, a.Perspective) {
			continue
		}
		group := []string{a.Perspective}
		for _, b := range v.Standing()[i+1:] {
			if b.Result != "" && !slices.Contains(taken, b.Perspective) && like(a, b) {
				group = append(group, b.Perspective)
			}
		}
		if taken = append(taken, group...); len(group) > 1 {
			all = append(all, group)
		}
	}
	return all
}

// Notes are what a human is shown besides an inquiry: its guards, an agreement that nobody would
// have expected and that is not explained (F65), and what is proposed after several inquiries (F70,
// F85). `earlier` has the newest one first.
func Notes(v inquiries.Inquiry, earlier []inquiries.Inquiry) []string {
	notes := Guards(v)
	sections, _ := inquiries.Sections(v.Synthesis.Text, inquiries.SynthesisSections()...)
	for _, pair := range opposed(v) {
		agree := slices.ContainsFunc(v.Synthesis.Agreements, func(a protocol.InquiryAgreement) bool {
			return slices.Contains(a.Perspectives, pair[0]) && slices.Contains(a.Perspectives, pair[1])
		})
		if agree && !strings.Contains(strings.ToLower(sections[inquiries.SectionConvergence]), "unexpected") {
			notes = append(notes, fmt.Sprintf("%s and %s agree, though they were proposed as being in tension, and the synthesis does not say why.", pair[0], pair[1]))
		}
	}
	all := append([]inquiries.Inquiry{v}, earlier...)
	return append(append(notes, needless(all)...), revised(all)...)
}

// opposed are the chosen perspectives that were proposed as being in tension with each other.
func opposed(v inquiries.Inquiry) (pairs [][2]string) {
	for _, p := range v.Proposal.Perspectives {
		one, other := named(v, p.Name), named(v, p.TensionWith)
		if slices.Contains(v.Chosen, one) && slices.Contains(v.Chosen, other) && !slices.Contains(pairs, [2]string{other, one}) {
			pairs = append(pairs, [2]string{one, other})
		}
	}
	return pairs
}

// needless are gates without which a human may do (F70): those that were answered in the same way,
// as proposed, in each of the newest inquiries. They stay until the human says otherwise.
func needless(all []inquiries.Inquiry) (notes []string) {
	confirmed, agent := 0, ""
	for _, v := range all {
		g := answered(v, protocol.GateBrief)
		if g == nil {
			continue
		}
		if v.Briefs > 1 || !chose(g, inquiries.AskBrief, inquiries.Confirm) || !chose(g, inquiries.AskMode, v.Brief.Mode) {
			break
		}
		confirmed++
	}
	if confirmed >= lessons {
		notes = append(notes, fmt.Sprintf("The brief was confirmed as it was drafted in the last %d inquiries: --accept-brief leaves out its gate, if you want that.", confirmed))
	}
	chosen := 0
	for _, v := range all {
		g := answered(v, protocol.GateMap)
		if g == nil {
			continue
		}
		for _, c := range g.Verdict().Words.Chosen {
			if len(c.Options) != 1 || agent != "" && c.Options[0] != agent {
				return notes
			}
			agent = c.Options[0]
		}
		if chosen++; chosen == lessons {
			return append(notes, fmt.Sprintf("You chose %s whenever several agents fitted, in %d inquiries: --agent %s leaves out that gate, if you want that.", agent, chosen, agent))
		}
	}
	return notes
}

// answered is the last gate of a kind that a human has answered; nil if there is none.
func answered(v inquiries.Inquiry, gate string) *inquiries.Gate {
	for _, g := range slices.Backward(v.Gates) {
		if g.Gate == gate && g.Verdict() != nil {
			return g
		}
	}
	return nil
}

func chose(g *inquiries.Gate, question, option string) bool {
	return slices.ContainsFunc(g.Verdict().Words.Chosen, func(c protocol.InquiryChoice) bool {
		return c.Question == question && slices.Equal(c.Options, []string{option})
	})
}

// revised is what is proposed about the kinds of tension (F85). A tension that fits no kind and
// came up in three inquiries should get a name. A kind should be demoted that was found in three
// inquiries in which the two already agreed, on the same evidence.
func revised(all []inquiries.Inquiry) (notes []string) {
	var emergent [][]string     // topics and reasons, by inquiry
	wrongly := map[string]int{} // in how many inquiries a kind was found although there was no tension
	for _, v := range all {
		var mine []string
		wrong := map[string]bool{}
		for _, t := range v.Tensions {
			for _, trigger := range t.Triggers {
				if trigger.Kind == protocol.TriggerEmergent {
					mine = append(mine, trigger.Topic+" "+trigger.Why)
				} else if settled(v, t) {
					wrong[trigger.Kind] = true
				}
			}
		}
		if mine != nil {
			emergent = append(emergent, mine)
		}
		for kind := range wrong {
			wrongly[kind]++
		}
	}
	if text, n := recurring(emergent); n >= lessons {
		notes = append(notes, fmt.Sprintf("A tension that fits no named kind came up in %d inquiries: %q. Consider a named kind for it.", n, cutLine(text)))
	}
	for _, kind := range []string{protocol.TriggerContradiction, protocol.TriggerHorizon, protocol.TriggerStakes} {
		if wrongly[kind] >= lessons {
			notes = append(notes, fmt.Sprintf("Tensions of the kind %s were none in %d inquiries: the two agreed on the same evidence. Consider to demote the kind.", kind, wrongly[kind]))
		}
	}
	return notes
}

// settled reports whether a tension was none: the two agreed, with shared evidence and conclusion,
// and neither reports that anything divides them.
func settled(v inquiries.Inquiry, t *inquiry.Tension) bool {
	return slices.ContainsFunc(v.Outcomes, func(o protocol.InquiryOutcome) bool {
		return o.Tension == t.ID && o.Resolution == "agreed" && o.Strength == "strong"
	})
}

// recurring is the text that has similar ones in the most inquiries, and the number of these.
func recurring(byInquiry [][]string) (text string, n int) {
	for _, texts := range byInquiry {
		for _, one := range texts {
			count := 0
			for _, others := range byInquiry {
				if slices.ContainsFunc(others, func(o string) bool { return alike(one, o) >= similar }) {
					count++
				}
			}
			if count > n {
				text, n = one, count
			}
		}
	}
	return text, n
}

// contentWord is a word that usually carries meaning.
var contentWord = pattern.New(`[\p{L}\p{N}]{4,}`)

// alike is the share of words that two texts have in common, 0 to 1. Short words are left out.
// Texts with only short words are alike if they are the same.
func alike(a, b string) float64 {
	one, other := wordsOf(a), wordsOf(b)
	if len(one) == 0 || len(other) == 0 {
		if a != "" && folded(strings.ToLower(a)) == folded(strings.ToLower(b)) {
			return 1
		}
		return 0
	}
	both := 0
	for w := range one {
		if other[w] {
			both++
		}
	}
	return float64(both) / float64(len(one)+len(other)-both)
}

func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range contentWord.Regexp().FindAllString(strings.ToLower(text), -1) {
		set[w] = true
	}
	return set
}
