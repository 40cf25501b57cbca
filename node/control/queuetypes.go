//go:build never

package control

// Queue tells what the agents of this host have to do: what runs, what waits, and what is
// tried again when.
var Queue = NewVerb[QueueRequest, []Job](VerbSpec{
	Name: "queue", Access: Reads, Doing: "show what agents have to do",
	Doc: "Lists what the agents of this host have to do.",
})

// QueueRequest asks for the work of one agent of this host, or of all.
type QueueRequest struct {
	Agent string `json:"agent,omitempty"`
}

// JobState is how far a job has come.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running" // the agent's command runs
	JobWaiting JobState = "waiting" // for its turn
	JobRetry   JobState = "retry"   // the last attempt failed, and the pause before the next one is not over
	JobHeld    JobState = "held"    // no command of the agent is run for now: Job.Why
)

// Job is an agent's work on one message.
type Job struct {
	Agent   protocol.Name `json:"agent"`
	Path    protocol.Path `json:"path"` // the message
	From    string        `json:"from"` // who wrote it, with the host where that is known
	State   JobState      `json:"state"`
	Tier    string        `json:"tier"`           // of the agent's commands
	Since   time.Time     `json:"since,omitzero"` // when the command started; else when the message was written. UTC
	Attempt int           `json:"attempt"`        // which one runs, or ran last; 0 where none did
	Of      int           `json:"of"`             // how many there may be
	Next    time.Time     `json:"next,omitzero"`  // when it is tried again; UTC
	Why     string        `json:"why"`            // why it is held, or how the last attempt failed
	Text    string        `json:"text"`           // the beginning of the message
}

// Cancel ends an agent's work on a message of this host, which waits or runs. Its sender
// is told.
var Cancel = NewVerb[CancelRequest, []Job](VerbSpec{
	Name: "cancel", Access: Operates, Doing: "cancel a run",
	Doc: "Ends an agent's work on a message, and tells its sender. The answer is what was ended.",
})

// CancelRequest names the message (a path, or the unique end of one) and, where several
// agents of this host work on it and not all of them are to stop, the agent.
type CancelRequest struct {
	Message string `json:"message"`
	Agent   string `json:"agent,omitempty"`
	Reason  string `json:"reason,omitempty"`
}
