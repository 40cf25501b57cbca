// Package topics is the affair of two who work together on something. It has what they agreed on,
// with each one's commitment to it, open questions, what they taught each other and where they
// differ. It says how far they were in sync, and has the checkpoints that sum all this up.
//
// The channel of a topic follows from the record, the two participants and its slug. So two hosts
// that open it at the same time meet in one channel. Its deeds are the texts of the protocol's
// acts. Each participant decides only for itself. Nothing of a topic is ever removed: what was
// taken back, reworded or closed stays readable.
//
// Values say what the record says. How much an old score is worth now, how far somebody is to be
// trusted and what should be asked again is computed from values and the current time (R21, R22,
// R29); see Decayed, Trust and DueValidations.
package topics

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Topic is what two have between them on one subject. It does not change.
type Topic struct {
	topic.Head
	Pair  [2]string // the one who opened it, and the other participant
	Named []Naming  // who named this anchor, as far as keys say so

	Items       []*topic.Item       // in the order of the record
	Checks      []*topic.Check      // in the order of the record
	Results     []*topic.Result     // the answers to checks, in the order of the record
	Checkpoints []*topic.Checkpoint // in the order of the record
	Past        []Topic             // earlier terms, the first one first; their Past is empty
}

// Naming says which human has named an anchor, on which host.
type Naming struct {
	Human string
	Host  protocol.Name // the host whose key signed it
}

// Window is how long a decision stays open if its message does not say so: the time for agents on
// two hosts. Agents of one host, or on an issue, have another time, which whoever asks writes into
// the message (R25).
const Window = 7 * 24 * time.Hour

// KindName is the name of the kind.
const KindName = "topic"

// Kind is the kind of affair that topics are, in the record with that id. There is at most one in a
// channel.
func Kind(recordID string) *affair.Kind[Topic] {
	return &affair.Kind[Topic]{
		Name: KindName,
		Acts: []protocol.ActSpec{
			protocol.OpenTopic.ActSpec, protocol.CloseTopic.ActSpec, protocol.RequestJoin.ActSpec,
			protocol.Agree.ActSpec, protocol.Accept.ActSpec, protocol.Reject.ActSpec, protocol.Defer.ActSpec,
			protocol.Revoke.ActSpec, protocol.ReAccept.ActSpec, protocol.Validate.ActSpec,
			protocol.Ask.ActSpec, protocol.Resolve.ActSpec, protocol.TeachBack.ActSpec, protocol.Disagree.ActSpec,
			protocol.CheckSync.ActSpec, protocol.AnswerSync.ActSpec,
			protocol.Sum.ActSpec, protocol.Ratify.ActSpec, protocol.Amend.ActSpec, protocol.RejectSum.ActSpec,
		},
		Of:    func(m *protocol.Message) (string, bool) { return m.Path.Channel().String(), true },
		Begin: func(string) Topic { return Topic{} },
		Step:  func(t Topic, d affair.Deed) (Topic, error) { return t.step(recordID, d) },
		At:    Topic.at,
	}
}

// step is the topic after a deed. The error says why the deed is void.
func (t Topic) step(recordID string, d affair.Deed) (Topic, error) {
	switch d.Act {
	case protocol.ActTopic:
		return t.open(recordID, d)
	case protocol.ActJoinRequest:
		return affair.Said(protocol.RequestJoin, Topic.join)(t, d)
	}
	if err := t.partOf(d.Author().Name); err != nil {
		return t, err
	}
	if step := steps[d.Act]; step != nil {
		return step(t, d)
	}
	return t.decide(d)
}

// steps are those of what participants do. All other deeds decide on an item.
var steps = map[protocol.Act]affair.Step[Topic]{
	protocol.ActAgree:      affair.Said(protocol.Agree, Topic.propose),
	protocol.ActValidate:   affair.Said(protocol.Validate, Topic.validate),
	protocol.ActOpen:       affair.Said(protocol.Ask, Topic.ask),
	protocol.ActResolve:    affair.Said(protocol.Resolve, Topic.resolve),
	protocol.ActTeachBack:  affair.Said(protocol.TeachBack, Topic.teach),
	protocol.ActDisagree:   affair.Said(protocol.Disagree, Topic.disagree),
	protocol.ActSyncCheck:  affair.Said(protocol.CheckSync, Topic.check),
	protocol.ActSyncResult: affair.Said(protocol.AnswerSync, Topic.result),
	protocol.ActCheckpoint: affair.Said(protocol.Sum, Topic.sum),
	protocol.ActRatified:   affair.Said(protocol.Ratify, Topic.answerSum),
	protocol.ActAmendment:  affair.Said(protocol.Amend, Topic.answerSum),
	protocol.ActRejected:   affair.Said(protocol.RejectSum, Topic.answerSum),
	protocol.ActClose:      affair.Said(protocol.CloseTopic, Topic.close),
}

// partOf returns an error if `who` cannot do anything in the topic.
func (t Topic) partOf(who string) error {
	switch {
	case t.Opened.IsZero():
		return refusal.New(refusal.Unknown, "open it first", "no topic is open in this channel")
	case !slices.Contains(t.Pair[:], who):
		return refusal.New(refusal.Forbidden, "ask to join it", "%s takes no part in %q, which is between %s and %s", who, t.Name, t.Pair[0], t.Pair[1])
	}
	if c, closed := t.ClosedBy(who); closed {
		return refusal.New(refusal.Forbidden, "open it again: that begins a new term", "%s has closed %q on %s", who, t.Name, c.Time.Format(time.DateOnly))
	}
	return nil
}

// ClosedBy says how `who` closed their side. `ok` is false if they have not.
func (t Topic) ClosedBy(who string) (topic.Word, bool) {
	for _, c := range t.Closed {
		if c.By == who {
			return c, true
		}
	}
	return topic.Word{}, false
}

// Other is the other participant.
func (t Topic) Other(who string) string {
	if who == t.Pair[0] {
		return t.Pair[1]
	}
	return t.Pair[0]
}

// Concerns reports whether `who` has anything to do with the topic, in this term or an earlier one.
// They do if they opened it or did something in it, or if a host signed the opening that serves the
// one who opened it. Otherwise the topic is the word of a stranger, who may write in any name.
func (t Topic) Concerns(who string) bool {
	return t.concerns(who) || slices.ContainsFunc(t.Past, func(past Topic) bool { return past.concerns(who) })
}

// concerns is Concerns for one term.
func (t Topic) concerns(who string) bool {
	_, closed := t.ClosedBy(who)
	if closed || t.Pair[0] == who || t.Items[0].Signed { // the first item came with the opening
		return true
	}
	return slices.ContainsFunc(t.Items, func(it *topic.Item) bool { return it.TouchedBy(who) }) ||
		slices.ContainsFunc(t.Checks, func(c *topic.Check) bool { return c.By == who }) ||
		slices.ContainsFunc(t.Results, func(r *topic.Result) bool { return r.By == who }) ||
		slices.ContainsFunc(t.Checkpoints, func(c *topic.Checkpoint) bool {
			return c.By == who || slices.ContainsFunc(c.Verdicts, func(v topic.Verdict) bool { return v.By == who })
		})
}

// at is the topic at the time `now`: what has run out by then is timed out. Whoever looks observes
// that; it is no answer (R29).
func (t Topic) at(now time.Time) Topic {
	t.Items = affair.Changed(t.Items, func(it *topic.Item) bool { return it.Late(now) }, func(it *topic.Item) {
		it.Stands = each.Of(it.Stands, func(s topic.Stand) topic.Stand { return s.At(now) })
		it.Validations = affair.Changed(it.Validations, func(v *topic.Validation) bool { return v.Late(now) }, func(v *topic.Validation) { v.Stale = true })
	})
	t.Checks = affair.Changed(t.Checks, func(c *topic.Check) bool { return !c.TimedOut && c.Result == nil && !now.Before(c.AnswerBy) }, func(c *topic.Check) { c.TimedOut = true })
	return t
}
