package topics

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// scope is the question that every topic begins with (seed, "If topic is new: Create").
const scope = "Define scope and goals"

// open begins a topic, or a new term of a topic that the author of the deed had closed. If the
// topic is open, it loads it. The anchor is the last one that was named (R20, R30).
func (t Topic) open(recordID string, d affair.Deed) (Topic, error) {
	o, err := protocol.OpenTopic.Parse(d.Body)
	if err != nil {
		return t, affair.Malformed(err)
	}
	next, err := begin(recordID, d, o)
	if err != nil {
		return t, err
	}
	author := d.Author().Name
	switch {
	case t.Opened.IsZero(), next.Derived && !t.Derived:
		next.Past = t.Past
		return next, nil
	case !samePair(t.Pair, next.Pair), t.Slug != next.Slug:
		return t, refusal.New(refusal.Forbidden, "", "this channel is that of %q, between %s and %s", t.Name, t.Pair[0], t.Pair[1])
	case !protocol.SameTopic(t.Name, o.Topic):
		return t, refusal.New(refusal.Forbidden, "give it another name", "the short form of %q is that of %q too, which is open", o.Topic, t.Name)
	}
	if _, closed := t.ClosedBy(author); closed {
		next.Past, t.Past = t.Past, nil
		if next.Past = affair.Added(next.Past, t); next.Anchor == "" {
			next.Anchor, next.Named = t.Anchor, t.Named
		}
		return next, nil
	}
	if o.Anchor != "" {
		if o.Anchor != t.Anchor {
			t.Anchor, t.Named = o.Anchor, nil
		}
		for _, naming := range next.Named { // a human who named it before is in the list already
			if !slices.Contains(t.Named, naming) {
				t.Named = affair.Added(t.Named, naming)
			}
		}
	}
	return t, nil
}

func begin(recordID string, d affair.Deed, o protocol.Opening) (Topic, error) {
	slug, err := protocol.SlugOf(o.Topic)
	if err != nil {
		return Topic{}, affair.Malformed(err)
	}
	with := o.With
	if with == "" && len(d.To) == 1 {
		with = d.To[0].Name
	}
	author := d.Author().Name
	switch {
	case with == "" || with == protocol.All || protocol.CheckForeignName(with) != nil:
		return Topic{}, refusal.New(refusal.Senseless, "", "it does not say with whom")
	case with == author:
		return Topic{}, refusal.New(refusal.Senseless, "", "a topic is between two")
	}
	t := Topic{Pair: [2]string{author, with}, Head: topic.Head{
		Opened: d.Message.Path, Name: o.Topic, Slug: slug, Since: d.Timestamp, Anchor: o.Anchor,
		Derived: protocol.TopicChannel(recordID, author, with, slug) == d.Message.Path.Channel(),
	}}
	if t.Anchor != "" && d.Standing == affair.Signed && d.Message.Human != "" {
		t.Named = []Naming{{d.Message.Human, d.Host}}
	}
	t.Items = []*topic.Item{newItem(d, topic.Question, "P1", scope)}
	return t, nil
}

func samePair(a, b [2]string) bool { return a == b || a == [2]string{b[1], b[0]} }

func (t Topic) close(d affair.Deed, c protocol.Closing) (Topic, error) {
	t.Closed = affair.Added(t.Closed, word(d, c.Reason))
	return t, nil
}

// join notes that somebody asks to take part.
func (t Topic) join(d affair.Deed, j protocol.JoinRequest) (Topic, error) {
	author := d.Author().Name
	switch {
	case t.Opened.IsZero():
		return t, t.partOf(author)
	case author == t.Pair[0] || author == t.Pair[1]:
		return t, refusal.New(refusal.Senseless, "", "%s takes part in %q already", author, t.Name)
	}
	for _, other := range t.Joins {
		if other.By == author {
			return t, refusal.New(refusal.Senseless, "wait for the answer", "%s has asked to join %q already", author, t.Name)
		}
	}
	t.Joins = affair.Added(t.Joins, word(d, j.Reason))
	return t, nil
}
