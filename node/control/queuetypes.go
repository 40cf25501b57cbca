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
