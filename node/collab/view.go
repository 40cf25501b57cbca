package collab

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// between is what is known about two besides one topic.
type between struct {
	sessions     topic.Sessions
	messages     int
	mine, theirs whose // whose the two are
	lambda       topic.Lambda
	host         protocol.Name // the host that serves the other one; "" if it is not known
	cross        bool          // they are served on different hosts
}

// with is what `me` has with `other`. It is asked while the state is read.
func (c *Collab) with(s *fleet.State, me, other string) between {
	b := between{mine: c.friends.soul(s, me, me), theirs: c.friends.soul(s, me, other)}
	b.sessions, b.messages = c.contacts.between(s, me, other)
	// If several hosts serve both, it is the first one and not the one that is asked, so that every
	// host shows the same.
	mine, theirs := s.People.ServedOn(me), s.People.ServedOn(other)
	if i := slices.IndexFunc(theirs, func(host protocol.Name) bool { return slices.Contains(mine, host) }); i >= 0 {
		b.host = theirs[i]
	} else if len(theirs) > 0 {
		b.host, b.cross = theirs[0], true
	}
	b.lambda = lambdaOf(len(b.sessions), b.mine, b.theirs)
	return b
}

// decay is the decay between the two as it was at that time.
func (b between) decay(at time.Time) topic.Lambda {
	return lambdaOf(b.sessions.Until(at), b.mine, b.theirs)
}

// summary is a topic in the form of a list, as `me` sees it. It is asked while the state is read.
func (c *Collab) summary(s *fleet.State, channel protocol.ChannelID, t topics.Topic, me string, b between) control.Topic {
	now, other := c.Now(), t.Other(me)
	anchor, _ := protocol.ParseAnchor(t.Anchor, "")
	v := control.Topic{
		Head: t.Head, Me: me, With: other, WithHost: b.host.String(), CrossHost: b.cross, Channel: channel, OpenedBy: t.Pair[0], Terms: len(t.Past) + 1,
		AnchorURL: anchor.URL(), Status: topic.New, Lambda: b.lambda, Awaiting: len(t.Awaiting(me)), Put: len(t.DeferredBy(me)),
	}
	if scored := t.Scored(other); len(scored) > 0 {
		last := scored[len(scored)-1]
		v.Raw, v.Decayed, v.LastSync, v.Mechanical = last.Raw, b.lambda.Worth(last.Raw, last.Time, now), last.Time, last.Mechanical
		v.Unverified = !last.Signed
		v.Status, v.Colour = topic.StatusOf(v.Raw), topic.ColourOf(v.Decayed)
		v.Sparkline = topic.Sparkline(t.History(other, b.decay), now)
	}
	if _, closed := t.ClosedBy(me); closed {
		v.Status = topic.Closed
	}
	return v
}

func (c *Collab) whole(s *fleet.State, channel protocol.ChannelID, t topics.Topic, me string, b between) control.Topic {
	v := c.withItems(s, channel, t, me, b)
	for _, check := range t.Checks {
		v.Checks = append(v.Checks, checkOf(s, check))
	}
	v.Void = Void(s, channel, c.kind.Deeds())
	v.Exchanges = c.exchanges(s, t)
	return v
}

// withItems is a topic with what was agreed, asked and summed up in it.
func (c *Collab) withItems(s *fleet.State, channel protocol.ChannelID, t topics.Topic, me string, b between) control.Topic {
	v := c.summary(s, channel, t, me, b)
	v.Items = itemsOf(t)
	for _, cp := range t.Checkpoints {
		v.Checkpoints = append(v.Checkpoints, checkpointOf(cp))
	}
	return v
}

func itemsOf(t topics.Topic) []control.TopicItem {
	items := make([]control.TopicItem, len(t.Items))
	for i, it := range t.Items {
		items[i] = control.TopicItem{Item: *it, Text: it.Text(), Agreed: it.Agreed(), Earlier: it.Wordings[:len(it.Wordings)-1]}
		if it.Sort == topic.Agreement {
			items[i].Phase = it.Shown().Phase
		}
	}
	return items
}

func checkpointOf(cp *topic.Checkpoint) control.TopicCheckpoint {
	v := control.TopicCheckpoint{Checkpoint: *cp, Ratified: cp.Ratified(), State: "pending"}
	if n := len(cp.Verdicts); n > 0 {
		v.State = cp.Verdicts[n-1].Act
	}
	return v
}

// checkOf is a sync-check with its answer. If an answer came without the form, it is named.
func checkOf(s *fleet.State, check *topic.Check) control.TopicCheck {
	v := control.TopicCheck{Check: *check}
	if r := check.Result; r != nil {
		v.Answer, v.Answered, v.Signed, v.Mechanical = r.Path, r.Time, r.Signed, r.Mechanical
		v.Raw, v.Counted, v.Groupthink, v.Rows = r.Raw, r.Counted, r.Groupthink(), r.Rows
		return v
	}
	for _, it := range s.Talk.Answers(check.Path) {
		if it.Author().Name == check.Of && it.Act == protocol.ActReply {
			v.Prose = it.Path
		}
	}
	for _, claim := range check.Claims {
		v.Rows = append(v.Rows, topic.Row{ClaimOf: claim})
	}
	return v
}

// maxVoid and maxExchanges bound what is shown besides deeds that count. These are the
// last ones. maxLine bounds the first line of each message, in bytes.
const (
	maxVoid      = 20
	maxExchanges = 10
	maxLine      = 200
	maxLooked    = 2000 // how many messages are looked through for them
)

// Void are the last messages in a channel that were meant as one of these deeds and do not count.
func Void(s *fleet.State, channel protocol.ChannelID, deeds []protocol.Act) (list []control.TopicVoid) {
	looked := 0
	for it := range s.Ledger.ChannelBackward(channel) {
		if looked++; looked > maxLooked {
			break
		}
		if it.Type != protocol.TypeText || !slices.Contains(deeds, it.Act) {
			continue
		}
		if why := s.Void(it); why != nil {
			list = append(list, control.TopicVoid{
				Word: topic.Word{By: it.From, Time: it.Timestamp, Path: it.Path}, Act: it.Act, Why: why.Error(),
			})
			if len(list) == maxVoid {
				break
			}
		}
	}
	slices.Reverse(list)
	return list
}

// talkOf is the channel in which the two of a topic write to each other besides it.
func (c *Collab) talkOf(t topics.Topic) protocol.ChannelID {
	return protocol.DeriveChannel(c.RecordID, t.Pair[:]...)
}

// exchanges are the last messages that the two of a topic have written to each other since it was
// opened, besides their deeds. Their texts are in the record, see quote.
func (c *Collab) exchanges(s *fleet.State, t topics.Topic) []topic.Word {
	list := []topic.Word{}
	looked := 0
	for it := range s.Ledger.ChannelBackward(c.talkOf(t)) {
		if it.Timestamp.Before(t.Since) || len(list) == maxExchanges || looked == maxLooked {
			break
		}
		looked++
		if it.Type == protocol.TypeText && slices.Contains(t.Pair[:], it.Author().Name) && !slices.Contains(c.kind.Deeds(), it.Act) && s.Signature(it) != protocol.SignatureRefused {
			list = append(list, topic.Word{By: it.Author().Name, Time: it.Timestamp, Path: it.Path})
		}
	}
	slices.Reverse(list)
	return list
}

// quote gives exchanges the first lines of their messages, which it reads from the record.
func (c *Collab) quote(talk []topic.Word) {
	for i := range talk {
		m, err := c.Show(context.Background(), control.ShowRequest{Path: talk[i].Path.String()})
		if err != nil { // its file is damaged, which the record's own check says
			continue
		}
		text, _, more := strings.Cut(strings.TrimSpace(m.Body), "\n")
		if len(text) > maxLine {
			text, more = strings.ToValidUTF8(text[:maxLine], ""), true
		}
		if more {
			text += " …"
		}
		if m.Signature != protocol.SignatureValid {
			text += " (unverified)"
		}
		talk[i].Text = text
	}
}
