package topics

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Checkpoint is a summary of a topic that outlasts a compaction of an agent's context. It does not
// change.
type Checkpoint struct {
	Path       protocol.Path
	By         string
	At         time.Time
	Standing   affair.Standing
	Summary    string
	Mechanical bool           // a program listed what was decided, and no agent wrote it
	Agreements int            // how many agreements all had accepted then
	Pending    int            // how many questions were open then
	Score      protocol.Score // raw score of the last check before it, whoever answered; none if there was none
	Verdicts   []Verdict      // what the other participant said, in the order of the record; the last one stands
}

// Verdict is what the other participant said to a checkpoint.
type Verdict struct {
	Path protocol.Path
	By   string
	At   time.Time
	Act  protocol.Act // ratified, amendment or rejected
	Text string       // what is to change, or why it is rejected
}

// RatifiedAt is when the other participant ratified the checkpoint. `ok` is false if their last
// word is another one.
func (c *Checkpoint) RatifiedAt() (time.Time, bool) {
	if len(c.Verdicts) == 0 || c.Verdicts[len(c.Verdicts)-1].Act != protocol.ActRatified {
		return time.Time{}, false
	}
	return c.Verdicts[len(c.Verdicts)-1].At, true
}

// sum takes in a checkpoint.
func (t Topic) sum(d affair.Deed) (Topic, error) {
	w, err := protocol.Sum.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	c := &Checkpoint{
		Path: d.Message.Path, By: d.Author().Name, At: d.Timestamp, Standing: d.Standing, Summary: w.Summary, Mechanical: w.Mark == protocol.Mechanical,
	}
	for _, it := range t.Items {
		switch {
		case it.Agreed():
			c.Agreements++
		case it.Sort == Question && it.Resolved == nil:
			c.Pending++
		}
	}
	if scored := t.Scored(""); len(scored) > 0 {
		c.Score = scored[len(scored)-1].Raw
	}
	t.Checkpoints = added(t.Checkpoints, c)
	return t, nil
}

// answerSum takes in an answer to a checkpoint.
func (t Topic) answerSum(d affair.Deed) (Topic, error) {
	act := protocol.Ratify
	switch d.Act {
	case protocol.ActAmendment:
		act = protocol.Amend
	case protocol.ActRejected:
		act = protocol.RejectSum
	}
	w, err := act.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	who := d.Author().Name
	c, err := t.checkpointOf(d, who)
	if err != nil {
		return t, err
	}
	next := *c
	next.Verdicts = added(c.Verdicts, Verdict{d.Message.Path, who, d.Timestamp, d.Act, w.Text})
	t.Checkpoints = put(t.Checkpoints, c, &next)
	return t, nil
}

// checkpointOf is the checkpoint that a deed answers: the one that its `re` names, else the last
// one that the other participant wrote.
func (t Topic) checkpointOf(d affair.Deed, who string) (*Checkpoint, error) {
	re, named := d.AnsweredPath()
	for _, c := range slices.Backward(t.Checkpoints) {
		switch {
		case named && c.Path != re, !named && c.By == who:
			continue
		case c.By == who:
			return nil, refusal.New(refusal.Forbidden, "", "that checkpoint is %s's own: the other one ratifies it", who)
		}
		if _, ratified := c.RatifiedAt(); ratified && d.Act == protocol.ActRatified {
			return nil, refusal.New(refusal.Senseless, "", "it is ratified already")
		}
		return c, nil
	}
	return nil, refusal.New(refusal.Unknown, "", "no checkpoint of %q waits for %s", t.Name, who)
}
