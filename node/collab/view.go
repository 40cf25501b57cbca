package collab

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const statusClosed = "CLOSED"

// between is what is known about two besides one topic.
type between struct {
	sessions     topics.Sessions
	messages     int
	mine, theirs whose // whose the two are
	lambda       topics.Lambda
	host         protocol.Name // the host that serves the other one; "" if it is not known
	cross        bool          // they are served on different hosts
}

// with is what `me` has with `other`. It is asked while the state is read.
func (c *Collab) with(s *fleet.State, me, other string) between {
	b := between{mine: c.soul(s, me, me), theirs: c.soul(s, me, other)}
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
func (b between) decay(at time.Time) topics.Lambda {
	return lambdaOf(b.sessions.Until(at), b.mine, b.theirs)
}

// summary is a topic in the form of a list, as `me` sees it. It is asked while the state is read.
func (c *Collab) summary(s *fleet.State, channel protocol.ChannelID, t topics.Topic, me string, b between) control.Topic {
	now, other := c.Now(), t.Other(me)
	anchor, _ := protocol.ParseAnchor(t.Anchor, "")
	v := control.Topic{
		Me: me, With: other, WithHost: b.host.String(), CrossHost: b.cross, Name: t.Name, Slug: t.Slug.String(), Channel: channel, Derived: t.Derived, Opened: t.Opened.String(),
		OpenedBy: t.Pair[0], Since: t.Since, Terms: len(t.Past) + 1, Anchor: t.Anchor, AnchorURL: anchor.URL(), Status: string(topics.New),
		Lambda: b.lambda.Value, Tier: string(b.lambda.Tier), Awaiting: len(t.Awaiting(me)), Put: len(t.DeferredBy(me)),
		Sparkline: []float64{}, Items: []control.TopicItem{}, Checks: []control.TopicCheck{}, Checkpoints: []control.TopicCheckpoint{},
		Closed: []control.TopicWord{}, Joins: []control.TopicWord{}, Exchanges: []control.TopicWord{}, Void: []control.TopicVoid{},
	}
	if scored := t.Scored(other); len(scored) > 0 {
		last := scored[len(scored)-1]
		raw, _ := last.Raw.Value()
		decayed := b.lambda.Decayed(raw, last.At, now)
		v.Raw, v.Decayed, v.LastSync, v.Mechanical = &raw, &decayed, last.At, last.Mechanical
		v.Status, v.Colour = string(topics.StatusOf(raw)), string(topics.ColourOf(decayed))
		history := t.History(other, b.decay)
		v.Sparkline = append(v.Sparkline, topics.Sparkline(history, now)...)
	}
	for _, closed := range t.Closed {
		v.Closed = append(v.Closed, control.TopicWord{By: closed.By, Time: closed.At, Text: closed.Reason, Path: closed.Path.String()})
		if closed.By == me {
			v.Status = statusClosed
		}
	}
	for _, join := range t.Joins {
		v.Joins = append(v.Joins, control.TopicWord{By: join.By, Time: join.At, Text: join.Reason, Path: join.Path.String()})
	}
	return v
}

// whole is a topic with everything in it.
func (c *Collab) whole(s *fleet.State, channel protocol.ChannelID, t topics.Topic, me string, b between) control.Topic {
	v := c.summary(s, channel, t, me, b)
	v.Items = itemsOf(t)
	for _, check := range t.Checks {
		v.Checks = append(v.Checks, checkOf(s, check))
	}
	for _, cp := range t.Checkpoints {
		v.Checkpoints = append(v.Checkpoints, checkpointOf(cp))
	}
	v.Void = c.void(s, channel)
	v.Exchanges = exchanges(s, t)
	return v
}

func itemsOf(t topics.Topic) []control.TopicItem {
	items := make([]control.TopicItem, len(t.Items))
	for i, it := range t.Items {
		items[i] = itemOf(it)
	}
	return items
}

func itemOf(it *topics.Item) control.TopicItem {
	v := control.TopicItem{
		ID: it.Label.String(), Path: it.Path.String(), Sort: sortName(it.Sort), Text: it.Text(), By: it.By, Time: it.At, Signed: it.Standing == affair.Signed,
		Agreed: it.Agreed(), Stands: []control.TopicStand{}, Earlier: []control.TopicWord{}, Validations: []control.TopicValidation{},
	}
	if it.Sort == topics.Agreement {
		v.Phase = string(it.Shown().Phase)
	}
	for _, st := range it.Stands {
		v.Stands = append(v.Stands, control.TopicStand{
			Who: st.Who, Phase: string(st.Phase), Previous: string(st.Previous), Decided: st.DecidedAt, Path: pathText(st.Deed), Signed: st.Standing == affair.Signed,
			Reason: st.Reason, Until: st.Until, AnswerBy: st.AnswerBy, TimeoutAt: st.TimeoutAt,
		})
	}
	for _, w := range it.Wordings[:len(it.Wordings)-1] {
		v.Earlier = append(v.Earlier, control.TopicWord{By: w.By, Time: w.At, Text: w.Text, Path: w.Path.String()})
	}
	if r := it.Resolved; r != nil {
		v.Resolved = &control.TopicWord{By: r.By, Time: r.At, Text: r.Outcome, Path: r.Path.String()}
	}
	for _, asked := range it.Validations {
		v.Validations = append(v.Validations, control.TopicValidation{
			By: asked.By, Of: asked.Of, Time: asked.At, Milestone: string(asked.Milestone), Answer: pathText(asked.Answer), Holds: asked.Holds, Stale: asked.Stale,
		})
	}
	return v
}

func sortName(sort topics.Sort) string {
	return map[topics.Sort]string{
		topics.Agreement: "agreement", topics.Question: "question", topics.Lesson: "lesson", topics.Dissent: "dissent",
	}[sort]
}

// pathText is a path, "" for none.
func pathText(p protocol.Path) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}

// scoreOf is a score in the form of JSON: null if there is none.
func scoreOf(score protocol.Score) *float64 {
	if x, ok := score.Value(); ok {
		return &x
	}
	return nil
}

// checkOf is a sync-check with its answer. If an answer came without the form, it is named.
func checkOf(s *fleet.State, check *topics.Check) control.TopicCheck {
	v := control.TopicCheck{
		Path: check.Path.String(), By: check.By, Of: check.Of, Time: check.At, AnswerBy: check.AnswerBy, TimedOut: check.TimedOut, Rows: []control.CheckRow{},
	}
	r := check.Result
	if r == nil {
		for _, it := range s.Talk.Answers(check.Path) {
			if it.Author().Name == check.Of && it.Act == protocol.ActReply {
				v.Prose = it.Path.String()
			}
		}
		for _, claim := range check.Claims {
			v.Rows = append(v.Rows, control.CheckRow{ID: claim.Name(), Text: claim.Text, Source: claim.Source})
		}
		return v
	}
	v.Answer, v.Answered, v.Signed, v.Mechanical = r.Path.String(), r.At, r.Standing == affair.Signed, r.Mechanical
	v.Raw, v.Counted, v.Groupthink = scoreOf(r.Raw), r.Counted, r.Groupthink()
	for _, row := range r.Rows {
		v.Rows = append(v.Rows, control.CheckRow{
			ID: row.Name(), Text: row.Text, Source: row.Source, Score: scoreOf(row.Score), Decision: string(row.Decision), Evidence: row.Evidence, Flag: string(row.Flag),
		})
	}
	return v
}

func checkpointOf(cp *topics.Checkpoint) control.TopicCheckpoint {
	v := control.TopicCheckpoint{
		Path: cp.Path.String(), By: cp.By, Time: cp.At, Summary: cp.Summary, Mechanical: cp.Mechanical, Agreements: cp.Agreements, Pending: cp.Pending,
		Score: scoreOf(cp.Score), State: "pending", Verdicts: []control.TopicWord{},
	}
	v.Ratified, _ = cp.RatifiedAt()
	for _, said := range cp.Verdicts {
		v.Verdicts = append(v.Verdicts, control.TopicWord{By: said.By, Time: said.At, Text: said.Text, Path: said.Path.String()})
		v.State = string(said.Act)
	}
	return v
}

// maxVoid and maxExchanges bound what a topic shows besides its deeds that count. These are the
// last ones.
const (
	maxVoid      = 20
	maxExchanges = 10
	maxLooked    = 2000 // how many messages are looked through for them
)

// void are the last messages in a topic's channel that do not count.
func (c *Collab) void(s *fleet.State, channel protocol.ChannelID) []control.TopicVoid {
	list := []control.TopicVoid{}
	deeds, looked := c.kind.Deeds(), 0
	for it := range s.Ledger.ChannelBackward(channel) {
		if looked++; looked > maxLooked {
			break
		}
		if it.Type != protocol.TypeText || !slices.Contains(deeds, it.Act) {
			continue
		}
		if why := s.Void(it); why != nil {
			list = append(list, control.TopicVoid{
				TopicWord: control.TopicWord{By: it.From, Time: it.Timestamp, Path: it.Path.String()}, Act: it.Act, Why: why.Error(),
			})
			if len(list) == maxVoid {
				break
			}
		}
	}
	slices.Reverse(list)
	return list
}

// exchanges are the last messages that the two of a topic have written to each other since it was
// opened, besides their deeds.
func exchanges(s *fleet.State, t topics.Topic) []control.TopicWord {
	list := []control.TopicWord{}
	channel, err := s.Between(fleet.Who{Name: t.Pair[0]}, t.Pair[1])
	if err != nil {
		return list
	}
	looked := 0
	for it := range s.Ledger.ChannelBackward(channel) {
		if it.Timestamp.Before(t.Since) || len(list) == maxExchanges || looked == maxLooked {
			break
		}
		looked++
		if it.Type == protocol.TypeText && slices.Contains(t.Pair[:], it.Author().Name) {
			list = append(list, control.TopicWord{By: it.Author().Name, Time: it.Timestamp, Path: it.Path.String()})
		}
	}
	slices.Reverse(list)
	return list
}
