package collab

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Open answers control.OpenTopic.
func (c *Collab) Open(ctx context.Context, by control.Caller, r control.OpenTopicRequest) (control.Topic, error) {
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return control.Topic{}, err
	}
	anchor := ""
	if r.Anchor != "" {
		a, err := protocol.ParseAnchor(r.Anchor, r.Origin)
		if err != nil {
			return control.Topic{}, control.Errorf(control.KindUsage, "write --anchor 332, or quote it: --anchor '#332'", "cannot anchor the topic: %v", err)
		}
		anchor = a.String()
	}
	c.Folded(func(s *fleet.State) { err = c.partner(s, r.With, anchor) })
	if err != nil {
		return control.Topic{}, err
	}
	speaker := c.speaker(who, r.With, r.Topic)
	if _, err := c.Do(ctx, by, speaker.Open(anchor)); err != nil {
		return control.Topic{}, writing.Problem("open the topic", err)
	}
	return c.Topic(ctx, by, control.TopicRequest{Viewing: control.Viewing{For: who.Me}, With: r.With, Topic: r.Topic})
}

// partner returns an error for a name with whom nobody can open a topic. Somebody who is only known
// by an issue is asked there (R34), unless the name looks like a misspelling.
func (c *Collab) partner(s *fleet.State, with, anchor string) error {
	err := c.known(s, with)
	if a, none := protocol.ParseAnchor(anchor, ""); err != nil && none == nil && a.URL() != "" && len(s.People.Near(with)) == 0 {
		return nil
	}
	return err
}

func (c *Collab) speaker(who Acting, with, topic string) topics.Speaker {
	return topics.Speaker{Record: c.RecordID, Me: who.Me, With: with, Topic: topic, Human: who.Human, Host: c.Host}
}

// window is how long a decision stays open in a topic (R25).
func (c *Collab) window(s *fleet.State, t topics.Topic, b between) time.Duration {
	p := c.policy(s)
	switch {
	case b.cross && b.host != "":
		return p.Window(policy.KeyWindowCrossHost)
	case b.host == "" && t.Anchor != "":
		return p.Window(policy.KeyWindowIssue)
	case b.host == "":
		return p.Window(policy.KeyWindowCrossHost)
	}
	return p.Window(policy.KeyWindowSameHost)
}

// Deed answers control.DoInTopic.
func (c *Collab) Deed(ctx context.Context, by control.Caller, r control.TopicDeedRequest) (control.TopicDeed, error) {
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return control.TopicDeed{}, err
	}
	var f found
	var window time.Duration
	byIssue := false
	me := who.Me
	if r.Deed == protocol.ActJoinRequest { // the topic is that of two others
		me = cmp.Or(r.Partner, me)
	}
	c.Folded(func(s *fleet.State) {
		if r.Deed == protocol.ActJoinRequest && r.Partner == "" {
			f, err = c.findOf(s, r.With, r.Topic)
		} else {
			f, err = c.find(s, me, r.With, r.Topic)
		}
		if err == nil {
			b := c.with(s, who.Me, r.With)
			window, byIssue = c.window(s, f.topic, b), onlyByIssue(f.topic, b)
		}
	})
	if err != nil {
		return control.TopicDeed{}, err
	}
	if !f.topic.Derived {
		return control.TopicDeed{}, control.Errorf(control.KindRefused, "open it here: parley work-with "+visible.Shell(f.topic.Other(me))+" "+visible.Shell(f.topic.Name),
			"cannot %s: %q lies in a channel that %s chose by hand", r.Deed, f.topic.Name, f.topic.Pair[0])
	}
	command, err := c.command(who, f.topic, r, window)
	if err != nil {
		return control.TopicDeed{}, err
	}
	paths, err := c.Do(ctx, by, command)
	if err != nil {
		return control.TopicDeed{}, writing.Problem(string(r.Deed), err)
	}
	if r.Deed == protocol.ActJoinRequest {
		c.friends.look(f.topic.Pair[0]) // the participant as whom it is shown
	}
	done := control.TopicDeed{Me: who.Me, Chosen: who.Chosen, Messages: []string{}, ByIssue: byIssue && len(paths) > 0}
	for _, p := range paths {
		done.Messages = append(done.Messages, p.String())
	}
	if r.Forward && r.Deed == protocol.ActCheckpoint {
		if done.Validate, err = c.validate(ctx, by, who, f.channel, window, true); err != nil {
			return control.TopicDeed{}, writing.Problem("ask whether what was agreed still holds", err)
		}
	}
	c.Folded(func(s *fleet.State) {
		t := c.topic(s, f.channel.String(), c.policy(s))
		seen := who.Me
		if r.Deed == protocol.ActJoinRequest {
			seen = t.Pair[0]
		}
		done.Topic = c.whole(s, f.channel, t, seen, c.with(s, seen, t.Other(seen)))
		done.Items = touched(s, t, paths)
	})
	return done, nil
}

// findOf is a topic of `one` with anybody, by its name.
func (c *Collab) findOf(s *fleet.State, one, name string) (found, error) {
	slug, err := protocol.SlugOf(name)
	if err != nil {
		return found{}, control.Errorf(control.KindUsage, "name the topic", "cannot find the topic: %v", err)
	}
	for _, f := range c.of(s, one, "", false) {
		if f.topic.Slug == slug {
			return f, nil
		}
	}
	return found{}, control.Errorf(control.KindNotFound, "ask who has it: parley work-with --fleet-status", "%s has no topic %q", one, name)
}

func touched(s *fleet.State, t topics.Topic, paths []protocol.Path) (labels []string) {
	for _, p := range paths {
		about := p
		if it, ok := s.Ledger.Item(p); ok {
			if re, named := it.AnsweredPath(); named {
				about = re
			}
		}
		if item := t.Item(about); item != nil {
			labels = append(labels, item.Label.String())
		}
	}
	return labels
}

func (c *Collab) command(who Acting, t topics.Topic, r control.TopicDeedRequest, window time.Duration) (affair.Command, error) {
	by := c.speaker(who, t.Other(who.Me), t.Name)
	needs := func(what, value string) error {
		if strings.TrimSpace(value) != "" {
			return nil
		}
		return control.Errorf(control.KindUsage, "", "cannot %s: it needs %s", r.Deed, what)
	}
	var err error
	switch r.Deed {
	case protocol.ActAgree, protocol.ActOpen, protocol.ActTeachBack, protocol.ActDisagree, protocol.ActAmendment:
		err = needs("a text", r.Text)
	case protocol.ActReject, protocol.ActRevoke:
		if err = needs("the item", r.Item); err == nil {
			err = needs("a reason: --reason", r.Reason)
		}
	case protocol.ActAccept, protocol.ActReAccept, protocol.ActValidate, protocol.ActResolve:
		err = needs("the item", r.Item)
	case protocol.ActRejected:
		err = needs("a reason: --reason", r.Reason)
	}
	if err != nil {
		return affair.Command{}, err
	}
	switch r.Deed {
	case protocol.ActAgree:
		return by.Agree(r.Text, window), nil
	case protocol.ActOpen:
		return by.Ask(r.Text), nil
	case protocol.ActTeachBack:
		return by.Teach(r.Text), nil
	case protocol.ActDisagree:
		return by.Disagree(r.Text), nil
	case protocol.ActResolve:
		return by.Resolve(r.Item, cmp.Or(r.Text, r.Reason)), nil
	case protocol.ActAccept:
		return by.Accept(r.Item, cmp.Or(r.Text, r.Reason)), nil
	case protocol.ActReject:
		return by.Reject(r.Item, r.Reason), nil
	case protocol.ActDefer:
		return by.Defer(r.Item, r.Reason, r.Until), nil
	case protocol.ActRevoke:
		return by.Revoke(r.Item, r.Reason, window), nil
	case protocol.ActReAccept:
		return by.ReAccept(r.Item, r.Text, r.Reason, window), nil
	case protocol.ActValidate:
		return by.Validate(r.Item, "", window), nil
	case protocol.ActCheckpoint:
		return by.Checkpoint(checkpointText(t, r.Text)), nil
	case protocol.ActRatified, protocol.ActAmendment, protocol.ActRejected:
		return by.Judge(protocol.Path{}, r.Deed, cmp.Or(r.Text, r.Reason)), nil
	case protocol.ActClose:
		return by.Close(cmp.Or(r.Reason, r.Text)), nil
	case protocol.ActJoinRequest:
		by.With, by.Topic = t.Pair[1], t.Name
		return by.Join(t.Pair[0], cmp.Or(r.Reason, r.Text)), nil
	}
	return affair.Command{}, control.Errorf(control.KindUsage, "", "%q is nothing to do in a topic", r.Deed)
}
