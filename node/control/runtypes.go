package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// DeadLetters lists the messages on which agents of the fleet have failed for good.
var DeadLetters = NewVerb[DeadLettersRequest, []DeadLetter](VerbSpec{
	Name: "dead-letters", Access: Reads, Doing: "list dead letters",
	Doc: "Lists the messages that agents of the fleet have failed on, and what a host has claimed for an agent of this one and does not do.",
})

// DeadLettersRequest asks for the dead letters of one agent or of all, for one message or for all.
type DeadLettersRequest struct {
	Agent   string `json:"agent,omitempty"`
	Message string `json:"message,omitempty"` // a path, or the unique end of one
	Dropped bool   `json:"dropped,omitempty"` // also those that were put away
}

// DeadLetter is a message on which an agent has failed for good.
type DeadLetter struct {
	Message  Message       `json:"message"`           // the message
	Agent    string        `json:"agent"`             // the agent
	Host     protocol.Name `json:"host"`              // the host where it was tried; "" if that was not signed
	Time     time.Time     `json:"time,omitzero"`     // when it was given up, UTC
	Problem  string        `json:"problem"`           // how the last attempt failed
	Text     string        `json:"text"`              // what else is said about it, such as what the command had printed
	Tier     string        `json:"tier"`              // the tier of the last attempt
	Ran      Seconds       `json:"ran"`               // how long the last attempt took
	Attempts int           `json:"attempts"`          // how often the agent's command was started for it, in all
	Retries  int           `json:"retries"`           // how often somebody had it tried again
	Claimed  bool          `json:"claimed,omitempty"` // it is none yet: another host that serves the agent has claimed it and does not do it. Somebody may have it tried again
	Dropped  *RunWord      `json:"dropped,omitempty"` // who put it away; absent if nobody did
}

// RunWord is what somebody said about a dead letter.
type RunWord struct {
	By     string    `json:"by"`            // who
	Time   time.Time `json:"time,omitzero"` // UTC
	Reason string    `json:"reason"`        // the reason; "" if none was given
}

// RetryDead has a dead letter tried again on the host where it was tried before. DropDead puts it
// away. It stays in the record.
var (
	RetryDead = NewVerb[DeadLetterRequest, DeadLetter](VerbSpec{
		Name: "retry-dead", Access: Operates, Doing: "have a dead letter tried again",
		Doc: "Has an agent work anew on a message that it failed on.",
	})
	DropDead = NewVerb[DeadLetterRequest, DeadLetter](VerbSpec{
		Name: "drop-dead", Access: Operates, Doing: "put a dead letter away",
		Doc: "Puts a dead letter away. It stays in the record.",
	})
)

// DeadLetterRequest names a dead letter: the message, by a path or the unique end of one. If
// several agents failed on it, it also names the agent.
type DeadLetterRequest struct {
	Message string `json:"message"`
	Agent   string `json:"agent,omitempty"`
	Reason  string `json:"reason,omitempty"` // kept in the record, in one line; 2,000 bytes at most
}
