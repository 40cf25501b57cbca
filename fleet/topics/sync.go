package topics

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// check puts claims to the other participant.
func (t Topic) check(d affair.Deed, w protocol.SyncCheck) (Topic, error) {
	who := d.Author().Name
	c := &topic.Check{
		Path: d.Message.Path, By: who, Of: t.Other(who), Time: d.Timestamp, Comments: w.Comments, Seen: w.Seen, AnswerBy: answerBy(d, w.AnswerBy),
	}
	c.Claims = make([]topic.ClaimOf, 0, len(w.Claims)) // exactly as much room as is needed: a year of topics keeps a hundred thousand claims
	for _, claim := range w.Claims {
		of := topic.ClaimOf{ItemRef: claim.ItemRef, Source: claim.Source}
		if claim.Label != "" {
			if it, err := t.Find(claim.ItemRef); err == nil {
				of.Item = it.Path
			}
		}
		c.Claims = append(c.Claims, of)
	}
	t.Checks = affair.Added(t.Checks, c)
	return t, nil
}

// result takes in the answer to a check. The first answer that scores anything counts, so that
// nobody improves a score that was told already. It may come late.
func (t Topic) result(d affair.Deed, w protocol.SyncResult) (Topic, error) {
	who := d.Author().Name
	c, err := t.checkOf(d, who)
	if err != nil {
		return t, err
	}
	r := &topic.Result{Path: d.Message.Path, By: who, Time: d.Timestamp, Signed: d.Standing == affair.Signed, Mechanical: w.Mark == protocol.Mechanical}
	names := each.Of(w.Rows, func(row protocol.SyncRow) string { return t.called(row.Claim) }) // if a name is there twice, the first row counts
	r.Rows = make([]topic.Row, 0, len(c.Claims))
	for _, claim := range c.Claims {
		row := topic.Row{ClaimOf: claim}
		at := slices.Index(names, t.called(claim.ItemRef))
		if at < 0 {
			at = slices.Index(names, t.called(protocol.ItemRef{Text: claim.Text}))
		}
		if at >= 0 {
			said := w.Rows[at]
			row.Score, row.Decision, row.Evidence = said.Score, said.Decision, said.Evidence
		}
		row.Flag = t.flag(row, who)
		r.Rows = append(r.Rows, row)
	}
	score(r)
	if !slices.ContainsFunc(r.Rows, func(row topic.Row) bool { return row.Flag != topic.Unanswered }) {
		return t, refusal.New(refusal.Senseless, "", "it answers no claim of the check")
	}
	t.Checks = affair.Edited(t.Checks, c, func(c *topic.Check) { c.Result, c.TimedOut = r, false })
	t.Results = affair.Added(t.Results, r)
	return t, nil
}

// checkOf is the check that a deed answers: the one that its `re` names, else the last one that
// still waits for its author's answer.
func (t Topic) checkOf(d affair.Deed, who string) (*topic.Check, error) {
	re, named := d.AnsweredPath()
	for _, c := range slices.Backward(t.Checks) {
		switch {
		case named && c.Path != re, !named && (c.Of != who || c.Result != nil):
			continue
		case c.Of != who:
			return nil, refusal.New(refusal.Forbidden, "", "that check asks %s", c.Of)
		case c.Result != nil:
			return nil, refusal.New(refusal.Forbidden, "", "%s has answered that check", who)
		}
		return c, nil
	}
	return nil, refusal.New(refusal.Unknown, "", "no check of %q waits for %s", t.Name, who)
}

// called is the name of a claim in an answer: its label, with the slug before it if it belongs to
// another topic, or its words if it has no label.
func (t Topic) called(claim protocol.ItemRef) string {
	if claim.Label == "" {
		return "words " + words(claim.Text)
	}
	if claim.Topic == t.Slug {
		claim.Topic = ""
	}
	return claim.Name()
}

// flag is what there is to look at in a row of the answer of `who`.
func (t Topic) flag(row topic.Row, who string) topic.Flag {
	x, ok := row.Score.Value()
	contradicts := func(it *topic.Item) bool {
		return it != nil && it.Sort == topic.Agreement && it.Stand(who).Phase == topic.Accepted
	}
	switch {
	case !ok:
		return topic.Unanswered
	case protocol.SyncRow{Score: row.Score, Evidence: row.Evidence}.Baseless():
		return topic.NoEvidence
	case row.Decision == protocol.DecisionReject && contradicts(t.Item(row.Item)):
		return topic.Contradiction
	case x == 0:
		return topic.NotInMemory
	}
	return ""
}

// score computes the mean of the rows that count (R26).
func score(r *topic.Result) {
	var counted []protocol.Score
	for _, row := range r.Rows {
		if row.Flag != topic.Unanswered && row.Flag != topic.NoEvidence {
			counted = append(counted, row.Score)
		}
	}
	r.Raw, r.Counted = protocol.MeanScore(counted), len(counted)
}

// Scored are the results by `by` that have a score, in the order of the record. If `by` is empty,
// they are those of both.
func (t Topic) Scored(by string) []*topic.Result {
	var all []*topic.Result
	for _, r := range t.Results {
		if _, ok := r.Raw.Value(); ok && (by == "" || r.By == by) {
			all = append(all, r)
		}
	}
	return all
}

// CommentsSeen is when the newest comment on the anchored issue was written that `by` had read, as
// their last check says. The time is by the clock of the site that keeps the issue. It is zero if
// no check says so. What the other participant has read does not matter: they say it in a check of
// their own.
func (t Topic) CommentsSeen(by string) time.Time {
	for _, c := range slices.Backward(t.Checks) {
		if c.By == by && !c.Seen.IsZero() {
			return c.Seen
		}
	}
	return time.Time{}
}

// Claims are what a check puts to the other participant: agreements that nobody has rejected,
// questions that are open, and what was taught (seed, "Build claims"). A long text is cut.
// Otherwise one item that is too long to send would end all checks of its topic.
func (t Topic) Claims() []protocol.Claim {
	var claims []protocol.Claim
	for _, it := range t.Items {
		open := it.Sort == topic.Lesson || it.Sort == topic.Question && it.Resolved == nil || it.Sort == topic.Agreement && it.Shown().Phase != topic.Rejected
		if open && len(claims) < protocol.MaxClaims {
			ref := it.Ref()
			ref.Text = cut(ref.Text, maxClaim)
			claims = append(claims, protocol.Claim{ItemRef: ref, Source: cut(t.Anchor, maxSource)})
		}
	}
	return claims
}

// maxClaim and maxSource are how many bytes a check has for an item's text and for what it rests
// on. With them, as many claims as a check may have fit into a message.
const (
	maxClaim  = 600
	maxSource = 200
)

// cut is `text`, or its beginning with dots behind it, in at most `most` bytes.
func cut(text string, most int) string {
	const dots = "…"
	if len(text) <= most {
		return text
	}
	most -= len(dots)
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most]) + dots
}
