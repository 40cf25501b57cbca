package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Trace returns the steps of a message on all hosts that tell them.
var Trace = NewVerb[TraceRequest, []TraceStep](VerbSpec{
	Name: "trace", Access: Reads, Doing: "trace a message",
	Doc: "Returns the steps that a message has gone, on all hosts that say so.",
})

// TraceRequest asks for the steps of a message.
type TraceRequest struct {
	Path string `json:"path"`
	Here bool   `json:"here,omitempty"` // other hosts are not asked
}

// Steps of a message that no host tells to another one: they stand in the record, or say that a
// host told nothing. The others are those of protocol.TraceStep.
const (
	TraceBecause  = "because"   // an agent wrote it because of another message
	TraceAnswers  = "answers"   // it answers another message
	TraceWritten  = "written"   // its author wrote it
	TraceSent     = "sent"      // an agent wrote it because of the message above
	TraceRead     = "read"      // its receipt is in
	TraceAnswered = "answered"  // a reply refers to it
	TraceFailed   = "failed"    // its sender was told that there will be no answer
	TraceRetried  = "retried"   // somebody had it tried again
	TraceDropped  = "dropped"   // somebody put the dead letter away
	TraceMore     = "more"      // so many more messages were sent because of it, directly or not
	TraceNotAsked = "not-asked" // the host cannot be asked now
	TraceNoAnswer = "no-answer" // the host was asked, and did not say what it knows
)

// TraceStep is a step of a message. Fields that do not fit the step are missing.
type TraceStep struct {
	Time    time.Time     `json:"time,omitzero"`     // UTC, by the clock of the host; missing if nobody noted it
	Host    protocol.Name `json:"host"`              // the host of the step; "" if nobody signed it
	Path    protocol.Path `json:"path"`              // the message
	Depth   int           `json:"depth"`             // 0: the message that was asked for; otherwise how many messages lead from that one to this one
	Step    string        `json:"step"`              // one word
	Agent   string        `json:"agent,omitempty"`   // the agent of the step
	By      string        `json:"by,omitempty"`      // which host, which way, what it waits for, or who said so
	From    string        `json:"from,omitempty"`    // of written and sent: its author
	To      []string      `json:"to,omitempty"`      // of written and sent: its addressees
	Act     protocol.Act  `json:"act,omitempty"`     // of written and sent: what it does
	With    string        `json:"with,omitempty"`    // the path of the message that says so, or that was the cause
	Retry   int           `json:"retry,omitempty"`   // how often somebody had had the message tried again before
	Attempt int           `json:"attempt,omitempty"` // number of the attempt; the first is 1
	Tier    string        `json:"tier,omitempty"`    // the tier in which the agent was run
	Failure string        `json:"failure,omitempty"` // of ended: why there is no answer
	Exit    int           `json:"exit,omitempty"`    // of ended: the exit code of the command
	Ran     Seconds       `json:"ran,omitempty"`     // of ended: how long the command ran
	Bytes   int           `json:"bytes,omitempty"`   // of ended: how much the command printed
	Next    time.Time     `json:"next,omitzero"`     // it is not tried again before this time, UTC
	Text    string        `json:"text,omitempty"`    // what else there is to say
}
