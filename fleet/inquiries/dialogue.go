package inquiries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// tension is the one with that id; nil if there is none.
func (v Inquiry) tension(id string) *inquiry.Tension {
	for _, t := range v.Tensions {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// now are the tensions of this cycle.
func (v Inquiry) now() []*inquiry.Tension {
	return slices.DeleteFunc(slices.Clone(v.Tensions), func(t *inquiry.Tension) bool { return t.Cycle != v.Cycle })
}

// ThisCycle is the inquiry with the tensions of this cycle alone.
func (v Inquiry) ThisCycle() Inquiry {
	v.Tensions = v.now()
	return v
}

// ready reports whether the peers can be told. Tensions that share a peer go one after another.
func (v Inquiry) ready(t *inquiry.Tension) bool {
	for _, o := range v.now() {
		if o == t {
			return true
		}
		if !o.Closed() && (slices.Contains(o.Peers[:], t.Peers[0]) || slices.Contains(o.Peers[:], t.Peers[1])) {
			return false
		}
	}
	return false
}

// preview shows each result by itself, with what it lacks of its form.
func (v Inquiry) preview(w protocol.InquiryPreview) (Inquiry, error) {
	if err := v.in(Preview); err != nil {
		return v, err
	}
	all := v.Standing()
	if len(w.Results) != len(all) {
		return v, breach("F44", "it does not show each result once")
	}
	for i, g := range w.Results {
		if g.Perspective != all[i].Perspective || !slices.Equal(g.Flags, all[i].Flags) {
			return v, breach("F44", "it does not show the result of %q with its flags", all[i].Perspective)
		}
	}
	v.Preview, v.State = w, Detect
	return v, nil
}

// detect finds tensions. A tension rests on words of results, exactly as they stand there.
func (v Inquiry) detect(w protocol.InquiryDetection) (Inquiry, error) {
	if err := v.in(Detect); err != nil {
		return v, err
	}
	for _, t := range w.Triggers {
		if err := v.rests(t); err != nil {
			return v, err
		}
	}
	v.Detection = w
	if len(w.Triggers) == 0 {
		for _, class := range []string{"contradiction", "horizon intersection", "high-stakes"} {
			if !strings.Contains(strings.ToLower(w.Text), class) {
				return v, breach("F48", "it does not say that it looked for %q", class)
			}
		}
		v.State = Synthesize
		return v, nil
	}
	tensions := []*inquiry.Tension{}
	for _, t := range w.Triggers {
		pair := [2]string{t.Peers[0], t.Peers[1]}
		i := slices.IndexFunc(tensions, func(o *inquiry.Tension) bool { return o.Peers == pair || o.Peers == [2]string{pair[1], pair[0]} })
		if i < 0 {
			tensions = append(tensions, &inquiry.Tension{ID: fmt.Sprintf("%d.%d", v.Cycle, len(tensions)+1), Cycle: v.Cycle, Peers: pair})
			i = len(tensions) - 1
		}
		tensions[i].Triggers = append(tensions[i].Triggers, t)
	}
	v.Tensions, v.State = added(v.Tensions, tensions...), Dialogue
	return v, nil
}

// rests returns an error if a trigger does not rest on what it quotes.
func (v Inquiry) rests(t protocol.InquiryTrigger) error {
	said := map[string][]string{} // by perspective, the sections that are quoted
	for _, p := range t.Peers {
		if m := v.Member(p); m == nil || m.Result == "" {
			return senseless("%q has no result", p)
		}
	}
	for _, q := range t.Quotes {
		if !slices.Contains(t.Peers, q.Perspective) {
			return breach("F47", "it quotes %q, which is none of the two", q.Perspective)
		}
		sections, _ := Sections(v.Member(q.Perspective).Result, ResultSections()...)
		if !quoted(sections[q.Section], q.Words) {
			return breach("F47", "%.80q does not stand in the section %q of %q", q.Words, q.Section, q.Perspective)
		}
		said[q.Perspective] = append(said[q.Perspective], q.Section)
	}
	one, other := said[t.Peers[0]], said[t.Peers[1]]
	both := len(one) > 0 && len(other) > 0
	crossed := slices.Contains(one, SectionLimits) && slices.Contains(other, SectionContribution) ||
		slices.Contains(other, SectionLimits) && slices.Contains(one, SectionContribution)
	switch {
	case t.Kind == protocol.TriggerContradiction && !both, t.Kind == protocol.TriggerEmergent && !both:
		return breach("F47", "it does not quote both")
	case t.Kind == protocol.TriggerHorizon && !crossed:
		return breach("F47", "it does not quote a limit of one and a contribution of the other")
	case t.Kind == protocol.TriggerStakes && len(one) == 0:
		return breach("F47", "it does not quote the claim")
	}
	return nil
}

// within is the tension to which a deed belongs. The deed must lie in the tension's channel.
func (v Inquiry) within(recordID string, d affair.Deed, talk protocol.InquiryTalk) (*inquiry.Tension, error) {
	if err := v.in(Dialogue); err != nil {
		return nil, err
	}
	t := v.tension(talk.Tension)
	if t == nil || t.Cycle != v.Cycle {
		return nil, refusal.New(refusal.Unknown, "", "there is no tension %q", talk.Tension)
	}
	if talk.Inquiry != v.Channel || d.Message.Path.Channel() != protocol.TensionChannel(recordID, v.Channel, t.ID) {
		return nil, senseless("this is not the channel of that tension")
	}
	return t, nil
}

// topic connects two peers, in words that do not say what was found.
func (v Inquiry) topic(recordID string, d affair.Deed, w protocol.InquiryTopic) (Inquiry, error) {
	t, err := v.within(recordID, d, w.InquiryTalk)
	switch {
	case err != nil:
		return v, err
	case !t.Topic.IsZero() || !v.ready(t):
		return v, senseless("its peers were told, or talk with another one first")
	case !slices.Equal(w.Peers, v.peers(t)):
		return v, breach("F50", "its peers are %s", strings.Join(v.peers(t), " and "))
	case w.Text != TopicText(t):
		return v, breach("F49", "peers are told of a tension in other words")
	}
	v.Tensions = changed(v.Tensions, t, func(t *inquiry.Tension) { t.Topic = d.Message.Path })
	return v, nil
}

// peers are the exact names of the peers of a tension.
func (v Inquiry) peers(t *inquiry.Tension) []string {
	return []string{v.Member(t.Peers[0]).Agent.String(), v.Member(t.Peers[1]).Agent.String()}
}

// peer returns an error if a deed is not by the member of a perspective.
func (v Inquiry) peer(d affair.Deed, t *inquiry.Tension, perspective string) error {
	if !slices.Contains(t.Peers[:], perspective) || !writes(d, v.Member(perspective).Agent) {
		if writes(d, v.Coordinator) {
			return breach("F54", "the coordinator speaks for %q", perspective)
		}
		return refusal.New(refusal.Forbidden, "", "%s@%s is no peer for %q in tension %s", d.Author().Name, d.Host, perspective, t.ID)
	}
	return nil
}

// exchange notes what a peer says to the other one. They take turns.
func (v Inquiry) exchange(recordID string, d affair.Deed) (Inquiry, error) {
	w, err := protocol.ExchangeWords.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	t, err := v.within(recordID, d, w.InquiryTalk)
	if err != nil {
		return v, err
	}
	if err := v.peer(d, t, w.Perspective); err != nil {
		return v, err
	}
	switch {
	case t.Topic.IsZero() || t.Talked():
		return v, breach("F52", "the two have not begun, or have said what they had to say: a pair has %d messages", inquiry.MaxMessages)
	case w.Perspective != t.Turn() || w.Number != len(t.Messages)+1:
		return v, senseless("it is not its turn: message %d is that of %q", len(t.Messages)+1, t.Turn())
	}
	v.Tensions = changed(v.Tensions, t, func(t *inquiry.Tension) {
		t.Messages = added(t.Messages, inquiry.Said{Perspective: w.Perspective, Path: d.Message.Path, Text: w.Text, Done: w.Done})
	})
	return v, nil
}

// report notes what a peer reports. Each peer reports once.
func (v Inquiry) report(recordID string, d affair.Deed) (Inquiry, error) {
	w, err := protocol.ReportDialogue.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	t, err := v.within(recordID, d, w.InquiryTalk)
	if err != nil {
		return v, err
	}
	if err := v.peer(d, t, w.Perspective); err != nil {
		return v, err
	}
	if !t.Talked() || slices.ContainsFunc(t.Reports, func(r protocol.InquiryReport) bool { return r.Perspective == w.Perspective }) {
		return v, senseless("no report of %q is due", w.Perspective)
	}
	v.Tensions = changed(v.Tensions, t, func(t *inquiry.Tension) { t.Reports = added(t.Reports, w) })
	return v.talkedOut(), nil
}

// followUp asks a peer once what divides it from the other one, if something does.
func (v Inquiry) followUp(recordID string, d affair.Deed, w protocol.InquiryFollowUp) (Inquiry, error) {
	t, err := v.within(recordID, d, w.InquiryTalk)
	if err != nil {
		return v, err
	}
	if len(t.Reports) < 2 || !slices.Contains(t.Divergent(), w.Perspective) || t.Question(w.Perspective) != "" {
		return v, breach("F56", "%q is not to be asked once more", w.Perspective)
	}
	v.Tensions = changed(v.Tensions, t, func(t *inquiry.Tension) {
		t.Asked = added(t.Asked, inquiry.Said{Perspective: w.Perspective, Path: d.Message.Path, Text: w.Text})
	})
	return v, nil
}

// followAnswer notes a peer's answer to that question.
func (v Inquiry) followAnswer(recordID string, d affair.Deed) (Inquiry, error) {
	w, err := protocol.AnswerFollowUp.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	t, err := v.within(recordID, d, w.InquiryTalk)
	if err != nil {
		return v, err
	}
	if err := v.peer(d, t, w.Perspective); err != nil {
		return v, err
	}
	if t.Question(w.Perspective) == "" || slices.ContainsFunc(t.Answers, func(s inquiry.Said) bool { return s.Perspective == w.Perspective }) {
		return v, senseless("%q was not asked, or has answered", w.Perspective)
	}
	v.Tensions = changed(v.Tensions, t, func(t *inquiry.Tension) {
		t.Answers = added(t.Answers, inquiry.Said{Perspective: w.Perspective, Path: d.Message.Path, Text: w.Text})
	})
	return v.talkedOut(), nil
}

// talkedOut takes the inquiry on when all tensions are closed.
func (v Inquiry) talkedOut() Inquiry {
	if !slices.ContainsFunc(v.now(), func(t *inquiry.Tension) bool { return !t.Closed() }) {
		v.State = Outcomes
	}
	return v
}

// outcomes shows what came of each dialogue.
func (v Inquiry) outcomes(w protocol.InquiryOutcomes) (Inquiry, error) {
	if err := v.in(Outcomes); err != nil {
		return v, err
	}
	all := v.now()
	if len(w.Outcomes) != len(all) {
		return v, breach("F58", "it does not show each dialogue once")
	}
	for i, o := range w.Outcomes {
		if o.Tension != all[i].ID {
			return v, breach("F58", "it does not show what came of tension %s", all[i].ID)
		}
		if o.Resolution == "agreed" && len(all[i].Divergent()) > 0 {
			return v, breach("F58", "the peers of tension %s report that something divides them", o.Tension)
		}
	}
	v.Outcomes, v.State = added(v.Outcomes, w.Outcomes...), Synthesize
	return v, nil
}
