package topics

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Check is a sync-check: what one of the two asked the other to score. It does not change.
type Check struct {
	Path     protocol.Path
	By, Of   string // who asks whom
	At       time.Time
	Standing affair.Standing
	Claims   []ClaimOf
	Comments int       // of the anchored issue, at that time
	Seen     time.Time // when the newest of them was written that its author has read; zero: none
	AnswerBy time.Time
	Result   *Result // nil while there is none
	// TimedOut says that no answer came in time. Nothing is scored by that, and an answer
	// that comes later counts (R25).
	TimedOut bool
}

// ClaimOf is a claim of a check, and the item that it is of.
type ClaimOf struct {
	protocol.Claim
	Item protocol.Path // zero where it is of none: it was made for that check, or is of another topic
}

// Result is the answer to a check. It does not change.
type Result struct {
	Path       protocol.Path
	By         string
	At         time.Time
	Standing   affair.Standing
	Mechanical bool           // a program compared, no agent answered (R66)
	Rows       []Row          // one of each claim, in the order of the check
	Raw        protocol.Score // the mean of what counts; none where nothing does
	Counted    int            // how many rows count
}

// Row is what was answered to one claim.
type Row struct {
	ClaimOf
	Score    protocol.Score
	Decision protocol.Decision
	Evidence string
	Flag     Flag
}

// Flag is what is to be looked at in a row; "" for nothing.
type Flag string

// The flags of rows. The first two leave a row out of the mean (R26).
const (
	Unanswered    Flag = "unanswered"    // it has no score
	NoEvidence    Flag = "no evidence"   // a score above 0 that rests on nothing
	Contradiction Flag = "contradicts"   // it rejects what its author has accepted
	NotInMemory   Flag = "not in memory" // 0.0: to be removed, or discussed again
)

// Groupthink reports whether all is agreed on: a yellow flag, not a green one (R22).
func (r *Result) Groupthink() bool {
	raw, ok := r.Raw.Value()
	return ok && raw == 1
}

// at is the check at a time.
func (c *Check) at(now time.Time) *Check {
	if c.TimedOut || c.Result != nil || now.Before(c.AnswerBy) {
		return c
	}
	next := *c
	next.TimedOut = true
	return &next
}

// check puts claims to the other one.
func (t Topic) check(d affair.Deed) (Topic, error) {
	w, err := protocol.CheckSync.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	who := d.Author().Name
	c := &Check{
		Path: d.Message.Path, By: who, Of: t.Other(who), At: d.Timestamp, Standing: d.Standing, Comments: w.Comments, Seen: w.Seen, AnswerBy: answerBy(d, w.AnswerBy),
	}
	c.Claims = make([]ClaimOf, 0, len(w.Claims)) // no room for more: a year of topics keeps a hundred thousand
	for _, claim := range w.Claims {
		of := ClaimOf{Claim: claim}
		if claim.Label != "" {
			if it, err := t.Find(claim.ItemRef); err == nil {
				of.Item = it.Path
			}
		}
		c.Claims = append(c.Claims, of)
	}
	t.Checks = added(t.Checks, c)
	return t, nil
}

// result takes the answer to a check in: the first one that scores anything counts, so
// that nobody betters a score that is told already. It may come late.
func (t Topic) result(d affair.Deed) (Topic, error) {
	w, err := protocol.AnswerSync.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	who := d.Author().Name
	c, err := t.checkOf(d, who)
	if err != nil {
		return t, err
	}
	r := &Result{Path: d.Message.Path, By: who, At: d.Timestamp, Standing: d.Standing, Mechanical: w.Mark == protocol.Mechanical}
	names := make([]string, len(w.Rows)) // of one that is there twice, the first row counts
	for i, row := range w.Rows {
		names[i] = t.called(row.Claim)
	}
	r.Rows = make([]Row, 0, len(c.Claims))
	for _, claim := range c.Claims {
		row := Row{ClaimOf: claim}
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
	r.score()
	if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Flag != Unanswered }) {
		return t, refusal.New(refusal.Senseless, "", "it answers no claim of the check")
	}
	next := *c
	next.Result, next.TimedOut = r, false
	t.Checks, t.Results = put(t.Checks, c, &next), added(t.Results, r)
	return t, nil
}

// checkOf is the check that a deed answers: the one that its `re` names, else the last
// one that waits for its author.
func (t Topic) checkOf(d affair.Deed, who string) (*Check, error) {
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

// called is what a claim is known by in an answer: its label, behind the slug where that
// is of another topic, or its words where the label is missing.
func (t Topic) called(claim protocol.ItemRef) string {
	if claim.Label == "" {
		return "words " + words(claim.Text)
	}
	if claim.Topic == t.Slug {
		claim.Topic = ""
	}
	return claim.Name()
}

// flag is what is to be looked at in a row of somebody's answer.
func (t Topic) flag(row Row, who string) Flag {
	x, ok := row.Score.Value()
	contradicts := func(it *Item) bool { return it != nil && it.Sort == Agreement && it.Stand(who).Phase == Accepted }
	switch {
	case !ok:
		return Unanswered
	case x > 0 && row.Evidence == "":
		return NoEvidence
	case row.Decision == protocol.DecisionReject && contradicts(t.Item(row.Item)):
		return Contradiction
	case x == 0:
		return NotInMemory
	}
	return ""
}

// score makes the mean of what counts (R26).
func (r *Result) score() {
	sum := 0.0
	for _, row := range r.Rows {
		if row.Flag == Unanswered || row.Flag == NoEvidence {
			continue
		}
		x, _ := row.Score.Value()
		sum, r.Counted = sum+x, r.Counted+1
	}
	if r.Counted > 0 {
		r.Raw = protocol.NewScore(min(1, sum/float64(r.Counted)))
	}
}

// Scored are the results that have a score and were given by somebody, in the order of
// the record; by anybody where no name is given.
func (t Topic) Scored(by string) []*Result {
	var all []*Result
	for _, r := range t.Results {
		if _, ok := r.Raw.Value(); ok && (by == "" || r.By == by) {
			all = append(all, r)
		}
	}
	return all
}

// CommentsSeen is when the newest comment on the anchored issue was written that somebody
// had read, as their last check says. The time is by the clock of whoever keeps the issue;
// zero where no check says so. What the other one says of theirs hides nothing from them.
func (t Topic) CommentsSeen(by string) time.Time {
	for _, c := range slices.Backward(t.Checks) {
		if c.By == by && !c.Seen.IsZero() {
			return c.Seen
		}
	}
	return time.Time{}
}

// Claims are what a check of somebody puts to the other one: agreements that nobody has
// rejected, questions that are open, and what was taught (seed, "Build claims"). A long
// text is cut: else one item that nobody could send would end all checks of its topic.
func (t Topic) Claims() []protocol.Claim {
	var claims []protocol.Claim
	for _, it := range t.Items {
		open := it.Sort == Lesson || it.Sort == Question && it.Resolved == nil || it.Sort == Agreement && it.Shown().Phase != Rejected
		if open && len(claims) < protocol.MaxClaims {
			ref := it.Ref()
			ref.Text = cut(ref.Text, maxClaim)
			claims = append(claims, protocol.Claim{ItemRef: ref, Source: cut(t.Anchor, maxSource)})
		}
	}
	return claims
}

// maxClaim and maxSource are how many bytes a check has of an item's text and of what it
// rests on: as many claims as a check may have fit into a message.
const (
	maxClaim  = 600
	maxSource = 200
)

// cut is the beginning of a text, with dots behind it, that has at most so many bytes.
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
