package control

import (
	"time"
)

// Sync puts the claims of topics to their other participants and tells what comes of that:
// what was sent to whom, each result as it comes, and who did not answer in time. Such a one
// has said nothing, and the result counts when it comes (R25).
var Sync = NewStream[SyncRequest, SyncEvent](VerbSpec{
	Name: "sync", Access: Speaks, Doing: "check how far topics are in sync", Long: true,
	Doc: "Puts the claims of topics to those they are with, and tells the results as they come.",
}, func(SyncRequest) bool { return true })

// SyncRequest asks for sync-checks of somebody's topics. With names those
// who are asked, none: all; Topic the topic, by its name or short form, empty: every one that
// is open with them.
type SyncRequest struct {
	Acting
	With   []string      `json:"with,omitempty"`
	Topic  string        `json:"topic,omitempty"`
	Claims []string      `json:"claims,omitempty"` // put to this check alone, beside those of the topic
	Wait   time.Duration `json:"wait,omitempty"`   // for each result; 0: a minute on the same host, five on another
	// Persist has each check be a comment on its topic's issue too.
	Persist bool `json:"persist,omitempty"`
}

// The kinds of SyncEvents.
const (
	SyncLate    = "late"    // a result of an earlier check that came when nobody waited any more
	SyncSent    = "sent"    // a check was stored, and is waited for
	SyncResult  = "result"  // it was answered
	SyncProse   = "prose"   // it was answered in words without the form; that is asked for once more
	SyncFailed  = "failed"  // the command of the one who is asked failed
	SyncTimeout = "timeout" // it was not answered in time: nothing is scored by that
	SyncRefused = "refused" // no check was made
)

// The ways that a check goes.
const (
	BySameHost  = "hey"      // an agent of this host
	ByOtherHost = "wormhole" // an agent of a host that is live
	ByRecord    = "inbox"    // the record alone: it is read when somebody comes there
	ByIssue     = "issue"    // a comment on the topic's issue: no host serves the one who is asked
)

// SyncEvent is what came of one check.
type SyncEvent struct {
	Kind      string       `json:"kind"`             // "late", "sent", "result", "prose", "failed", "timeout" or "refused"
	Via       string       `json:"via"`              // the agent that asks
	With      string       `json:"with"`             // who is asked
	Topic     string       `json:"topic"`            // what the topic is called
	Check     string       `json:"check"`            // the message that asks; "" where none was sent
	Transport string       `json:"transport"`        // how it goes: "hey", "wormhole", "issue" or "inbox"
	Until     time.Time    `json:"until,omitzero"`   // until when it is waited for
	Problem   string       `json:"problem"`          // why none was made, or where the answer is that has no form; else ""
	Result    *SyncOutcome `json:"result,omitempty"` // what was answered
	Validate  []string     `json:"validate"`         // items of which was asked whether they still hold
	Took      Seconds      `json:"took"`             // from when it was sent

	Issue   *IssueNews    `json:"issue,omitempty"`   // of "sent": what is new on the topic's issue
	Comment *IssueComment `json:"comment,omitempty"` // of "sent": how it went there, where it was to
}

// SyncOutcome is a result as it is shown.
type SyncOutcome struct {
	Path       string     `json:"path"`          // the message that answers
	By         string     `json:"by"`            // who answered
	Time       time.Time  `json:"time,omitzero"` // when, UTC
	Mechanical bool       `json:"mechanical"`    // a program compared, no agent answered
	Rows       []SyncLine `json:"rows"`          // one of each claim
	Raw        *float64   `json:"raw"`           // the mean of what counts, 0 to 1; null where nothing does
	Decayed    *float64   `json:"decayed"`       // what that is worth now
	Status     string     `json:"status"`        // SYNCED, PARTIAL, DEGRADED or DESYNC; "" without a score
	Counted    int        `json:"counted"`       // how many rows count
	Lambda     float64    `json:"lambda"`        // how fast the score loses its worth, an hour
	Tier       string     `json:"lambdaTier"`    // why that is so
	Groupthink bool       `json:"groupthink"`    // all is agreed on: a yellow flag
	Late       bool       `json:"late"`          // it came when nobody waited any more
}

// SyncLine is what was answered to one claim.
type SyncLine struct {
	ID       string   `json:"id"`       // the claim's label
	Text     string   `json:"text"`     // what it claims
	Raw      *float64 `json:"raw"`      // 0 to 1; null: it was not answered
	Decayed  *float64 `json:"decayed"`  // what that is worth now
	Decision string   `json:"decision"` // ACCEPT, REJECT or PARTIAL; "" for none
	Evidence string   `json:"evidence"` // where it is from; "" for none
	// Flag is what is to be looked at: "unanswered", "no evidence" (both do not count),
	// "contradicts" or "not in memory"; "" for nothing.
	Flag string `json:"flag"`
}
