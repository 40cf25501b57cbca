package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// Sync puts the claims of topics to their other participants and tells what comes of it: what was
// sent to whom, each result as it comes, and who did not answer in time. A participant who did not
// answer in time has said nothing, and a result that comes later counts (R25).
var Sync = NewStream[SyncRequest, SyncEvent](VerbSpec{
	Name: "sync", Access: Speaks, Doing: "check how far topics are in sync", Long: true,
	Doc: "Puts the claims of topics to those they are with, and tells the results as they come.",
}, func(SyncRequest) bool { return true })

// SyncRequest asks for sync-checks of somebody's topics. With names the partners to ask; none: all.
// Topic is the topic, by its name or short form; empty: every topic that is open with them.
type SyncRequest struct {
	Acting
	With   []string      `json:"with,omitempty"`
	Topic  string        `json:"topic,omitempty"`
	Claims []string      `json:"claims,omitempty"` // claims for this check alone, besides those of the topic
	Wait   time.Duration `json:"wait,omitempty"`   // how long to wait for each result; 0: a minute on the same host, five on another
	// Persist says that each check is also written as a comment on its topic's issue.
	Persist bool `json:"persist,omitempty"`
}

// The kinds of SyncEvents.
const (
	SyncLate    = "late"    // a result of an earlier check that came when nobody waited for it any more
	SyncSent    = "sent"    // a check was stored, and its result is waited for
	SyncResult  = "result"  // a check was answered
	SyncProse   = "prose"   // it was answered in words without the form, and the form is asked for once more
	SyncFailed  = "failed"  // the command of the agent that is asked failed
	SyncTimeout = "timeout" // it was not answered in time: nothing is scored by that
	SyncRefused = "refused" // no check was made
)

// The ways by which a check goes.
const (
	BySameHost  = "hey"      // an agent of this host
	ByOtherHost = "wormhole" // an agent of a host that is live
	ByRecord    = "inbox"    // the record alone: it is read when somebody comes there
	ByIssue     = "issue"    // a comment on the topic's issue: no host serves the one that is asked
)

// SyncEvent is what came of one check.
type SyncEvent struct {
	Kind      string       `json:"kind"`             // "late", "sent", "result", "prose", "failed", "timeout" or "refused"
	Via       string       `json:"via"`              // the agent that asks
	With      string       `json:"with"`             // the partner that is asked
	Topic     string       `json:"topic"`            // the name of the topic
	Check     string       `json:"check"`            // the message that asks; "" if none was sent
	Transport string       `json:"transport"`        // the way by which it goes: "hey", "wormhole", "issue" or "inbox"
	Until     time.Time    `json:"until,omitzero"`   // until when it is waited for
	Problem   string       `json:"problem"`          // why no check was made, or where an answer without the form is; otherwise ""
	Result    *SyncOutcome `json:"result,omitempty"` // what was answered
	Validate  []string     `json:"validate"`         // labels of items about which was asked whether they still hold
	Took      Seconds      `json:"took"`             // how long it took since it was sent

	Issue   *IssueNews    `json:"issue,omitempty"`   // of "sent": what is new on the topic's issue
	Comment *IssueComment `json:"comment,omitempty"` // of "sent": the comment on the issue, if there was to be one
}

// SyncOutcome is a result, and what it is worth now.
type SyncOutcome struct {
	topic.Result
	Rows    []SyncLine     `json:"rows"`    // one for each claim
	Decayed protocol.Score `json:"decayed"` // what its score is worth now
	Status  topic.Status   `json:"status"`  // by the raw score; "" without a score
	topic.Lambda
	Groupthink bool `json:"groupthink"` // everything is agreed on: a yellow flag
	Late       bool `json:"late"`       // it came when nobody waited for it any more
}

// SyncLine is what was answered to one claim.
type SyncLine struct {
	topic.Row
	Raw     protocol.Score `json:"raw"`     // what was answered
	Decayed protocol.Score `json:"decayed"` // what that score is worth now
}
