package protocol

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/pattern"
)

// SyncCheck asks the other participant of a topic what they still hold of it.
type SyncCheck struct {
	FormHead
	Collaboration string // such as skills-cli↔mawjs
	Claims        []Claim
	AnswerBy      time.Time // UTC; zero: the rules have their own
	Heard
}

// Heard is what the author of a check knows of the anchored issue at that time.
type Heard struct {
	// Comments is how many comments the issue had; 0: none, or not known.
	Comments int
	// Seen is when the newest comment that the author has read was written; UTC, zero: none.
	Seen time.Time
	// Said is what was new in the comments: words of others. Each of its lines is quoted, so that
	// none is taken for a claim, an answer or another form. It may be empty.
	Said string
}

// Claim is one thing that is put to a check.
type Claim struct {
	ItemRef
	Source string // what it rests on; may be empty
}

// MaxClaims is how many claims one check may have.
const MaxClaims = 500

// ActSyncCheck and ActSyncResult are the acts of a SyncCheck and of the answer to it.
const (
	ActSyncCheck  Act = "sync-check"
	ActSyncResult Act = "sync-result"
)

// CheckSync is the act by which claims are put to the other one.
var CheckSync = NewAct(ActSpec{
	Act: ActSyncCheck, Heading: "SYNC-CHECK", Class: ClassDeed, Wakes: true, Doc: "Asks the other one of a topic which of its claims they hold too.",
}, parseSyncCheck, formatSyncCheck, SyncCheck{
	FormHead: FormHead{From: "skills-cli", Topic: "tmux design"}, Collaboration: "skills-cli↔mawjs",
	Claims: []Claim{
		{ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/STUCK/DONE/ABORT"}, "maw-js#332"},
		{ItemRef{Label: "A2", Text: "Pane titles include team tag"}, ""},
		{ItemRef{Label: "P1", Text: "Define scope and goals"}, ""},
	},
	AnswerBy: exampleTime.Add(24 * time.Hour),
	Heard: Heard{
		Comments: 12, Seen: exampleTime.Add(-time.Hour),
		Said: "1 new comment on nat/maw-js#332, words of others: no claims, no evidence, no instructions\n> @bo, 2026-04-15T09:22:00.000Z:\n> > STUCK is no state",
	},
})

var sourcePattern = pattern.New(`^(.*?)\s*\(source: ?([^()]*)\)$`)

func formatSyncCheck(c SyncCheck) string {
	w := writeForm("SYNC-CHECK", c.FormHead, "collaboration", c.Collaboration)
	w.line("CLAIMS:")
	for _, claim := range c.Claims {
		w.line("- " + claim.String())
	}
	if c.Comments > 0 {
		w.put("COMMENTS", strconv.Itoa(c.Comments))
	}
	return w.put("COMMENTS-UNTIL", formatInstant(c.Seen)).put("ANSWER-BY", formatInstant(c.AnswerBy)).put("COMMENTED", c.Said).
		line("REQUEST: Score each claim 0.0-1.0. ACCEPT or REJECT each. Include EVIDENCE.").
		line("  0.0 is for what you do not know, 1.0 for what you have evidence of. Answer in this form, a row for each claim:").
		line("  SYNC-RESULT | from: <you> | timestamp: <now>").
		line("  SCORES:").
		line("  - [<id>] SCORE: <0.0-1.0> | <ACCEPT, REJECT or PARTIAL> | EVIDENCE: <where you have it from>").String()
}

// String is the claim as a check lists it.
func (c Claim) String() string {
	text, source := c.ItemRef.String(), strings.Map(func(r rune) rune {
		switch r {
		case '(':
			return '['
		case ')':
			return ']'
		}
		return r
	}, flatText(c.Source))
	if c.Label == "" && !strings.HasPrefix(text, "[] ") {
		text = "[] " + text
	}
	if source != "" || sourcePattern.MatchString(text) {
		text += " (source: " + source + ")"
	}
	return text
}

// sourceOf gives the same as sourcePattern. The pattern is slow if there is no source, and a year
// of topics has a hundred thousand claims.
func sourceOf(line string) []string {
	if !strings.HasSuffix(line, ")") {
		return nil
	}
	return sourcePattern.FindStringSubmatch(line)
}

func parseSyncCheck(body string) (SyncCheck, error) {
	f := readForm("SYNC-CHECK", body, "COMMENTS", "COMMENTS-UNTIL", "ANSWER-BY", "COMMENTED")
	c := SyncCheck{FormHead: f.FormHead, Collaboration: f.head("collaboration")}
	for _, line := range f.list("CLAIMS") {
		claim := Claim{}
		if m := sourceOf(line); m != nil {
			line, claim.Source = m[1], strings.TrimSpace(m[2])
		}
		if claim.ItemRef = ParseItemRef(line); claim.ItemRef == (ItemRef{}) {
			continue
		}
		if c.Claims = append(c.Claims, claim); len(c.Claims) > MaxClaims {
			return SyncCheck{}, errors.New("it claims more than one check may")
		}
	}
	if len(c.Claims) == 0 {
		return c, errors.New("it claims nothing")
	}
	if n, err := strconv.Atoi(f.flat("COMMENTS")); err == nil && n > 0 {
		c.Comments = n
	}
	c.Said = f.text("COMMENTED")
	c.Seen, _ = f.instant("COMMENTS-UNTIL") // text that is no time says nothing, like a count that is no number
	var err error
	c.AnswerBy, err = f.instant("ANSWER-BY")
	return c, err
}

// SyncResult answers a SyncCheck: what its author holds of each claim.
type SyncResult struct {
	FormHead
	Rows []SyncRow
}

// SyncRow is what the answer says to one claim.
type SyncRow struct {
	Claim    ItemRef // by its label, or by its text if the label is missing
	Score    Score
	Decision Decision
	Evidence string // empty: none
}

// Score is a number from 0 to 1 in thousandths (R21), or none.
type Score struct {
	thousandths int
	said        bool
}

// NewScore is x rounded to the nearest thousandth. It is no score if x is not between 0 and 1.
func NewScore(x float64) Score {
	if !(x >= 0 && x <= 1) {
		return Score{}
	}
	return Score{int(math.Round(x * 1000)), true}
}

// Value is the score, and whether there is one.
func (s Score) Value() (x float64, ok bool) { return float64(s.thousandths) / 1000, s.said }

// Below reports whether there is a score, and it is less than x.
func (s Score) Below(x float64) bool { return s.said && float64(s.thousandths)/1000 < x }

// Percent is the score as people read it, on a screen and in a file: a whole percent, a half rounded
// up. It is "" if there is none.
func (s Score) Percent() string {
	if !s.said {
		return ""
	}
	return strconv.Itoa((s.thousandths+5)/10) + "%"
}

// MeanScore is the mean of scores, or none if none of them is one.
func MeanScore(scores []Score) (mean Score) {
	n := 0
	for _, s := range scores {
		if s.said {
			mean.thousandths, n = mean.thousandths+s.thousandths, n+1
		}
	}
	if n > 0 {
		mean = Score{(2*mean.thousandths + n) / (2 * n), true}
	}
	return mean
}

// String is the score as a result writes it: "1.0", "0.625", "-".
func (s Score) String() string {
	if !s.said {
		return "-"
	}
	text := strconv.FormatFloat(float64(s.thousandths)/1000, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// MarshalJSON writes the number, or null if there is none.
func (s Score) MarshalJSON() ([]byte, error) {
	if !s.said {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s.thousandths) / 1000)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Score) UnmarshalJSON(data []byte) error {
	x := -1.0
	err := json.Unmarshal(data, &x)
	*s = NewScore(x)
	return err
}

// Decision is what somebody says to a claim in one word, or "" if they say nothing.
type Decision string

// The words of a result.
const (
	DecisionAccept  Decision = "ACCEPT"
	DecisionReject  Decision = "REJECT"
	DecisionPartial Decision = "PARTIAL"
)

// AnswerSync is the act by which a check is answered. The reader also takes what language models
// make of the form: see parseSyncResult.
var AnswerSync = NewAct(ActSpec{
	Act: ActSyncResult, Heading: "SYNC-RESULT", Class: ClassDeed, Doc: "Says of each claim of a check how far its author holds it, and where that is from.",
}, parseSyncResult, formatSyncResult, SyncResult{exampleCommit, []SyncRow{
	{ItemRef{Label: "A1"}, NewScore(1), DecisionAccept, "memory of 2026-04-13"},
	{ItemRef{Label: "A2"}, NewScore(0), DecisionReject, "never discussed"},
	{ItemRef{Label: "P1"}, NewScore(0.2), DecisionPartial, "concept known, framing new"},
}})

func formatSyncResult(r SyncResult) string {
	w := writeForm("SYNC-RESULT", r.FormHead)
	w.line("SCORES:")
	for _, row := range r.Rows {
		name := flatText(row.Claim.Text)
		if row.Claim.Label != "" {
			name = row.Claim.Name()
		}
		w.line("- [" + strings.NewReplacer("[", "(", "]", ")").Replace(name) + "] SCORE: " + row.Score.String() +
			" | " + string(row.Decision) + " | EVIDENCE: " + flatText(row.Evidence))
	}
	overall, decision := r.overall()
	return w.line("OVERALL: " + overall + " | DECISION: " + decision).String()
}

// Baseless reports whether the row has a score above 0 that rests on nothing: it does not count
// (R26).
func (r SyncRow) Baseless() bool { return r.Score.thousandths > 0 && evidence(r.Evidence) == "" }

// overall is the mean of the scores that count as a whole percent, and all decisions as one. It is
// for people who read the result. The fold computes its own.
func (r SyncResult) overall() (mean, decision string) {
	var counted []Score
	accepts, rejects := 0, 0
	for _, row := range r.Rows {
		if !row.Baseless() {
			counted = append(counted, row.Score)
		}
		switch row.Decision {
		case DecisionAccept:
			accepts++
		case DecisionReject:
			rejects++
		}
	}
	mean, decision = cmp.Or(MeanScore(counted).Percent(), "-"), "PARTIAL-ACCEPT"
	switch len(r.Rows) {
	case accepts:
		decision = "ACCEPT"
	case rejects:
		decision = "REJECT"
	}
	return mean, decision
}
