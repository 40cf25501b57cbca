package topics

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// DeferFor is how long a deferral lasts that does not say how long.
const DeferFor = 24 * time.Hour

// next are the phases that a decision may lead to (seed, "Allowed state transitions"). Only revoke
// makes a decision pending again.
func next(from topic.Phase) []topic.Phase {
	switch from {
	case topic.Pending, topic.TimedOut:
		return []topic.Phase{topic.Accepted, topic.Rejected, topic.Deferred}
	case topic.Deferred:
		return []topic.Phase{topic.Accepted, topic.Rejected}
	}
	return nil
}

// Reprompted is the topic with deferrals that have run out shown as pending, not as timed out. A
// fleet can have it so.
func (t Topic) Reprompted() Topic {
	again := func(s topic.Stand) bool { return s.Phase == topic.TimedOut && s.Previous == topic.Deferred }
	t.Items = affair.Changed(t.Items, func(it *topic.Item) bool { return slices.ContainsFunc(it.Stands, again) }, func(it *topic.Item) {
		it.Stands = slices.Clone(it.Stands)
		for i, s := range it.Stands {
			if again(s) {
				it.Stands[i].Phase, it.Stands[i].TimeoutAt = topic.Pending, time.Time{}
			}
		}
	})
	return t
}

// propose adds an agreement. By that its author accepts it (R60).
func (t Topic) propose(d affair.Deed, p protocol.Proposal) (Topic, error) {
	it := newItem(d, topic.Agreement, p.Item.Label, p.Item.Text)
	for _, who := range t.Pair {
		s := topic.Stand{Who: who, Phase: topic.Pending, AnswerBy: answerBy(d, p.AnswerBy)}
		if who == it.By {
			s = topic.Stand{Who: who, Phase: topic.Accepted, Previous: topic.Pending, Path: it.Path, Decided: it.Time, Signed: d.Standing == affair.Signed, Committed: true}
		}
		it.Stands = append(it.Stands, s)
	}
	return t.add(it), nil
}

func (t Topic) decide(d affair.Deed) (Topic, error) {
	w, err := decisionWords(d)
	if err != nil {
		return t, affair.Malformed(err)
	}
	it, err := t.of(d, w.item)
	if err != nil && w.previous != "" { // the seed names the item by the words that it had until now
		if was, found := t.Find(protocol.ItemRef{Text: w.previous}); found == nil {
			it, err = was, nil
		}
	}
	if err == nil && it.Sort != topic.Agreement {
		err = refusal.New(refusal.Senseless, "", "%s is nothing to agree on", it.Label)
	}
	if err != nil {
		return t, err
	}
	who := d.Author().Name
	s := it.Stand(who).At(d.Timestamp)
	to, err := transition(it, d, s, w)
	if err != nil {
		return t, err
	}
	changed := *it
	changed.Stands = slices.Clone(it.Stands)
	now := topic.Stand{
		Who: who, Phase: to, Previous: s.Phase, Path: d.Message.Path, Decided: d.Timestamp, Signed: d.Standing == affair.Signed,
		Reason: w.reason, Until: w.until, Committed: s.Committed || to == topic.Accepted,
	}
	if to == topic.Pending {
		now.AnswerBy = answerBy(d, w.answerBy)
	}
	set(&changed, now)
	changed.Log = affair.Added(it.Log, topic.Decision{
		Path: d.Message.Path, Who: who, Time: d.Timestamp, Act: d.Act, From: s.Phase, To: to, Reason: w.reason, Until: w.until,
	})
	answered(&changed, d, to)
	if d.Act == protocol.ActReAccept && w.item.Text != "" && !sameWords(w.item.Text, it.Text()) {
		reword(&changed, d, w)
	}
	t.Items = affair.Edited(t.Items, it, func(it *topic.Item) { *it = changed })
	return t, nil
}

// set replaces the stand of a participant. The item must be a new copy that nobody has seen yet.
func set(it *topic.Item, s topic.Stand) {
	for i := range it.Stands {
		if it.Stands[i].Who == s.Who {
			it.Stands[i] = s
		}
	}
}

// reword gives the item other words. A participant who accepted or declined the old words has not
// decided on these, and is pending again: nobody is bound to what the other participant wrote
// later.
func reword(it *topic.Item, d affair.Deed, w decided) {
	it.Wordings = affair.Added(it.Wordings, word(d, w.item.Text))
	for i, s := range it.Stands {
		if s.Who != d.Author().Name && s.Phase != topic.Deferred {
			it.Stands[i] = topic.Stand{Who: s.Who, Phase: topic.Pending, Previous: s.At(d.Timestamp).Phase, AnswerBy: answerBy(d, w.answerBy), Committed: s.Committed}
		}
	}
}

type decided struct {
	item     protocol.ItemRef
	reason   string
	until    time.Time
	previous string // of a renewal
	answerBy time.Time
}

func decisionWords(d affair.Deed) (w decided, err error) {
	switch d.Act {
	case protocol.ActAccept:
		var a protocol.Acceptance
		a, err = protocol.Accept.Parse(d.Body)
		w = decided{item: a.Item, reason: a.Commitment}
	case protocol.ActReject:
		var r protocol.Rejection
		r, err = protocol.Reject.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Reason}
	case protocol.ActDefer:
		var f protocol.Deferral
		f, err = protocol.Defer.Parse(d.Body)
		w = decided{item: f.Item, reason: f.Reason, until: f.Until}
		if w.until.IsZero() {
			w.until = d.Timestamp.Add(DeferFor)
		}
	case protocol.ActRevoke:
		var r protocol.Withdrawal
		r, err = protocol.Revoke.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Reason, answerBy: r.AnswerBy}
	case protocol.ActReAccept:
		var r protocol.Renewal
		r, err = protocol.ReAccept.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Changes, previous: r.Previous, answerBy: r.AnswerBy}
	}
	return w, err
}

// transition is the phase to which a decision leads from the stand `s` of its author. The error
// says why it leads nowhere (R29).
func transition(it *topic.Item, d affair.Deed, s topic.Stand, w decided) (topic.Phase, error) {
	to := map[protocol.Act]topic.Phase{protocol.ActAccept: topic.Accepted, protocol.ActReject: topic.Rejected, protocol.ActDefer: topic.Deferred}[d.Act]
	switch d.Act {
	case protocol.ActRevoke:
		if s.Phase != topic.Accepted && s.Phase != topic.Rejected {
			return "", refusal.New(refusal.Forbidden, "", "%s has decided nothing on %s that could be taken back", s.Who, it.Label)
		}
		return topic.Pending, nil
	case protocol.ActReAccept:
		return renew(it, s, w)
	}
	if err := meant(it, w.item); err != nil {
		return "", err
	}
	switch {
	case d.Act == protocol.ActAccept && s.Phase == topic.Accepted && it.Asked(s.Who):
		return topic.Accepted, nil // a participant who was asked whether it still holds says so
	case to == s.Phase && to != topic.Deferred:
		return "", refusal.New(refusal.Forbidden, "there is nothing to do", "%s stands at %s on %s already", s.Who, s.Phase, it.Label)
	case !slices.Contains(next(s.Phase), to):
		return "", refusal.New(refusal.Forbidden, leave(s.Phase), "%s stands at %s on %s: no %s follows on that", s.Who, s.Phase, it.Label, d.Act)
	case d.Act == protocol.ActDefer && !w.until.After(d.Timestamp):
		return "", refusal.New(refusal.Senseless, "name a later time", "%s is over", w.until.Format(time.DateTime))
	}
	return to, nil
}

func leave(from topic.Phase) string {
	if from == topic.Accepted || from == topic.Rejected {
		return "revoke the decision first"
	}
	return "accept or reject it, or wait until its time has come"
}

// renew is the phase to which a renewal leads: it renews what was once accepted.
func renew(it *topic.Item, s topic.Stand, w decided) (topic.Phase, error) {
	switch {
	case !s.Committed:
		return "", refusal.New(refusal.Forbidden, "accept it", "%s never accepted %s", s.Who, it.Label)
	case s.Phase == topic.Rejected:
		return "", refusal.New(refusal.Forbidden, leave(s.Phase), "%s has rejected %s", s.Who, it.Label)
	case w.previous != "" && !sameWords(w.previous, it.Text()):
		return "", refusal.New(refusal.Forbidden, "look at the words that it has now", "%s says something else by now", it.Label)
	}
	return topic.Accepted, nil
}

// meant returns an error if a decision does not fit the item that it is about, because it repeats
// words that the item no longer has, or never had. Who accepts words accepts only these words.
func meant(it *topic.Item, ref protocol.ItemRef) error {
	if ref.Text == "" || shortened(ref.Text, it.Text()) {
		return nil
	}
	for _, w := range it.Wordings {
		if sameWords(w.Text, ref.Text) {
			return refusal.New(refusal.Forbidden, "look at the words that it has now", "%s says something else by now", it.Label)
		}
	}
	if ref.Label != "" {
		return nil
	}
	return refusal.New(refusal.Senseless, "", "its words are not those of %s", it.Label)
}

// shortened reports whether `text` has the words of `whole`, or is its beginning with dots behind
// it.
func shortened(text, whole string) bool {
	if cut := strings.TrimRight(text, ".… "); cut != text && strings.HasPrefix(words(whole), words(cut)) {
		return true
	}
	return sameWords(text, whole)
}
