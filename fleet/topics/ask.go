package topics

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// ask puts a question on the list.
func (t Topic) ask(d affair.Deed) (Topic, error) {
	q, err := protocol.Ask.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	return t.add(newItem(d, topic.Question, q.Item.Label, q.Item.Text)), nil
}

// resolve settles a question. Only the author of a dissent settles it: differences are kept, and
// not argued away by the other participant.
func (t Topic) resolve(d affair.Deed) (Topic, error) {
	r, err := protocol.Resolve.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	it, err := t.of(d, r.Item)
	if err != nil {
		return t, err
	}
	who := d.Author().Name
	switch {
	case it.Sort != topic.Question && it.Sort != topic.Dissent:
		return t, refusal.New(refusal.Senseless, "", "%s is neither an open question nor a disagreement: only these are resolved", it.Label)
	case it.Resolved != nil:
		return t, refusal.New(refusal.Forbidden, "", "%s is resolved already", it.Label)
	case it.Sort == topic.Dissent && it.By != who:
		return t, refusal.New(refusal.Forbidden, "", "%s is what %s sees otherwise: only %s can take it back", it.Label, it.By, it.By)
	}
	next := *it
	settled := word(d, r.Outcome)
	next.Resolved = &settled
	t.Items = put(t.Items, it, &next)
	return t, nil
}

// teach notes what its author learned from the other participant.
func (t Topic) teach(d affair.Deed) (Topic, error) {
	l, err := protocol.TeachBack.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	return t.add(newItem(d, topic.Lesson, l.Label, l.Learned)), nil
}

// disagree notes what its author sees differently.
func (t Topic) disagree(d affair.Deed) (Topic, error) {
	w, err := protocol.Disagree.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	return t.add(newItem(d, topic.Dissent, w.Label, w.Position)), nil
}
