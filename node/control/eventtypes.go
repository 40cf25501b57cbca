package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Events tells what happens from now on. The first answer is EventBegun. Everything that happens
// after it is told. Each caller is told everything, because other verbs list the same to everybody:
// log, agents, list and status.
var Events = NewStream[EventsRequest, Event](VerbSpec{
	Name: "events", Access: Reads, Doing: "follow what happens", Long: true,
	Doc: "Tells what happens from now on: messages and their stages, runs of agents, hosts, gates, troubles.",
}, func(EventsRequest) bool { return true })

// EventsRequest asks for events of some kinds (none: of all).
type EventsRequest struct {
	Kinds []EventKind `json:"kinds,omitempty"`
}

// EventKind is what an event is about.
type EventKind string

// The kinds of events.
const (
	EventMessage EventKind = "message" // a message came: it was stored here, or others brought it
	EventStage   EventKind = "stage"   // a message has reached another stage
	EventRun     EventKind = "run"     // a command of an agent of this host started or ended, or is to be tried again
	EventHost    EventKind = "host"    // another host came or went
	EventSession EventKind = "session" // a session of an agent program was rung, waits for something, or goes on
	EventGate    EventKind = "gate"    // a human is asked to decide something, or has decided it
	EventTrouble EventKind = "trouble" // something is wrong here, or no longer is
	EventBegun   EventKind = "begun"   // the stream has begun; always told
	EventMissed  EventKind = "missed"  // some events are left out here; always told
)

// EventKinds are the kinds that can be asked for.
func EventKinds() []EventKind {
	return []EventKind{EventMessage, EventStage, EventRun, EventHost, EventSession, EventGate, EventTrouble}
}

// The changes that an event can tell.
const (
	RunStarted      = "started"
	RunEnded        = "ended"
	RunAgain        = "again" // it failed, and is tried again
	HostCame        = "came"
	HostWent        = "went"
	SessionWoken    = protocol.TraceWoken
	SessionWaits    = protocol.TraceWaits
	SessionGoesOn   = "goes-on"
	GateOpened      = "opened"
	GateAnswered    = "answered"
	TroubleBegan    = "began"
	TroubleEnded    = "ended"
	TroubleHappened = "happened" // it has no end
)

// Event is something that has happened. Of the fields after Kind, only the one with the name of the
// kind is present.
type Event struct {
	Time time.Time `json:"time,omitzero"` // when this node learned of it, UTC
	Kind EventKind `json:"kind"`          // message, stage, run, host, session, gate, trouble, begun or missed
	// Message is the message that came, as it is when the event is told. Its stage may be told once
	// more.
	Message *Message       `json:"message,omitempty"`
	Stage   *StageChange   `json:"stage,omitempty"`   // the stage that a message has reached
	Run     *RunChange     `json:"run,omitempty"`     // a run that started or ended, or that is tried again
	Host    *HostChange    `json:"host,omitempty"`    // a host that came or went
	Session *SessionChange `json:"session,omitempty"` // a session that was rung, waits or goes on
	Gate    *GateChange    `json:"gate,omitempty"`    // what a human is asked, or has decided
	Trouble *TroubleChange `json:"trouble,omitempty"` // what is wrong, or no longer is
	// Missed is how many events of the kinds asked for, of any agent and channel, are left out here
	// because they came faster than they were taken.
	Missed int `json:"missed,omitempty"`
}

// StageChange is a stage that a message has reached.
type StageChange struct {
	Path  protocol.Path  `json:"path"`         // the message
	Stage protocol.Stage `json:"stage"`        // heard, recorded, pushed, read or answered
	By    string         `json:"by,omitempty"` // the host that heard it, or the addressee who read or answered it
}

// RunChange is a run of an agent's command that started or ended, or that failed and is tried
// again.
type RunChange struct {
	Change   string        `json:"change"`            // started, ended or again
	Run      string        `json:"run"`               // name of the run, the same at its start and end; "" if it is tried again
	Agent    protocol.Name `json:"agent"`             // whose command it is
	Path     protocol.Path `json:"path,omitzero"`     // the message for which it is; absent if the command is only tested
	Failure  string        `json:"failure,omitempty"` // why it gave no answer, in one word; absent if it gave one
	Problem  string        `json:"problem,omitempty"` // the same in a sentence
	ExitCode int           `json:"exit_code"`         // -1 if the command did not end by itself
	Elapsed  Seconds       `json:"elapsed"`           // how long it took, when it has ended
	Attempt  int           `json:"attempt,omitempty"` // of again: the number of the attempt that failed; the first is 1
	Of       int           `json:"of,omitempty"`      // of again: how many attempts there may be
	Next     time.Time     `json:"next,omitzero"`     // of again: when the next attempt is due, UTC
}

// HostChange is another host that came or went.
type HostChange struct {
	Change string        `json:"change"` // came or went; a host that was started anew went and came
	Host   protocol.Name `json:"host"`   // the host
}

// SessionChange is what happens to a session of an agent program, on any host.
type SessionChange struct {
	Change string        `json:"change"` // woken (its program took the bell for a message), waits or goes-on
	Agent  protocol.Name `json:"agent"`  // as whom it speaks
	Host   protocol.Name `json:"host"`   // where it is
}

// GateChange is what a human is asked, or has decided; see parley gates.
type GateChange struct {
	Change  string        `json:"change"`  // opened or answered
	Path    protocol.Path `json:"path"`    // the message that asks
	Title   string        `json:"title"`   // what it is about, in words
	Party   string        `json:"party"`   // the party's name
	From    string        `json:"from"`    // who asks, as the record tells it
	Host    protocol.Name `json:"host"`    // the host whose human decides
	Outcome string        `json:"outcome"` // pending, accepted, declined, deferred, contested or expired
}

// TroubleChange is something that is wrong here, or no longer is. What was wrong when the stream
// began stands in status.
type TroubleChange struct {
	Change string `json:"change"` // began, ended, or happened, which has no end
	Text   string `json:"text"`   // what is or was wrong, in the words of status
}

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
