package collab

import (
	"context"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Scores are the results of sync-checks, by the short form of their topic's name and by the one who
// answered, whoever asked; the last one is last (R23). Those of all topics are below "".
type Scores map[protocol.Slug]map[string][]Score

// Score is one result of a sync-check.
type Score struct {
	Asker string
	Path  protocol.Path // the message that answered
	topic.Sample
}

// Between are the results that `member` gave to `asker`, on all their topics.
func (all Scores) Between(asker, member string) (list []Score) {
	for _, score := range all[""][member] {
		if score.Asker == asker {
			list = append(list, score)
		}
	}
	return list
}

// Relation are the results by which a member of a party is trusted: those that it gave to whoever
// asked it last on the party's topic or, if nobody did, to the agent `via` of the party's leader.
func (all Scores) Relation(topic protocol.Slug, via, member string) []Score {
	if of := all[topic][member]; len(of) > 0 {
		via = of[len(of)-1].Asker
	}
	return all.Between(via, member)
}

// Scores are the results for all topics. It is asked while the state is read.
func (c *Collab) Scores(s *fleet.State) Scores {
	all := Scores{"": {}}
	for _, t := range c.all(s) {
		for i, by := range t.Pair {
			for _, r := range scoredEver(t, by) {
				raw, ok := r.Raw.Value()
				if !ok {
					continue
				}
				if all[t.Slug] == nil {
					all[t.Slug] = map[string][]Score{}
				}
				score := Score{t.Pair[1-i], r.Path, topic.Sample{At: r.Time, Raw: raw}}
				all[t.Slug][by], all[""][by] = append(all[t.Slug][by], score), append(all[""][by], score)
			}
		}
	}
	for _, of := range all {
		for by := range of {
			slices.SortStableFunc(of[by], func(a, b Score) int { return a.At.Compare(b.At) })
		}
	}
	return all
}

// scoredEver are the results with a score that `by` gave on a topic, in all its terms.
func scoredEver(t topics.Topic, by string) (all []*topic.Result) {
	for _, term := range t.Past {
		all = append(all, term.Scored(by)...)
	}
	return append(all, t.Scored(by)...)
}

// Trust is how far whoever got these scores of a member trusts it; the last one is last. Without
// any, nobody does. It is asked while the state is read.
func (c *Collab) Trust(s *fleet.State, via, member string, scores []Score) topic.Trust {
	if len(scores) == 0 { // what follows takes long if there are a thousand members
		return topic.TrustIn(0, 0, nil)
	}
	var raws []float64
	for _, score := range scores {
		via, raws = score.Asker, append(raws, score.Raw)
	}
	sessions, messages := c.contacts.between(s, via, member)
	return topic.TrustIn(len(sessions), messages, raws)
}

// SumUp makes a checkpoint of each topic with that name which `me` has open with one of those
// partners. It lists what stands there.
func (c *Collab) SumUp(ctx context.Context, by control.Caller, me string, slug protocol.Slug, partners []string) error {
	var all []found
	c.Folded(func(s *fleet.State) { all = c.of(s, me, "", false) })
	for _, f := range all {
		other := f.topic.Other(me)
		if f.topic.Slug != slug || !f.topic.Derived || !slices.Contains(partners, other) {
			continue
		}
		r := control.TopicDeedRequest{Acting: control.Acting{As: me}, With: other, Topic: f.topic.Name, Deed: protocol.ActCheckpoint}
		if _, err := c.Deed(ctx, by, r); err != nil {
			return err
		}
	}
	return nil
}

// Contacts are the entries in the contacts.json of an agent, with the places that they give.
func (c *Collab) Contacts(agent string) map[string]psi.Contact {
	c.friends.look(agent)
	c.friends.mu.Lock()
	defer c.friends.mu.Unlock()
	return maps.Clone(c.friends.files[agent].all)
}
