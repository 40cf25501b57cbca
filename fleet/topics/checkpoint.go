package topics

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

func (t Topic) sum(d affair.Deed, w protocol.Checkpoint) (Topic, error) {
	c := &topic.Checkpoint{
		Path: d.Message.Path, By: d.Author().Name, Time: d.Timestamp, Signed: d.Standing == affair.Signed, Summary: w.Summary, Mechanical: w.Mark == protocol.Mechanical,
	}
	for _, it := range t.Items {
		switch {
		case it.Agreed():
			c.Agreements++
		case it.Sort == topic.Question && it.Resolved == nil:
			c.Pending++
		}
	}
	if scored := t.Scored(""); len(scored) > 0 {
		c.Score = scored[len(scored)-1].Raw
	}
	t.Checkpoints = affair.Added(t.Checkpoints, c)
	return t, nil
}

func (t Topic) answerSum(d affair.Deed, w protocol.Verdict) (Topic, error) {
	who := d.Author().Name
	c, err := t.checkpointOf(d, who)
	if err != nil {
		return t, err
	}
	said := topic.Verdict{Word: word(d, w.Text), Act: d.Act}
	t.Checkpoints = affair.Edited(t.Checkpoints, c, func(c *topic.Checkpoint) { c.Verdicts = affair.Added(c.Verdicts, said) })
	return t, nil
}

// checkpointOf is the checkpoint that a deed answers: the one that its `re` names, else the last
// one that the other participant wrote.
func (t Topic) checkpointOf(d affair.Deed, who string) (*topic.Checkpoint, error) {
	re, named := d.AnsweredPath()
	for _, c := range slices.Backward(t.Checkpoints) {
		switch {
		case named && c.Path != re, !named && c.By == who:
			continue
		case c.By == who:
			return nil, refusal.New(refusal.Forbidden, "", "that checkpoint is %s's own: the other one ratifies it", who)
		}
		if !c.Ratified().IsZero() && d.Act == protocol.ActRatified {
			return nil, refusal.New(refusal.Senseless, "", "it is ratified already")
		}
		return c, nil
	}
	return nil, refusal.New(refusal.Unknown, "", "no checkpoint of %q waits for %s", t.Name, who)
}
