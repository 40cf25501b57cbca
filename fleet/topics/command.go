package topics

import (
	"cmp"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// Speaker is the participant of a topic who does something in it. Its methods are the commands of
// topics. Each gives one or more deeds, or a refusal with the reason why such a deed would be void.
type Speaker struct {
	Record string // the record's id
	Me     string
	With   string
	Topic  string        // its name, or its slug
	Human  string        // the human who had it done (R59); may be empty
	Host   protocol.Name // the host of that human; may be empty if there is none
}

// Channel is the channel of the topic.
func (s Speaker) Channel() (protocol.ChannelID, error) {
	slug, err := protocol.SlugOf(s.Topic)
	if err != nil {
		return "", refusal.New(refusal.Senseless, "", "%s", err)
	}
	return protocol.TopicChannel(s.Record, s.Me, s.With, slug), nil
}

// deed is an act with its words, and the message that it answers.
type deed struct {
	act  protocol.Act
	re   protocol.Path
	body string
}

// command makes a command that gives deeds of the topic. Each deed is tried on the value first, and
// what would be void is refused.
func (s Speaker) command(decide func(t Topic, head protocol.FormHead) ([]deed, error)) affair.Command {
	kind := Kind(s.Record)
	channel, err := s.Channel()
	return kind.Command(channel.String(), func(t Topic, now time.Time) ([]affair.Draft, error) {
		if err != nil {
			return nil, err
		}
		now = now.UTC().Truncate(time.Millisecond)
		deeds, err := decide(t, protocol.FormHead{From: s.Me, At: now})
		if err != nil {
			return nil, err
		}
		var drafts []affair.Draft
		for _, d := range deeds {
			m := protocol.Message{To: []protocol.Address{{Name: s.other(t)}}, Act: d.act, Body: d.body}
			if !d.re.IsZero() {
				m.Re = protocol.Refer(channel, d.re)
			}
			one, err := kind.Does(s.actor(), t, m, channel, now)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, one...)
		}
		return drafts, nil
	})
}

func (s Speaker) actor() affair.Actor {
	return affair.Actor{Record: s.Record, Me: s.Me, Host: s.Host, Human: s.Human}
}

func (s Speaker) other(t Topic) string {
	if t.Pair[0] != "" && slices.Contains(t.Pair[:], s.Me) {
		return t.Other(s.Me)
	}
	return s.With
}

// Open opens the topic, or loads it if it is open; see Topic.open. The anchor may be empty.
func (s Speaker) Open(anchor string) affair.Command {
	return s.command(func(t Topic, head protocol.FormHead) ([]deed, error) {
		_, closed := t.ClosedBy(s.Me)
		named := anchor == "" || anchor == t.Anchor && (s.Human == "" || slices.Contains(t.Named, Naming{s.Human, s.Host}))
		if !t.Opened.IsZero() && t.Derived && !closed && protocol.SameTopic(t.Name, s.Topic) && named {
			return nil, nil // the topic is open, and there is nothing to say
		}
		if slug, err := protocol.SlugOf(s.Topic); err == nil && t.Opened.IsZero() {
			if err := protocol.CheckFileName(slug.String()); err != nil {
				return nil, refusal.New(refusal.Senseless, "choose another name", "cannot open the topic: %s", err)
			}
		}
		head.With, head.Topic = s.With, s.Topic
		if !t.Opened.IsZero() && protocol.SameTopic(t.Name, s.Topic) {
			head.Topic = t.Name
		}
		return []deed{{act: protocol.ActTopic, body: protocol.OpenTopic.Format(protocol.Opening{FormHead: head, Anchor: anchor})}}, nil
	})
}

// Close closes the speaker's side of the topic.
func (s Speaker) Close(reason string) affair.Command {
	return s.about(protocol.ActClose, func(_ Topic, head protocol.FormHead) (string, error) {
		return protocol.CloseTopic.Format(protocol.Closing{FormHead: head, Reason: reason}), nil
	})
}

// Join asks the two participants of a topic, `one` and s.With, to let the speaker take part.
func (s Speaker) Join(one string, reason string) affair.Command {
	asker := s.actor()
	s.Me = one // the channel is that of the two participants
	channel, err := s.Channel()
	kind := Kind(s.Record)
	return kind.Command(channel.String(), func(t Topic, now time.Time) ([]affair.Draft, error) {
		if err != nil {
			return nil, err
		}
		now = now.UTC().Truncate(time.Millisecond)
		body := protocol.RequestJoin.Format(protocol.JoinRequest{FormHead: protocol.FormHead{From: asker.Me, Topic: t.Name, At: now}, Reason: reason})
		return kind.Does(asker, t, protocol.Message{To: []protocol.Address{{Name: one}, {Name: s.With}}, Act: protocol.ActJoinRequest, Body: body}, channel, now)
	})
}

func (s Speaker) about(act protocol.Act, body func(t Topic, head protocol.FormHead) (string, error)) affair.Command {
	return s.command(func(t Topic, head protocol.FormHead) ([]deed, error) {
		head.Topic = t.Name
		text, err := body(t, head)
		return []deed{{act: act, body: text}}, err
	})
}

// Agree proposes an agreement. Silence within `window` is no timeout; zero: the usual time.
func (s Speaker) Agree(text string, window time.Duration) affair.Command {
	return s.about(protocol.ActAgree, func(t Topic, head protocol.FormHead) (string, error) {
		return protocol.Agree.Format(protocol.Proposal{
			FormHead: head, Item: protocol.ItemRef{Label: t.Next(topic.Agreement), Text: text}, AnswerBy: head.At.Add(cmp.Or(window, Window)),
		}), nil
	})
}

// Ask puts a question on the list.
func (s Speaker) Ask(text string) affair.Command {
	return s.about(protocol.ActOpen, func(t Topic, head protocol.FormHead) (string, error) {
		return protocol.Ask.Format(protocol.OpenQuestion{FormHead: head, Item: protocol.ItemRef{Label: t.Next(topic.Question), Text: text}}), nil
	})
}

// Teach says what the speaker learned from the other participant.
func (s Speaker) Teach(learned string) affair.Command {
	return s.about(protocol.ActTeachBack, func(t Topic, head protocol.FormHead) (string, error) {
		return protocol.TeachBack.Format(protocol.Lesson{FormHead: head, Label: t.Next(topic.Lesson), Learned: learned}), nil
	})
}

// Disagree says what the speaker sees differently.
func (s Speaker) Disagree(position string) affair.Command {
	return s.about(protocol.ActDisagree, func(t Topic, head protocol.FormHead) (string, error) {
		return protocol.Disagree.Format(protocol.Dissent{FormHead: head, Label: t.Next(topic.Dissent), Position: position}), nil
	})
}

func (s Speaker) on(item string, act protocol.Act, body func(it *topic.Item, head protocol.FormHead) string) affair.Command {
	return s.command(func(t Topic, head protocol.FormHead) ([]deed, error) {
		if err := t.partOf(s.Me); err != nil {
			return nil, err
		}
		it, err := t.Find(protocol.ParseItemRef(item))
		if err != nil {
			return nil, err
		}
		return []deed{{act, it.Path, body(it, head)}}, nil
	})
}

// Resolve settles a question.
func (s Speaker) Resolve(item, outcome string) affair.Command {
	return s.on(item, protocol.ActResolve, func(it *topic.Item, head protocol.FormHead) string {
		return protocol.Resolve.Format(protocol.Resolution{FormHead: head, Item: it.Ref(), Outcome: outcome})
	})
}

// Accept commits the speaker to an agreement.
func (s Speaker) Accept(item, commitment string) affair.Command {
	return s.on(item, protocol.ActAccept, func(it *topic.Item, head protocol.FormHead) string {
		return protocol.Accept.Format(protocol.Acceptance{FormHead: head, Item: it.Ref(), Commitment: commitment})
	})
}

// Reject declines an agreement. It needs a reason.
func (s Speaker) Reject(item, reason string) affair.Command {
	return s.on(item, protocol.ActReject, func(it *topic.Item, head protocol.FormHead) string {
		return protocol.Reject.Format(protocol.Rejection{FormHead: head, Item: it.Ref(), Reason: reason})
	})
}

// Defer puts off the decision on an item. If `item` is empty, it puts off all decisions for which
// the speaker is waited for. If `until` is zero, it is a day from now.
func (s Speaker) Defer(item, reason string, until time.Time) affair.Command {
	body := func(it *topic.Item, head protocol.FormHead) string {
		if until.IsZero() {
			until = head.At.Add(DeferFor)
		}
		return protocol.Defer.Format(protocol.Deferral{FormHead: head, Item: it.Ref(), Until: until, Reason: reason})
	}
	if item != "" {
		return s.on(item, protocol.ActDefer, body)
	}
	return s.command(func(t Topic, head protocol.FormHead) ([]deed, error) {
		if err := t.partOf(s.Me); err != nil {
			return nil, err
		}
		var deeds []deed
		for _, it := range t.Awaiting(s.Me) {
			deeds = append(deeds, deed{protocol.ActDefer, it.Path, body(it, head)})
		}
		if deeds == nil {
			return nil, refusal.New(refusal.Unknown, "", "no item of %q awaits a decision of %s", t.Name, s.Me)
		}
		return deeds, nil
	})
}

// Revoke takes a decision back. It needs a reason. The item is open again for the time `window`.
func (s Speaker) Revoke(item, reason string, window time.Duration) affair.Command {
	return s.on(item, protocol.ActRevoke, func(it *topic.Item, head protocol.FormHead) string {
		return protocol.Revoke.Format(protocol.Withdrawal{FormHead: head, Item: it.Ref(), Reason: reason, AnswerBy: head.At.Add(cmp.Or(window, Window))})
	})
}

// ReAccept commits the speaker anew. If `text` is not empty, these are the item's new words, and
// the other participant has the time `window` to decide on them.
func (s Speaker) ReAccept(item, text, changes string, window time.Duration) affair.Command {
	return s.on(item, protocol.ActReAccept, func(it *topic.Item, head protocol.FormHead) string {
		renewal := protocol.Renewal{
			FormHead: head, Item: protocol.ItemRef{Label: it.Label, Text: cmp.Or(text, it.Text())}, Previous: it.Text(), Changes: changes,
		}
		if !sameWords(renewal.Item.Text, renewal.Previous) {
			renewal.AnswerBy = head.At.Add(cmp.Or(window, Window))
		}
		return protocol.ReAccept.Format(renewal)
	})
}

// Validate asks the other participant whether an item still holds.
func (s Speaker) Validate(item string, m protocol.Milestone, window time.Duration) affair.Command {
	return s.on(item, protocol.ActValidate, func(it *topic.Item, head protocol.FormHead) string {
		return protocol.Validate.Format(protocol.Validation{FormHead: head, Item: it.Ref(), Milestone: m, AnswerBy: head.At.Add(cmp.Or(window, Window))})
	})
}

// maxCheck is how long a check that quotes others may be, in bytes. No words are kept of a deed
// that is longer than 64 KiB.
const maxCheck = 60 << 10

// Check puts all claims of the topic to the other participant, and those in `extra`, which are made
// for this check alone. `heard` is what the speaker has read on the anchored issue. What others said
// there is left out if the check would become too long.
func (s Speaker) Check(extra []string, window time.Duration, heard protocol.Heard) affair.Command {
	return s.about(protocol.ActSyncCheck, func(t Topic, head protocol.FormHead) (string, error) {
		claims := t.Claims()
		for i, text := range extra {
			claims = append(claims, protocol.Claim{ItemRef: protocol.ItemRef{Label: protocol.Label(ordinal("C", i+1)), Text: text}})
		}
		check := protocol.SyncCheck{
			FormHead: head, Collaboration: s.Me + "↔" + s.other(t), Claims: claims, AnswerBy: head.At.Add(cmp.Or(window, Window)), Heard: heard,
		}
		text := protocol.CheckSync.Format(check)
		if len(text) > maxCheck {
			check.Said = ""
			text = protocol.CheckSync.Format(check)
		}
		return text, nil
	})
}

// Answer answers a check. `mark` is protocol.Mechanical if no agent wrote the answer.
func (s Speaker) Answer(check protocol.Path, rows []protocol.SyncRow, mark string) affair.Command {
	return s.command(func(_ Topic, head protocol.FormHead) ([]deed, error) {
		head.Mark = mark
		return []deed{{protocol.ActSyncResult, check, protocol.AnswerSync.Format(protocol.SyncResult{FormHead: head, Rows: rows})}}, nil
	})
}

// Checkpoint sums the topic up. `mark` is protocol.Mechanical if no agent wrote the summary.
func (s Speaker) Checkpoint(summary, mark string) affair.Command {
	return s.about(protocol.ActCheckpoint, func(_ Topic, head protocol.FormHead) (string, error) {
		head.Mark = mark
		return protocol.Sum.Format(protocol.Checkpoint{FormHead: head, Summary: summary}), nil
	})
}

// Judge answers a checkpoint of the other participant by one of the acts ratified, amendment and
// rejected. If the path is zero, it answers their last one.
func (s Speaker) Judge(checkpoint protocol.Path, act protocol.Act, text string) affair.Command {
	return s.command(func(t Topic, head protocol.FormHead) ([]deed, error) {
		head.Topic = t.Name
		says := protocol.Ratify
		switch act {
		case protocol.ActAmendment:
			says = protocol.Amend
		case protocol.ActRejected:
			says = protocol.RejectSum
		}
		if checkpoint.IsZero() {
			if i := len(t.Checkpoints) - 1; i >= 0 {
				checkpoint = t.Checkpoints[i].Path
			}
			for _, c := range t.Checkpoints {
				if c.By != s.Me {
					checkpoint = c.Path
				}
			}
		}
		return []deed{{act, checkpoint, says.Format(protocol.Verdict{FormHead: head, Text: text})}}, nil
	})
}
