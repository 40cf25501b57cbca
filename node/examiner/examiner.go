// Package examiner answers a sync-check without an agent (R66). It compares each claim with what
// the agent that is asked wrote, decided or remembers, and scores the claim only by that. It is
// pure: the caller reads the texts.
//
// Its scores are the three of the seed. A claim has 1.0 if its exact words stand in a text as a
// statement, or if the agent has committed itself to them. It has 0.2 if the concept is known and
// the wording is new, and otherwise 0.0. In doubt, the examiner takes the lower score: a score that
// is too low is discussed, but one that is too high is believed.
package examiner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/protocol"
)

// The scores (seed, "Honest Scoring Rules").
const (
	unknown   = 0.0
	partial   = 0.2
	confirmed = 1.0
)

// known is the share of a claim's words that must stand in one sentence for the claim's concept to
// be known.
const known = 0.6

// nothing is the evidence of a claim about which nothing is found.
const nothing = "nothing of that in what I wrote, decided or remember"

// maxQuote bounds what is quoted, in characters.
const maxQuote = 120

// Word is what the agent that is asked did with the item of a claim.
type Word string

// The words in the form of the evidence.
const (
	Accepted Word = "accepted"
	Rejected Word = "rejected"
	Deferred Word = "put off"
	Revoked  Word = "taken back"
	Wrote    Word = "my own words"
)

// Own is what the agent that is asked did with an item that has exactly the words of a claim.
type Own struct {
	Word   Word
	Where  string // the message
	At     time.Time
	Reason string // may be empty
}

// Claim is what is to be scored.
type Claim struct {
	protocol.Claim
	Own *Own // nil if the agent did nothing with it
}

// Text is something that the agent that is asked wrote.
type Text struct {
	Where string    // the file
	First int       // the number of the body's first line in that file
	At    time.Time // zero if it is not known
	Body  string
	// Short texts are taken as a whole: a doubt anywhere in one applies to each of its sentences.
	Short bool
	// Unproven says that nothing shows who wrote it. Then it can make a claim known, and no more.
	Unproven bool
	// Answers is the text that it answers: words of that text are another's words, repeated.
	Answers string
}

// Exam is the comparison of a check's claims with texts.
//
// It is not safe for concurrent use.
type Exam struct {
	claims []*examined
	by     map[string][]*examined // by the words that count
}

// examined is a claim, and the best that was found for it.
type examined struct {
	Claim
	words   []string // all words, in their order
	content map[string]bool
	doubts  map[string]bool // its own words that would be doubts elsewhere
	asks    bool            // it is a question

	confirm, dispute, near *found
	met                    int // how many words the sentence that is being read has in common with it
}

// found is a sentence that concerns a claim.
type found struct {
	where    string
	line     int
	at       time.Time
	quote    string
	coverage float64
}

// New begins an exam.
func New(claims []Claim) *Exam {
	e := &Exam{by: map[string][]*examined{}}
	for _, c := range claims {
		x := &examined{Claim: c, words: wordsOf(c.Text), content: map[string]bool{}, doubts: map[string]bool{}, asks: strings.HasSuffix(strings.TrimSpace(c.Text), "?")}
		for _, w := range x.words {
			if !filler[w] {
				x.content[w] = true
			}
			if d := doubtOf(w); d != "" {
				x.doubts[d] = true
			}
		}
		for w := range x.content {
			e.by[w] = append(e.by[w], x)
		}
		e.claims = append(e.claims, x)
	}
	return e
}

// Read takes in a text.
func (e *Exam) Read(t Text) {
	again := " " + strings.Join(wordsOf(t.Answers), " ") + " "
	for _, s := range sentences(t) {
		if said := " " + strings.Join(s.words, " ") + " "; t.Answers != "" && strings.Contains(again, said) {
			continue
		}
		e.read(t, s)
	}
}

func (e *Exam) read(t Text, s sentence) {
	var touched []*examined
	seen := map[string]bool{}
	for _, w := range s.words {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, x := range e.by[w] {
			if x.met == 0 {
				touched = append(touched, x)
			}
			x.met++
		}
	}
	for _, x := range touched {
		x.compare(t, s)
		x.met = 0
	}
}

func (x *examined) compare(t Text, s sentence) {
	coverage := float64(x.met) / float64(len(x.content))
	if coverage < known || x.met < min(2, len(x.content)) {
		return
	}
	f := &found{where: t.Where, line: t.First + s.line, at: t.At, quote: s.text, coverage: coverage}
	switch {
	case x.stated(s) && !t.Unproven:
		x.confirm = later(x.confirm, f)
	case s.denies(x.doubts) && !t.Unproven:
		x.dispute = later(x.dispute, f)
	case x.near == nil || f.coverage > x.near.coverage || f.coverage == x.near.coverage && later(x.near, f) == f:
		x.near = f
	}
}

// stated reports whether the sentence states the claim: in its words and their order, and with
// nothing besides except that it is so.
func (x *examined) stated(s sentence) bool {
	if s.hedged || s.asks && !x.asks || len(s.around) > 0 {
		return false
	}
	for i := 0; i+len(x.words) <= len(s.words); i++ {
		if slices.Equal(s.words[i:i+len(x.words)], x.words) {
			rest := append(s.words[:i:i], s.words[i+len(x.words):]...)
			return !slices.ContainsFunc(rest, func(w string) bool { return !assent[w] })
		}
	}
	return false
}

// later is the one of two that is not older. One without a time may be of any time.
func later(a, b *found) *found {
	if a == nil || !a.at.IsZero() && (b.at.IsZero() || !b.at.Before(a.at)) {
		return b
	}
	return a
}

// Rows are the answers, one for each claim, in the order of the claims.
func (e *Exam) Rows() []protocol.SyncRow {
	rows := make([]protocol.SyncRow, len(e.claims))
	for i, x := range e.claims {
		score, decision, evidence := x.judge()
		rows[i] = protocol.SyncRow{Claim: protocol.ItemRef{Topic: x.Topic, Label: x.Label}, Score: protocol.NewScore(score), Decision: decision, Evidence: cmp.Or(evidence, nothing)}
		if x.Label == "" {
			rows[i].Claim = x.ItemRef
		}
	}
	return rows
}

// judge is the result for a claim: by what was decided or, if nothing was, by what was written.
func (x *examined) judge() (score float64, d protocol.Decision, evidence string) {
	if x.Own != nil {
		evidence = fmt.Sprintf("%s on %s: %s", x.Own.Word, x.Own.At.UTC().Format(time.DateOnly), x.Own.Where)
		if x.Own.Reason != "" {
			evidence += fmt.Sprintf(" (%s)", short(x.Own.Reason))
		}
		switch x.Own.Word {
		case Accepted, Wrote:
			return confirmed, protocol.DecisionAccept, evidence
		case Rejected:
			return unknown, protocol.DecisionReject, evidence
		}
		return partial, protocol.DecisionPartial, evidence
	}
	switch {
	case x.confirm != nil && (x.dispute == nil || later(x.dispute, x.confirm) == x.confirm && !x.confirm.at.Equal(x.dispute.at) && !x.confirm.at.IsZero()):
		return confirmed, protocol.DecisionAccept, x.confirm.evidence()
	case x.dispute != nil:
		return partial, protocol.DecisionPartial, x.dispute.evidence()
	case x.near != nil:
		return partial, protocol.DecisionPartial, x.near.evidence()
	}
	return unknown, protocol.DecisionReject, ""
}

func (f *found) evidence() string {
	return fmt.Sprintf("%s:%d “%s”", f.where, f.line, short(f.quote))
}

func short(text string) string {
	if utf8.RuneCountInString(text) <= maxQuote {
		return text
	}
	return string([]rune(text)[:maxQuote]) + "…"
}
