package topics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

func newItem(d affair.Deed, sort topic.Sort, stated protocol.Label, text string) *topic.Item {
	said := word(d, text)
	return &topic.Item{
		Path: said.Path, Sort: sort, Label: stated, Stated: stated, By: said.By, Time: said.Time, Signed: d.Standing == affair.Signed, Wordings: []topic.Word{said},
	}
}

func word(d affair.Deed, text string) topic.Word {
	return topic.Word{Path: d.Message.Path, By: d.Author().Name, Time: d.Timestamp, Text: text}
}

// add is the topic with one more item. If another item has the label already, some digits of the
// item's path are added to it (R61). An item without a label, as somebody writes it by hand, gets
// the next number.
func (t Topic) add(it *topic.Item) Topic {
	if it.Stated == "" || it.Stated.String()[:1] != it.Sort.Prefix() {
		it.Label, it.Stated = t.Next(it.Sort), ""
	}
	hash := protocol.Hash([]byte(it.Path.String()))
	for n := 4; n <= len(hash) && slices.ContainsFunc(t.Items, func(o *topic.Item) bool { return o.Label == it.Label }); n++ {
		it.Label = protocol.Label(firstOf(it.Label) + "-" + hash[:n])
	}
	t.Items = affair.Added(t.Items, it)
	return t
}

func firstOf(l protocol.Label) string {
	bare, _, _ := strings.Cut(l.String(), "-")
	return bare
}

// Next is the label that the next item of a sort gets: its number in the order, or a later number
// if somebody took that one. A label with a much higher number, as one may write it by hand,
// changes nothing for other items.
func (t Topic) Next(sort topic.Sort) protocol.Label {
	n, taken := 1, map[protocol.Label]bool{}
	for _, it := range t.Items {
		if it.Sort == sort {
			n++
			taken[it.Label] = true
		}
	}
	for taken[protocol.Label(ordinal(sort.Prefix(), n))] {
		n++
	}
	return protocol.Label(ordinal(sort.Prefix(), n))
}

// Item is the item with that path.
func (t Topic) Item(p protocol.Path) *topic.Item {
	return each.Find(t.Items, func(it *topic.Item) bool { return it.Path == p })
}

// of is the item that a deed is about: the one that its `re` names, directly or by a question about
// it, else the one that its words name.
func (t Topic) of(d affair.Deed, ref protocol.ItemRef) (*topic.Item, error) {
	re, _ := d.AnsweredPath()
	for _, it := range t.Items {
		asked := slices.ContainsFunc(it.Validations, func(v *topic.Validation) bool { return v.Path == re })
		if it.Path != re && !asked {
			continue
		}
		if ref.Label != "" && ref.Label != it.Label && ref.Label != it.Stated {
			return nil, refusal.New(refusal.Senseless, "", "it names %s and answers %s", ref.Label, it.Label)
		}
		return it, nil
	}
	return t.Find(ref)
}

// Find is the item that `ref` names, by its label or by its words. A label that fits two items
// names neither, unless the words say which (R61).
func (t Topic) Find(ref protocol.ItemRef) (*topic.Item, error) {
	if ref.Topic != "" && ref.Topic != t.Slug {
		return nil, refusal.New(refusal.Senseless, "", "it is about the topic %s", ref.Topic)
	}
	key := ""
	if ref.Label == "" { // few items are named by their words, and comparing these takes long
		key = words(ref.Text)
	}
	fit := make([]*topic.Item, 0, 4)
	for _, it := range t.Items {
		switch {
		case ref.Label == "":
			if slices.ContainsFunc(it.Wordings, func(w topic.Word) bool { return ref.Text != "" && says(w.Text, key) }) {
				fit = append(fit, it)
			}
		case it.Label == ref.Label || it.Stated == ref.Label:
			fit = append(fit, it)
		}
	}
	if len(fit) > 1 && ref.Label != "" && ref.Text != "" {
		fit = slices.DeleteFunc(fit, func(it *topic.Item) bool {
			return !slices.ContainsFunc(it.Wordings, func(w topic.Word) bool { return shortened(ref.Text, w.Text) })
		})
	}
	if len(fit) == 1 && ref != (protocol.ItemRef{}) {
		return fit[0], nil
	}
	named := cmp.Or(ref.Label.String(), fmt.Sprintf("%.60q", ref.Text))
	switch {
	case ref == (protocol.ItemRef{}):
		return nil, refusal.New(refusal.Senseless, "", "it names no item")
	case len(fit) == 0:
		return nil, refusal.New(refusal.Unknown, "", "%q has no item %s", t.Name, named)
	}
	return nil, refusal.New(refusal.Senseless, "name it as it is shown, with the digits behind its label", "%s fits more than one item of %q", named, t.Name)
}

// sameWords reports whether two texts have the same words, whatever stands between the words.
func sameWords(a, b string) bool { return says(a, words(b)) }

func words(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, between), " "))
}

// between reports whether a rune stands between words.
func between(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.S) }

// says reports whether a text has exactly the words `words`. It reads only as far as they agree: to
// name an item by its words means to compare all items of a topic each time.
func says(text, words string) bool {
	gap, rest := false, words
	for _, r := range text {
		if between(r) {
			gap = len(rest) < len(words) // before the first word there need be none
			continue
		}
		if gap && !strings.HasPrefix(rest, " ") {
			return false
		} else if gap {
			gap, rest = false, rest[1:]
		}
		next, size := utf8.DecodeRuneInString(rest)
		if size == 0 || next != unicode.ToLower(r) {
			return false
		}
		rest = rest[size:]
	}
	return rest == ""
}

// answerBy is the time until which an answer is waited for: the time that the message says, or the
// usual one.
func answerBy(d affair.Deed, says time.Time) time.Time {
	if says.IsZero() {
		return d.Timestamp.Add(Window)
	}
	return says
}

func (t Topic) ask(d affair.Deed, q protocol.OpenQuestion) (Topic, error) {
	return t.add(newItem(d, topic.Question, q.Item.Label, q.Item.Text)), nil
}

// resolve settles a question. Only the author of a dissent settles it: differences are kept, and
// not argued away by the other participant.
func (t Topic) resolve(d affair.Deed, r protocol.Resolution) (Topic, error) {
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
	settled := word(d, r.Outcome)
	t.Items = affair.Edited(t.Items, it, func(it *topic.Item) { it.Resolved = &settled })
	return t, nil
}

// teach notes what its author learned from the other participant.
func (t Topic) teach(d affair.Deed, l protocol.Lesson) (Topic, error) {
	return t.add(newItem(d, topic.Lesson, l.Label, l.Learned)), nil
}

// disagree notes what its author sees differently.
func (t Topic) disagree(d affair.Deed, w protocol.Dissent) (Topic, error) {
	return t.add(newItem(d, topic.Dissent, w.Label, w.Position)), nil
}
