package collab

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/notebook"
	"github.com/parleyfleet/parley/protocol"
)

// Book is everything that `me` works on with others, as it stands now. It has no topics of
// strangers, with which `me` has nothing to do. If `changed` names channels in which something has
// happened, anything that they do not affect is only there as far as the registry needs it.
func (c *Collab) Book(me string, changed []protocol.ChannelID) notebook.Book {
	c.friends.look(me)
	b := notebook.Book{Me: me}
	c.ahead(context.Background()) // all of it is written, whoever has asked
	c.Folded(func(s *fleet.State) {
		isChanged := func(f found) bool {
			return changed == nil || slices.Contains(changed, f.channel) || slices.Contains(changed, c.talkOf(f.topic))
		}
		type work struct {
			all, mine []found // `mine` are those with which `me` has anything to do
			touched   bool
		}
		partners := map[string]*work{}
		for _, f := range c.of(s, me, "", true) {
			w := partners[f.topic.Other(me)]
			if w == nil {
				w = &work{}
				partners[f.topic.Other(me)] = w
			}
			if w.all = append(w.all, f); f.topic.Concerns(me) {
				w.mine, w.touched = append(w.mine, f), w.touched || isChanged(f)
			}
		}
		for other, w := range partners {
			if len(w.mine) == 0 {
				continue
			}
			two := c.with(s, me, other)
			p := notebook.Partner{Relation: control.Relation{Me: me, With: other}, Stays: !w.touched}
			if w.touched {
				p.Relation = c.relation(s, Acting{Me: me}, other, two, w.all)
			}
			for _, f := range w.mine {
				var t notebook.Topic
				if p.Stays { // the registry has a row of it
					t = overBy(f.topic, me, notebook.Topic{Topic: c.summary(s, f.channel, f.topic, me, two)})
				} else {
					t = c.kept(s, f, me, two)
				}
				t.Stays = !isChanged(f)
				p.Topics = append(p.Topics, t)
			}
			slices.SortFunc(p.Topics, func(a, b notebook.Topic) int { return a.Since.Compare(b.Since) })
			b.Partners = append(b.Partners, p)
		}
		b.Parties = c.partyFiles(s, me, changed)
	})
	for _, p := range b.Partners {
		for _, t := range p.Topics {
			if !t.Stays {
				c.quote(t.Exchanges)
			}
		}
	}
	b.Partners = notebook.Sorted(b.Partners)
	return b
}

// overBy adds to a topic's page when `who` has closed the topic, if they have.
func overBy(t topics.Topic, who string, v notebook.Topic) notebook.Topic {
	if closed, over := t.ClosedBy(who); over {
		v.Over = closed.Time
	}
	return v
}

func (c *Collab) kept(s *fleet.State, f found, me string, b between) notebook.Topic {
	t := f.topic
	v := notebook.Topic{Topic: c.withItems(s, f.channel, t, me, b), State: t.Sidecar(), History: t.History(t.Other(me), b.decay)}
	v.Exchanges = c.exchanges(s, t)
	for _, past := range t.Past {
		term := notebook.Term{Opened: past.Opened.String(), Over: t.Since}
		if closed, over := past.ClosedBy(me); over {
			term.Over = closed.Time
		}
		v.Past = append(v.Past, term)
	}
	return overBy(t, me, v)
}

// Sweep answers control.SweepTopics.
func (c *Collab) Sweep(_ context.Context, by control.Caller, r control.SweepRequest) (control.Sweep, error) {
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return control.Sweep{}, err
	}
	written, err := c.Write(who.Me)
	if err != nil {
		return control.Sweep{}, control.Errorf(control.KindFailed, "nothing of the record is lost by that; put it right and sweep again", "cannot write the files of %s: %v", who.Me, err)
	}
	v := control.Sweep{Me: who.Me, Chosen: who.Chosen, Folder: written.Folder, Files: append([]string{}, written.Files...), TimedOut: []control.SweptItem{}}
	c.Folded(func(s *fleet.State) {
		for _, f := range c.of(s, who.Me, "", false) {
			for _, it := range f.topic.Sorted(topic.Agreement, nil) {
				for _, st := range it.Stands {
					if st.Phase != topic.TimedOut {
						continue
					}
					v.TimedOut = append(v.TimedOut, control.SweptItem{
						Topic: f.topic.Name, With: f.topic.Other(who.Me), ID: it.Label.String(), Text: it.Text(), Who: st.Who, TimeoutAt: st.TimeoutAt,
						New: slices.Contains(written.TimedOut, f.topic.Slug.String()+"/"+it.Label.String()),
					})
				}
			}
		}
	})
	return v, nil
}

// Page answers control.PageOfTopic.
func (c *Collab) Page(_ context.Context, by control.Caller, r control.TopicRequest) (control.TopicPage, error) {
	who, err := c.Viewing(by, r.Viewing)
	if err != nil {
		return control.TopicPage{}, err
	}
	var t notebook.Topic
	c.Folded(func(s *fleet.State) {
		var f found
		if f, err = c.find(s, who.Me, r.With, r.Topic); err == nil {
			t = c.kept(s, f, who.Me, c.with(s, who.Me, f.topic.Other(who.Me)))
		}
	})
	if err != nil {
		return control.TopicPage{}, err
	}
	c.quote(t.Exchanges)
	return control.TopicPage{Text: t.Page()}, nil
}
