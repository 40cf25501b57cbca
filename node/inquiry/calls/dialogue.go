package calls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// dialogues are what the peers reported and answered, in the form of the coordinator's prompts.
func dialogues(v inquiries.Inquiry) string {
	type part struct{ before, said string }
	var parts []part
	var texts []string
	add := func(before, said string) { parts, texts = append(parts, part{before, said}), append(texts, said) }
	for _, t := range v.Tensions {
		head := fmt.Sprintf("\nDialogue %s, %q with %q, about: %q\n", t.ID, t.Peers[0], t.Peers[1], topics(t))
		for _, r := range t.Reports {
			add(fmt.Sprintf("%s%q reports:\n", head, r.Perspective), fmt.Sprintf("Final position: %s\nAgreement points: %s\nRemaining divergence: %s\nRationale: %s", r.Position, r.Agreement, cmp.Or(r.Divergence, "none"), r.Rationale))
			head = ""
		}
		for _, s := range t.Answers {
			add(fmt.Sprintf("%q, asked once more:\n> Question: %s\n", s.Perspective, line(t.Question(s.Perspective))), s.Text)
		}
	}
	text := ""
	for i, said := range within(maxDialogues, texts...) {
		text += parts[i].before + quote(said)
	}
	return text
}

func topics(t *inquiry.Tension) string {
	all := each.Of(t.Triggers, func(trigger protocol.InquiryTrigger) string { return trigger.Topic })
	return strings.Join(all, "; ")
}

// tensionOf is the tension with that id; nil if there is none.
func tensionOf(v inquiries.Inquiry, id string) *inquiry.Tension {
	for _, t := range v.Tensions {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// peerWords is what a peer is given in a dialogue. It never learns which kind of tension was found.
// Of the other peer's result, it learns only what that peer itself says.
func peerWords(v inquiries.Inquiry, c inquiries.Call, s Surroundings) string {
	t, m := tensionOf(v, c.Tension), v.Member(c.Perspective)
	if t == nil || m == nil {
		return ""
	}
	other := t.Peers[0]
	if other == c.Perspective {
		other = t.Peers[1]
	}
	text := ""
	if s.Alone {
		text = "You investigated a question before. This is what you were given:\n" + quote(v.Prompt(m.Perspective, m.Orientation)) + "\nThis is what you answered:\n" + quote(within(maxDialogues, m.Result)[0]) + "\n"
	}
	peer := v.Member(other)
	text += fmt.Sprintf("You are now connected with %s, who looks at the question from the perspective %q. You are %s, with the perspective %q.\n\n%s\n\n%s\n", peer.Agent, other, m.Agent, m.Perspective, inquiries.TopicText(t), material)
	texts := each.Of(t.Messages, func(said inquiry.Said) string { return said.Text })
	for i, said := range within(maxDialogues, texts...) {
		who := "You said"
		if t.Messages[i].Perspective != c.Perspective {
			who = fmt.Sprintf("%s said", peer.Agent)
		}
		text += "\n" + who + ":\n" + quote(said)
	}
	switch c.Do {
	case protocol.ActFrameExchange:
		return text + fmt.Sprintf("\nThis is message %d of at most 3 between you two. Write this one message, in prose; you report later, when you are asked to. State your position and engage with the other's reasoning. Where there is nothing left to say, end with a line that is just DONE.\n", c.Number)
	case protocol.ActFrameReport:
		form := ""
		for _, h := range protocol.ReportForm() {
			form += "## " + h + "\n"
		}
		return text + "\nThe exchange is over. Report in four sections, each under its heading:\n" + form + "Final position: your stance now. Agreement points: what you both agree on. Remaining divergence: what is unresolved; write \"none\" where nothing is. Rationale: why you hold your position.\n"
	}
	for _, r := range t.Reports {
		if r.Perspective == c.Perspective {
			text += "\nYou reported:\n" + quote("Final position: "+r.Position+"\nRemaining divergence: "+r.Divergence)
		}
	}
	return text + "\nOne question more:\n" + quote(t.Question(c.Perspective)) + "\nAnswer it with evidence or with what follows from it.\n"
}

// unsaid stands in a report for what was asked for and not found in the answer.
const unsaid = "(Not told in a section of its own: see the final position.)"

// readReport reads a report in any form in which its sections can be found. If a peer that was asked
// once more still leaves sections out, its whole answer is its position: a dialogue does not stall.
func readReport(a inquiries.Actor, inquiry protocol.ChannelID, c inquiries.Call, s Surroundings, answer string) (affair.Command, error) {
	headings := protocol.ReportForm()
	text := underlined(Bare(answer))
	if f, stands := taken(text, headings); !stands {
		text = f.text(headings)
	}
	sections, faults := inquiries.Sections(text, headings...)
	faults = slices.DeleteFunc(faults, func(f string) bool { // there are many ways to say that there is none
		h, what, _ := strings.Cut(strings.TrimPrefix(f, `"`), `" `)
		return what == "says nothing" && (inquiries.IsNone(sections[h]) || h == headings[2] && sections[h] == "")
	})
	if len(faults) > 0 && (s.Refused == "" || Bare(answer) == "") {
		return affair.Command{}, fmt.Errorf("the report: %s", strings.Join(faults, "; "))
	}
	for i, h := range headings {
		none := i%3 > 0 && inquiries.IsNone(sections[h])
		switch missing := !none && (i != 2 || sections[h] != "") && inquiries.SaysNothing(sections[h]) || slices.Contains(faults, fmt.Sprintf("%q is missing", h)); {
		case missing && i == 0:
			sections[h] = Bare(answer)
		case missing:
			sections[h] = unsaid
		case none && i == 2:
			sections[h] = ""
		case none:
			sections[h] = "None."
		}
	}
	return a.Report(inquiry, c.Tension, protocol.InquiryReport{
		Perspective: c.Perspective, Position: sections[headings[0]], Agreement: sections[headings[1]], Divergence: sections[headings[2]], Rationale: sections[headings[3]],
	}), nil
}

func followUpWords(v inquiries.Inquiry, c inquiries.Call) string {
	t := tensionOf(v, c.Tension)
	if t == nil {
		return ""
	}
	return lead("ask one peer one targeted question on what still divides it from the other one, such as what its position concretely means for a thing that the other one names. Ask for evidence. Do not take sides.", v) +
		dialogues(inquiries.Inquiry{Tensions: []*inquiry.Tension{t}}) + fmt.Sprintf("\nThe peer that you ask: %q. Answer with the question alone, in at most three sentences.\n", c.Perspective)
}

func outcomeWords(v inquiries.Inquiry) string {
	return lead("say what came of each dialogue.", v) + dialogues(v.ThisCycle()) + `
- resolution: "agreed" (only where no peer reports divergence), "partial" or "persistent"
- strength of the agreement: "strong" (shared evidence and conclusion; only where they agreed), "moderate" (shared conclusion, other evidence) or "weak" (part of it; wherever it is persistent)
- basis: in one line, from the reports
` + fmt.Sprintf(inJSON, `{"outcomes": [{"tension": "1.1", "resolution": "partial", "strength": "moderate", "basis": "…"}]}`)
}

func readOutcomes(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, answer string) (affair.Command, error) {
	var w protocol.InquiryOutcomes
	if _, err := block(answer, &w, "outcomes"); err != nil {
		return affair.Command{}, err
	}
	byID := map[string]protocol.InquiryOutcome{}
	for _, o := range w.Outcomes {
		o.Tension, o.Basis = strings.TrimPrefix(strings.ToLower(word(o.Tension)), "dialogue "), line(o.Basis)
		o.Resolution, o.Strength = keyword(o.Resolution, "agreed", "partial", "persistent"), keyword(o.Strength, "strong", "moderate", "weak")
		byID[o.Tension] = o
	}
	w.Outcomes = nil
	for _, t := range v.ThisCycle().Tensions {
		o, ok := byID[t.ID]
		if !ok {
			return affair.Command{}, fmt.Errorf("it does not say what came of dialogue %s", t.ID)
		}
		w.Outcomes = append(w.Outcomes, o)
	}
	return inquiries.Draft(a, inquiry, protocol.ShowOutcomes, w), nil
}
