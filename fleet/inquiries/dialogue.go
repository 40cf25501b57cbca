package inquiries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// tension is the one with that id; nil if there is none.
func (v Inquiry) tension(id string) *inquiry.Tension {
	return each.Find(v.Tensions, func(t *inquiry.Tension) bool { return t.ID == id })
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
func (s *step) preview(w protocol.InquiryPreview) error {
	all := s.Standing()
	if len(w.Results) != len(all) {
		return breach("F44", "it does not show each result once")
	}
	for i, g := range w.Results {
		if g.Perspective != all[i].Perspective || !slices.Equal(g.Flags, all[i].Flags) {
			return breach("F44", "it does not show the result of %q with its flags", all[i].Perspective)
		}
	}
	s.Preview, s.State = w, Detect
	return nil
}

// detect finds tensions. A tension rests on words of results, exactly as they stand there.
func (s *step) detect(w protocol.InquiryDetection) error {
	for _, t := range w.Triggers {
		if err := s.rests(t); err != nil {
			return err
		}
	}
	s.Detection = w
	if len(w.Triggers) == 0 {
		for _, class := range []string{"contradiction", "horizon intersection", "high-stakes"} {
			if !strings.Contains(strings.ToLower(w.Text), class) {
				return breach("F48", "it does not say that it looked for %q", class)
			}
		}
		s.State = Synthesize
		return nil
	}
	tensions := []*inquiry.Tension{}
	for _, t := range w.Triggers {
		pair := [2]string{t.Peers[0], t.Peers[1]}
		i := slices.IndexFunc(tensions, func(o *inquiry.Tension) bool { return o.Peers == pair || o.Peers == [2]string{pair[1], pair[0]} })
		if i < 0 {
			tensions = append(tensions, &inquiry.Tension{ID: fmt.Sprintf("%d.%d", s.Cycle, len(tensions)+1), Cycle: s.Cycle, Peers: pair})
			i = len(tensions) - 1
		}
		tensions[i].Triggers = append(tensions[i].Triggers, t)
	}
	s.Tensions, s.State = affair.Added(s.Tensions, tensions...), Dialogue
	return nil
}

// rests returns an error if a trigger does not rest on what it quotes.
func (v Inquiry) rests(t protocol.InquiryTrigger) error {
	said := map[string][]string{} // by perspective, the sections that are quoted
	for _, p := range t.Peers {
		if m := v.Member(p); m == nil || m.Result == "" {
			return breach("F47", "%q has no result", p)
		}
	}
	for _, q := range t.Quotes {
		if !slices.Contains(t.Peers, q.Perspective) {
			return breach("F47", "it quotes %q, which is none of the two", q.Perspective)
		}
		sections := SectionTexts(v.Member(q.Perspective).Result)
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
func (s *step) within(talk protocol.InquiryTalk) (*inquiry.Tension, error) {
	if err := s.in(Dialogue); err != nil {
		return nil, err
	}
	t := s.tension(talk.Tension)
	if t == nil || t.Cycle != s.Cycle {
		return nil, refusal.New(refusal.Unknown, "", "there is no tension %q", talk.Tension)
	}
	if talk.Inquiry != s.Channel || s.deed.Message.Path.Channel() != protocol.TensionChannel(s.record, s.Channel, t.ID) {
		return nil, senseless("this is not the channel of that tension")
	}
	return t, nil
}

// topic connects two peers, in words that do not say what was found.
func (s *step) topic(w protocol.InquiryTopic) error {
	t, err := s.within(w.InquiryTalk)
	switch {
	case err != nil:
		return err
	case !t.Topic.IsZero() || !s.ready(t):
		return senseless("its peers were told, or talk with another one first")
	case !slices.Equal(w.Peers, s.peers(t)):
		return breach("F50", "its peers are %s", strings.Join(s.peers(t), " and "))
	case w.Text != TopicText(t):
		return breach("F49", "peers are told of a tension in other words")
	}
	s.Tensions = affair.Edited(s.Tensions, t, func(t *inquiry.Tension) { t.Topic = s.deed.Message.Path })
	return nil
}

func (v Inquiry) peers(t *inquiry.Tension) []string {
	return []string{v.Member(t.Peers[0]).Agent.String(), v.Member(t.Peers[1]).Agent.String()}
}

// peer is the tension to which a deed belongs, which must be by the member of that perspective.
func (s *step) peer(talk protocol.InquiryTalk, perspective string) (*inquiry.Tension, error) {
	t, err := s.within(talk)
	if err != nil {
		return nil, err
	}
	if m := s.Member(perspective); m != nil && m.Given.IsZero() {
		return nil, refusal.New(refusal.Forbidden, "", "another agent is to speak for %q", perspective)
	}
	if !slices.Contains(t.Peers[:], perspective) || !writes(s.deed, s.Member(perspective).Agent) {
		if writes(s.deed, s.Coordinator) {
			return nil, breach("F54", "the coordinator speaks for %q", perspective)
		}
		return nil, refusal.New(refusal.Forbidden, "", "%s@%s is no peer for %q in tension %s", s.deed.Author().Name, s.deed.Host, perspective, t.ID)
	}
	s.heard(perspective)
	return t, nil
}

// exchange notes what a peer says to the other one. They take turns.
func (s *step) exchange(w protocol.InquiryExchange) error {
	t, err := s.peer(w.InquiryTalk, w.Perspective)
	if err != nil {
		return err
	}
	switch {
	case t.Topic.IsZero() || t.Talked():
		return breach("F52", "the two have not begun, or have said what they had to say: a pair has %d messages", inquiry.MaxMessages)
	case w.Perspective != t.Turn() || w.Number != len(t.Messages)+1:
		return senseless("it is not its turn: message %d is that of %q", len(t.Messages)+1, t.Turn())
	}
	s.Tensions = affair.Edited(s.Tensions, t, func(t *inquiry.Tension) {
		t.Messages = affair.Added(t.Messages, inquiry.Said{Perspective: w.Perspective, Path: s.deed.Message.Path, Text: w.Text, Done: w.Done})
	})
	return nil
}

// report notes what a peer reports. Each peer reports once.
func (s *step) report(w protocol.InquiryReport) error {
	t, err := s.peer(w.InquiryTalk, w.Perspective)
	if err != nil {
		return err
	}
	if !t.Talked() || slices.ContainsFunc(t.Reports, func(r protocol.InquiryReport) bool { return r.Perspective == w.Perspective }) {
		return senseless("no report of %q is due", w.Perspective)
	}
	s.Tensions = affair.Edited(s.Tensions, t, func(t *inquiry.Tension) { t.Reports = affair.Added(t.Reports, w) })
	s.talkedOut()
	return nil
}

// followUp asks a peer once what divides it from the other one, if something does.
func (s *step) followUp(w protocol.InquiryFollowUp) error {
	t, err := s.within(w.InquiryTalk)
	if err != nil {
		return err
	}
	if len(t.Reports) < 2 || !slices.Contains(t.Divergent(), w.Perspective) || t.Question(w.Perspective) != "" {
		return breach("F56", "%q is not to be asked once more", w.Perspective)
	}
	s.Tensions = affair.Edited(s.Tensions, t, func(t *inquiry.Tension) {
		t.Asked = affair.Added(t.Asked, inquiry.Said{Perspective: w.Perspective, Path: s.deed.Message.Path, Text: w.Text})
	})
	return nil
}

func (s *step) followAnswer(w protocol.InquiryFollowUp) error {
	t, err := s.peer(w.InquiryTalk, w.Perspective)
	if err != nil {
		return err
	}
	if t.Question(w.Perspective) == "" || slices.ContainsFunc(t.Answers, func(a inquiry.Said) bool { return a.Perspective == w.Perspective }) {
		return senseless("%q was not asked, or has answered", w.Perspective)
	}
	s.Tensions = affair.Edited(s.Tensions, t, func(t *inquiry.Tension) {
		t.Answers = affair.Added(t.Answers, inquiry.Said{Perspective: w.Perspective, Path: s.deed.Message.Path, Text: w.Text})
	})
	s.talkedOut()
	return nil
}

// talkedOut goes on when all tensions are closed.
func (s *step) talkedOut() {
	if !slices.ContainsFunc(s.now(), func(t *inquiry.Tension) bool { return !t.Closed() }) {
		s.State = Outcomes
	}
}

func (s *step) outcomes(w protocol.InquiryOutcomes) error {
	all := s.now()
	if len(w.Outcomes) != len(all) {
		return breach("F58", "it does not show each dialogue once")
	}
	for i, o := range w.Outcomes {
		if o.Tension != all[i].ID {
			return breach("F58", "it does not show what came of tension %s", all[i].ID)
		}
		if o.Resolution == "agreed" && len(all[i].Divergent()) > 0 {
			return breach("F58", "the peers of tension %s report that something divides them", o.Tension)
		}
	}
	s.Outcomes, s.State = affair.Added(s.Outcomes, w.Outcomes...), Synthesize
	return nil
}
