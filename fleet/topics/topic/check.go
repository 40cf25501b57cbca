package topic

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Check is a sync-check: claims that one participant asked the other to score. It does not change.
type Check struct {
	Path     protocol.Path `json:"path"`               // the message that asks
	By       string        `json:"by"`                 // who asks
	Of       string        `json:"of"`                 // who is asked
	Time     time.Time     `json:"time,omitzero"`      // UTC
	AnswerBy time.Time     `json:"answer_by,omitzero"` // until when an answer is waited for
	TimedOut bool          `json:"timed_out"`          // nothing came in time; that is observed, scores nothing, and a later answer counts (R25)
	Claims   []ClaimOf     `json:"-"`
	Comments int           `json:"-"` // how many comments the anchored issue had at that time
	Seen     time.Time     `json:"-"` // when the newest comment that the author has read was written; zero: none
	Result   *Result       `json:"-"` // nil if there is none yet
}

// ClaimOf is a claim of a check, and the item to which it belongs.
type ClaimOf struct {
	protocol.ItemRef
	Source string        `json:"source"` // what it rests on; "" if it does not say
	Item   protocol.Path `json:"-"`      // zero if there is none: the claim was made for that check, or belongs to another topic
}

// Result is the answer to a check. It does not change.
type Result struct {
	Path       protocol.Path  `json:"path"`          // the message that answers
	By         string         `json:"by"`            // who answered
	Time       time.Time      `json:"time,omitzero"` // UTC
	Signed     bool           `json:"signed"`        // by a host that declares its author
	Mechanical bool           `json:"mechanical"`    // a program compared, and no agent answered (R66)
	Raw        protocol.Score `json:"raw"`           // the mean of the rows that count
	Counted    int            `json:"counted"`       // how many rows count
	Rows       []Row          `json:"rows"`          // one for each claim, in the order of the check
}

// Row is a claim, and what was answered to it.
type Row struct {
	ClaimOf
	Score    protocol.Score    `json:"score"`    // what was answered
	Decision protocol.Decision `json:"decision"` // the same in a word; "" for none
	Evidence string            `json:"evidence"` // what the score rests on; "" for nothing
	Flag     Flag              `json:"flag"`     // what there is to look at; "" for nothing
}

// Flag is something to look at in a row; "" for nothing.
type Flag string

// The flags of rows. The first two leave a row out of the mean (R26).
const (
	Unanswered    Flag = "unanswered"    // it has no score
	NoEvidence    Flag = "no evidence"   // a score above 0 that rests on nothing
	Contradiction Flag = "contradicts"   // it rejects what its author has accepted
	NotInMemory   Flag = "not in memory" // 0.0: to be removed, or discussed again
)

// Groupthink reports whether everything is agreed on. That is a yellow flag, not a green one (R22).
func (r *Result) Groupthink() bool {
	raw, ok := r.Raw.Value()
	return ok && raw == 1
}
