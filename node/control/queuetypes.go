package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Queue lists what the agents of this host have to do: what runs, what waits and why, and what is
// tried again and when.
var Queue = NewVerb[QueueRequest, []Job](VerbSpec{
	Name: "queue", Access: Reads, Doing: "show what agents have to do",
	Doc: "Lists what the agents of this host have to do: what runs, then what waits.",
})

// QueueRequest asks for the work of one agent of this host, or of all, on one message (a path, or
// the unique end of one) or on all.
type QueueRequest struct {
	Agent   string `json:"agent,omitempty"`
	Message string `json:"message,omitempty"`
}

// JobState is whether a job runs.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running" // the agent's command runs
	JobWaiting JobState = "waiting" // it waits for its turn, or for what Job.Why says
)

// JobWhy says for what a job waits.
type JobWhy string

// What a job can wait for.
const (
	WhyNothing JobWhy = ""           // it is about to start, or runs
	WhyBusy    JobWhy = "busy"       // the agent works on as many messages as its tier allows
	WhySlots   JobWhy = "slots"      // the host runs as many commands as it may (max_commands)
	WhyPaused  JobWhy = "paused"     // somebody has paused the agent
	WhyStalled JobWhy = "stalled"    // the disk does not take the note that the agent's command starts; status says why. It is tried again
	WhyRetry   JobWhy = "retry"      // its last attempt has failed, and the pause before the next one is not over
	WhyParty   JobWhy = "party-busy" // the agent has said that it is busy in the party
	WhyQuiet   JobWhy = "quiet"      // an agent has caused it, and the agent that is to run has quiet hours
	WhyOrder   JobWhy = "order"      // an earlier message of its host is still on the way
	WhyClaim   JobWhy = "claim"      // several hosts could do it, and they are settling which one does
	WhyReceipt JobWhy = "receipt"    // the receipt that may say what it answers is still on the way
	WhyBudget  JobWhy = "budget"     // agents have caused too many runs (max_runs, max_conversation_runs); Job.Budget says how it goes on
	WhyHalted  JobWhy = "halted"     // the host runs no agent for now; status says why
)

// Job is an agent's work on one message.
type Job struct {
	Agent   protocol.Name `json:"agent"`          // the agent
	Path    protocol.Path `json:"path"`           // the message
	From    string        `json:"from"`           // the author of the message
	State   JobState      `json:"state"`          // whether it runs
	Why     JobWhy        `json:"why"`            // what it waits for; "" if it is about to start, or runs
	Place   int           `json:"place"`          // its place among the jobs that wait for this agent; the oldest is 1; 0 if it runs. The senders take turns
	Tier    string        `json:"tier"`           // the tier of the agent
	Since   time.Time     `json:"since,omitzero"` // when the command started or, if it has not, when the message was written. UTC
	Attempt int           `json:"attempt"`        // number of the attempt that runs, or ran last; 0 if none did
	Of      int           `json:"of"`             // how many attempts there may be
	Next    time.Time     `json:"next,omitzero"`  // when it is tried again, UTC
	Budget  string        `json:"budget"`         // why a budget holds it, with what lets it go on; "" if none does
	Problem string        `json:"problem"`        // how the last attempt failed, in a word or two, or that the message cannot be read
	Text    string        `json:"text"`           // the first line of the message; "" after the first 100 jobs
}

// Cancel ends an agent's work on a message of this host, whether it waits or runs. The sender is
// told who has canceled it.
var Cancel = NewVerb[CancelRequest, []Job](VerbSpec{
	Name: "cancel", Access: Operates, Doing: "cancel a run", Long: true,
	Doc: "Ends agents' work on a message, and tells its sender. Returns what was ended, as it stood.",
})

// CancelRequest names the message, by a path or the unique end of one. If several agents of this
// host work on it and not all of them are to stop, it also names the agent.
type CancelRequest struct {
	Message string `json:"message"`
	Agent   string `json:"agent,omitempty"`
	Reason  string `json:"reason,omitempty"` // the sender is told it; one line, at most 2,000 bytes
}

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
