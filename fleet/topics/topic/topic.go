// Package topic has the values of topics that are shown as they are. They follow from the record
// alone, and the rules that make them are in fleet/topics.
package topic

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Head is what a topic is, without what is in it.
type Head struct {
	Opened protocol.Path `json:"opened"`         // the message that opened this term; "" if the topic is not open
	Name   string        `json:"name"`           // the name of the topic
	Slug   protocol.Slug `json:"slug"`           // the short form of the name, as in file names
	Since  time.Time     `json:"since,omitzero"` // when this term was opened, UTC
	Anchor string        `json:"anchor"`         // its issue; "" for none
	// Derived says that its channel follows from the two and the name. Otherwise somebody has chosen
	// it by hand, and to work in it one opens the topic anew.
	Derived bool   `json:"derived"`
	Closed  []Word `json:"closed"` // who has closed their side
	Joins   []Word `json:"joins"`  // who has asked to take part
}

// Word is something that somebody said.
type Word struct {
	By   string        `json:"by"`            // who
	Time time.Time     `json:"time,omitzero"` // UTC
	Text string        `json:"text"`          // "" if nothing was said
	Path protocol.Path `json:"path"`          // the message
}

// Sort is what an item of a topic is.
type Sort string

// The sorts of items.
const (
	Agreement Sort = "agreement" // each of the two decides on it
	Question  Sort = "question"  // open until somebody resolves it
	Lesson    Sort = "lesson"    // what its author learned from the other one
	Dissent   Sort = "dissent"   // what its author sees differently
)

// Prefix is the letter with which labels of the sort begin.
func (s Sort) Prefix() string {
	return map[Sort]string{Agreement: "A", Question: "P", Lesson: "T", Dissent: "D"}[s]
}

// Item is one thing of a topic: an agreement (A1), an open question (P1), a lesson (T1) or a
// difference (D1). The message that brought it identifies it (R61). It does not change.
type Item struct {
	Label    protocol.Label `json:"id"`            // the label that no other item of the term has
	Path     protocol.Path  `json:"path"`          // the message that brought it
	Sort     Sort           `json:"sort"`          // what it is
	By       string         `json:"by"`            // who brought it
	Time     time.Time      `json:"time,omitzero"` // UTC
	Signed   bool           `json:"signed"`        // by a host that declares its author
	Stated   protocol.Label `json:"-"`             // the label in its message, which another item's message may have too
	Wordings []Word         `json:"-"`             // the last one stands

	Stands      []Stand       `json:"stands"`             // of an agreement: where each of the two stands, in their order
	Log         []Decision    `json:"-"`                  // what was decided, in the order of the record
	Validations []*Validation `json:"validations"`        // when it was asked whether it still holds
	Resolved    *Word         `json:"resolved,omitempty"` // how it was settled; absent if it is open
}

// Text is what the item says now.
func (it *Item) Text() string { return it.Wordings[len(it.Wordings)-1].Text }

// Ref is the item as a message names it.
func (it *Item) Ref() protocol.ItemRef { return protocol.ItemRef{Label: it.Label, Text: it.Text()} }

// TouchedBy reports whether `who` brought the item, decided on it, asked about it or settled it.
func (it *Item) TouchedBy(who string) bool {
	return it.By == who || it.Resolved != nil && it.Resolved.By == who ||
		slices.ContainsFunc(it.Log, func(d Decision) bool { return d.Who == who }) ||
		slices.ContainsFunc(it.Validations, func(v *Validation) bool { return v.By == who })
}

// Phase is where a participant stands on an agreement (seed, "Commit Phases").
type Phase string

// The five phases. A timeout is observed, and it is no refusal.
const (
	Pending  Phase = "pending"
	Accepted Phase = "accept"
	Rejected Phase = "reject"
	Deferred Phase = "defer"
	TimedOut Phase = "timeout"
)

// settled has the phases from the least settled one to the most settled one. An agreement shows the
// least settled of its two phases (R60).
var settled = []Phase{Rejected, TimedOut, Deferred, Pending, Accepted}

// Stand is where one of the two participants stands on an agreement.
type Stand struct {
	Who       string        `json:"who"`                 // the participant
	Phase     Phase         `json:"phase"`               // where they stand
	Previous  Phase         `json:"previous"`            // the phase before; "" for none
	Path      protocol.Path `json:"path"`                // the decision; "" if there is none
	Decided   time.Time     `json:"decided,omitzero"`    // UTC
	Signed    bool          `json:"signed"`              // by a host that declares its author
	Reason    string        `json:"reason"`              // the reason, or what an acceptance changes
	Until     time.Time     `json:"until,omitzero"`      // of a deferral
	AnswerBy  time.Time     `json:"answer_by,omitzero"`  // if it is pending: until when an answer is waited for
	TimeoutAt time.Time     `json:"timeout_at,omitzero"` // when the time had run out: this is observed, and no refusal
	Committed bool          `json:"-"`                   // the participant has accepted the item at some time
}

// Decision is one step of somebody's stand.
type Decision struct {
	Path     protocol.Path
	Who      string
	Time     time.Time
	Act      protocol.Act
	From, To Phase
	Reason   string
	Until    time.Time
}

// At is the stand at the time `now`.
func (s Stand) At(now time.Time) Stand {
	end := s.AnswerBy
	switch s.Phase {
	case Deferred:
		end = s.Until
	case Pending:
	default:
		return s
	}
	if end.IsZero() || now.Before(end) {
		return s
	}
	s.Previous, s.Phase, s.TimeoutAt = s.Phase, TimedOut, end
	return s
}

// Late reports whether something of the item has run out at the time `now`, and is not noted yet.
func (it *Item) Late(now time.Time) bool {
	return slices.ContainsFunc(it.Stands, func(s Stand) bool { return s.At(now) != s }) ||
		slices.ContainsFunc(it.Validations, func(v *Validation) bool { return v.Late(now) })
}

// Stand is where `who` stands on the agreement.
func (it *Item) Stand(who string) Stand {
	for _, s := range it.Stands {
		if s.Who == who {
			return s
		}
	}
	return Stand{Who: who, Phase: Pending}
}

// Shown is the stand that is shown for the agreement as a whole: the least settled one. If both are
// equal, it is that of the name that comes first (R60).
func (it *Item) Shown() Stand {
	shown := it.Stands[0]
	for _, s := range it.Stands[1:] {
		a, b := slices.Index(settled, s.Phase), slices.Index(settled, shown.Phase)
		if a < b || a == b && s.Who < shown.Who {
			shown = s
		}
	}
	return shown
}

// Agreed reports whether all participants whom the agreement binds have accepted it. Until then it
// is speculative.
func (it *Item) Agreed() bool {
	return it.Sort == Agreement && !slices.ContainsFunc(it.Stands, func(s Stand) bool { return s.Phase != Accepted })
}

// Asked reports whether `who` is asked whether the item still holds, and has not answered.
func (it *Item) Asked(who string) bool {
	return slices.ContainsFunc(it.Validations, func(v *Validation) bool { return v.Of == who && v.Answer.IsZero() })
}

// Validation is a question to one participant whether what it accepted still holds (seed,
// "Silent Revoke Detection"). It does not change.
type Validation struct {
	Path      protocol.Path      `json:"path"`               // the message that asks
	By        string             `json:"by"`                 // who asks
	Of        string             `json:"of"`                 // who is asked
	Time      time.Time          `json:"time,omitzero"`      // UTC
	Milestone protocol.Milestone `json:"milestone"`          // the reason for asking at that time
	AnswerBy  time.Time          `json:"answer_by,omitzero"` // until when an answer is waited for
	Answer    protocol.Path      `json:"answer"`             // the message with the answer; "" if there is none
	Holds     bool               `json:"holds"`              // the agreement still holds
	Stale     bool               `json:"stale"`              // no answer came in time: the agreement should be revoked or accepted anew
}

// Waits reports whether an answer of `who` to the question is waited for at that time.
func (v *Validation) Waits(who string, at time.Time) bool {
	return v.Of == who && v.Answer.IsZero() && at.Before(v.AnswerBy)
}

// Late reports whether the time for an answer has run out at the time `now`, and that is not noted yet.
func (v *Validation) Late(now time.Time) bool {
	return !v.Stale && v.Answer.IsZero() && !now.Before(v.AnswerBy)
}

// Checkpoint is a summary of a topic that outlasts a compaction of an agent's context. It does not
// change.
type Checkpoint struct {
	Path       protocol.Path  `json:"path"`          // the message
	By         string         `json:"by"`            // who wrote it
	Time       time.Time      `json:"time,omitzero"` // UTC
	Signed     bool           `json:"signed"`        // by a host that declares its author
	Summary    string         `json:"summary"`       // the words
	Mechanical bool           `json:"mechanical"`    // a program listed what was decided, and no agent wrote it
	Agreements int            `json:"agreements"`    // agreements that both had accepted then
	Pending    int            `json:"pending"`       // questions that were open then
	Score      protocol.Score `json:"score"`         // raw score of the last check before it, whoever answered
	Verdicts   []Verdict      `json:"verdicts"`      // what the other participant said, in the order of the record; the last one stands
}

// Verdict is what the other participant said to a checkpoint.
type Verdict struct {
	Word
	Act protocol.Act `json:"act"` // ratified, amendment or rejected
}

// Ratified is when the other participant ratified the checkpoint; zero if their last word is
// another one.
func (c *Checkpoint) Ratified() time.Time {
	if len(c.Verdicts) == 0 || c.Verdicts[len(c.Verdicts)-1].Act != protocol.ActRatified {
		return time.Time{}
	}
	return c.Verdicts[len(c.Verdicts)-1].Time
}
