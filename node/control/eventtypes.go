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

// EventsRequest asks for events of some kinds (none: of all). Agent is the name of an agent or
// human, with or without @host. Then events are those of messages from or to it, and of its runs.
// With Channel (id or name), they are those of messages there, and of runs for them. With either,
// there are no events of hosts and troubles, because these belong to no agent and no channel.
type EventsRequest struct {
	Kinds   []EventKind `json:"kinds,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Channel string      `json:"channel,omitempty"`
}

// EventKind is what an event is about.
type EventKind string

// The kinds of events.
const (
	EventMessage EventKind = "message" // a message came: it was stored here, or others brought it
	EventStage   EventKind = "stage"   // a message has reached another stage
	EventRun     EventKind = "run"     // a command of an agent of this host started or ended, or is to be tried again
	EventHost    EventKind = "host"    // another host came or went
	EventGate    EventKind = "gate"    // a human is asked to decide something, or has decided it
	EventTrouble EventKind = "trouble" // something is wrong here, or no longer is
	EventBegun   EventKind = "begun"   // the stream has begun; always told
	EventMissed  EventKind = "missed"  // some events are left out here; always told
)

// EventKinds are the kinds that can be asked for.
func EventKinds() []EventKind {
	return []EventKind{EventMessage, EventStage, EventRun, EventHost, EventGate, EventTrouble}
}

// The changes that an event can tell.
const (
	RunStarted      = "started"
	RunEnded        = "ended"
	RunAgain        = "again" // it failed, and is tried again
	HostCame        = "came"
	HostWent        = "went"
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
	Kind EventKind `json:"kind"`          // message, stage, run, host, gate, trouble, begun or missed
	// Message is the message that came, as it is when the event is told. Its stage may be told once
	// more.
	Message *Message       `json:"message,omitempty"`
	Stage   *StageChange   `json:"stage,omitempty"`   // the stage that a message has reached
	Run     *RunChange     `json:"run,omitempty"`     // a run that started or ended, or that is tried again
	Host    *HostChange    `json:"host,omitempty"`    // a host that came or went
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
