package collab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

type found struct {
	channel protocol.ChannelID
	topic   topics.Topic
}

// of are the topics of `me`. If `with` is not empty, they are those with that partner. Topics that
// `me` has closed are only among them if `closed` is true. The one in which something was done last
// comes first. It is asked while the state is read.
func (c *Collab) of(s *fleet.State, me, with string, closed bool) (all []found) {
	for channel, t := range c.all(s) {
		_, over := t.ClosedBy(me)
		if slices.Contains(t.Pair[:], me) && (with == "" || t.Other(me) == with) && (closed || !over) {
			all = append(all, found{channel, t})
		}
	}
	type name struct {
		other string
		slug  protocol.Slug
	}
	derived := map[name]bool{}
	for _, f := range all {
		if f.topic.Derived {
			derived[name{f.topic.Other(me), f.topic.Slug}] = true
		}
	}
	seen := map[name]bool{}
	all = slices.DeleteFunc(all, func(f found) bool { // if there are several in channels chosen by hand, the first one
		n := name{f.topic.Other(me), f.topic.Slug}
		again := !f.topic.Derived && (derived[n] || seen[n])
		seen[n] = true
		return again
	})
	last := map[protocol.ChannelID]int64{}
	for _, f := range all {
		_, _, at := s.Ledger.Said(f.channel)
		last[f.channel] = at.UnixNano()
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(last[b.channel], last[a.channel]) })
	return all
}

// Topics answers control.Topics.
func (c *Collab) Topics(ctx context.Context, by control.Caller, r control.TopicsRequest) (control.TopicList, error) {
	list := control.TopicList{Topics: []control.Topic{}}
	if !r.Fleet {
		who, err := c.Viewing(by, r.Viewing)
		if err != nil {
			return list, err
		}
		list.Me, list.Chosen = who.Me, who.Chosen
	} else {
		for _, a := range c.Agents() {
			c.friends.look(a.Name.String())
		}
	}
	var err error
	c.ahead(ctx)
	c.Folded(func(s *fleet.State) {
		if r.With != "" {
			if err = c.known(s, r.With); err != nil {
				return
			}
		}
		pairs := map[pair]between{}
		add := func(f found, me string) {
			other := f.topic.Other(me)
			two := pair{me, other} // not in their order, because the host is that of `other`
			b, known := pairs[two]
			if !known {
				b = c.with(s, me, other)
				pairs[two] = b
			}
			show := c.summary
			if r.Items {
				show = c.withItems
			}
			list.Topics = append(list.Topics, show(s, f.channel, f.topic, me, b))
		}
		if !r.Fleet {
			for _, f := range c.of(s, list.Me, r.With, r.Closed) {
				add(f, list.Me)
			}
			return
		}
		for channel, t := range c.all(s) {
			if len(t.Closed) < 2 || r.Closed {
				add(found{channel, t}, t.Pair[0])
			}
		}
	})
	return list, err
}

// known returns an error for a partner of whom neither the fleet nor a topic has ever heard.
func (c *Collab) known(s *fleet.State, with string) error {
	err := s.People.Check(with)
	if err == nil {
		return nil
	}
	for _, t := range c.all(s) {
		if slices.Contains(t.Pair[:], with) {
			return nil
		}
	}
	return writing.Problem("look for "+with, err)
}

// find is the topic of two that a request names, by its name or its short form. Without a name, it
// is the only one that is open. It is asked while the state is read.
func (c *Collab) find(s *fleet.State, me, with, name string) (found, error) {
	if name != "" {
		speaker := topics.Speaker{Record: c.RecordID, Me: me, With: with, Topic: name}
		channel, err := speaker.Channel()
		if err != nil {
			return found{}, writing.Problem("find the topic", err)
		}
		switch t := c.topic(s, channel.String(), c.policy(s)); {
		case t.Opened.IsZero() || !t.Derived: // words of another pair in this channel are no topic of these two
		case protocol.SameTopic(t.Name, name) || t.Slug.String() == name:
			return found{channel, t}, nil
		default:
			return found{}, control.Errorf(control.KindConflict, "give the new one another name", "the short form of %q is that of %q too, which is open", name, t.Name)
		}
	}
	all := c.of(s, me, with, true)
	if name != "" {
		slug, _ := protocol.SlugOf(name)
		for _, f := range all { // in a channel that somebody has chosen by hand
			if f.topic.Slug == slug {
				return f, nil
			}
		}
		return found{}, control.Errorf(control.KindNotFound, hintTopics(all, with), "%s and %s have no topic %q", me, with, name)
	}
	all = slices.DeleteFunc(all, func(f found) bool { _, over := f.topic.ClosedBy(me); return over })
	switch len(all) {
	case 0:
		return found{}, control.Errorf(control.KindNotFound, fmt.Sprintf("start one: parley work-with %s \"topic\"", visible.Shell(with)), "%s has no active collaborations with %s", me, with)
	case 1:
		return all[0], nil
	}
	return found{}, control.Errorf(control.KindUsage, hintTopics(all, with), "%s has %d topics with %s: name the one that you mean", me, len(all), with)
}

// hintTopics names the topics that there are.
func hintTopics(all []found, with string) string {
	if len(all) == 0 {
		return fmt.Sprintf("start one: parley work-with %s \"topic\"", visible.Shell(with))
	}
	var names []string
	for _, f := range all[:min(len(all), 8)] {
		names = append(names, fmt.Sprintf("%q", f.topic.Name))
	}
	return "they are: " + strings.Join(names, ", ")
}

// Topic answers control.ShowTopic.
func (c *Collab) Topic(_ context.Context, by control.Caller, r control.TopicRequest) (v control.Topic, err error) {
	who, err := c.Viewing(by, r.Viewing)
	if err != nil {
		return control.Topic{}, err
	}
	c.Folded(func(s *fleet.State) {
		var f found
		if f, err = c.find(s, who.Me, r.With, r.Topic); err == nil {
			v = c.whole(s, f.channel, f.topic, who.Me, c.with(s, who.Me, f.topic.Other(who.Me)))
		}
	})
	return v, err
}

// Relation answers control.ShowRelation.
func (c *Collab) Relation(ctx context.Context, by control.Caller, r control.RelationRequest) (v control.Relation, err error) {
	who, err := c.Viewing(by, r.Viewing)
	if err != nil {
		return control.Relation{}, err
	}
	c.ahead(ctx)
	c.Folded(func(s *fleet.State) {
		if err = c.known(s, r.With); err == nil {
			v = c.relation(s, who, r.With, c.with(s, who.Me, r.With), c.of(s, who.Me, r.With, true))
		}
	})
	if err == nil && (by.Kind == control.Operator || by.Name.String() == who.Me) {
		v.Prose = c.Prose(who.Me, r.With)
	}
	return v, err
}

// relation is what `who` has with `with`. `all` are all their topics.
func (c *Collab) relation(s *fleet.State, who Acting, with string, b between, all []found) control.Relation {
	v := control.Relation{
		Me: who.Me, Chosen: who.Chosen, With: with, Host: b.host.String(), Transport: transport(b), Messages: b.messages,
		Sessions: len(b.sessions), Topics: []control.Topic{},
	}
	switch {
	case b.mine.soul == "" || b.theirs.soul == "":
	case b.mine.soul == b.theirs.soul:
		v.Soul = "same"
	default:
		v.Soul = "other"
	}
	var results []*topic.Result
	for _, f := range all {
		given, received := f.topic.TeachBacks(who.Me)
		v.TeachGiven, v.TeachReceived = v.TeachGiven+given, v.TeachReceived+received
		v.Dissents += len(f.topic.Sorted(topic.Dissent, func(it *topic.Item) bool { return it.Resolved == nil }))
		since := f.topic.Since
		for _, term := range f.topic.Past {
			if term.Since.Before(since) {
				since = term.Since
			}
			results = append(results, term.Scored(with)...)
		}
		if v.Since.IsZero() || since.Before(v.Since) {
			v.Since = since
		}
		results = append(results, f.topic.Scored(with)...)
		if _, over := f.topic.ClosedBy(who.Me); !over {
			v.Topics = append(v.Topics, c.summary(s, f.channel, f.topic, who.Me, b))
		}
	}
	if b.host == "" {
		v.Node = c.friends.contact(who.Me, with).Node
	}
	if b.host == "" && slices.ContainsFunc(v.Topics, func(t control.Topic) bool { return t.AnchorURL != "" }) {
		v.Transport = "issue"
	}
	slices.SortStableFunc(results, func(a, b *topic.Result) int { return a.Time.Compare(b.Time) })
	var raws []float64
	for _, result := range results {
		raw, _ := result.Raw.Value()
		raws = append(raws, raw)
	}
	v.Trust = topic.TrustIn(v.Sessions, v.Messages, raws)
	return v
}

// transport says how a message reaches somebody (seed, "Three Sync Transports").
func transport(b between) string {
	switch {
	case b.host == "":
		return "record"
	case b.cross:
		return "wormhole"
	}
	return "hey"
}
