package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Events tells what happens, from now on. The first answer is EventBegun: what happens
// after it is told. Each caller is told of everything, as it may list it all by other
// verbs: log, agents, list and status.
var Events = NewStream[EventsRequest, Event](VerbSpec{
	Name: "events", Access: Reads, Doing: "follow what happens", Long: true,
	Doc: "Tells what happens from now on: messages and their stages, runs of agents, hosts, gates, troubles.",
}, func(EventsRequest) bool { return true })

// EventsRequest asks for events of some kinds (none: of all). Agent is the name of an
// agent or human, with or without @host: events are of messages from or to it and of its
// runs. With Channel (id or name) they are of messages there and of runs for them. With
// either there are none of hosts and troubles, which belong to no agent and no channel.
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
	EventStage   EventKind = "stage"   // a message has come further
	EventRun     EventKind = "run"     // a command of an agent of this host started or ended, or is to be tried again
	EventHost    EventKind = "host"    // another host came or went
	EventGate    EventKind = "gate"    // a human is asked to decide something, or has decided
	EventTrouble EventKind = "trouble" // something is wrong here, or is no longer
	EventBegun   EventKind = "begun"   // the stream has begun; always told
	EventMissed  EventKind = "missed"  // events are left out here; always told
)

// EventKinds are the kinds that can be asked for.
func EventKinds() []EventKind {
	return []EventKind{EventMessage, EventStage, EventRun, EventHost, EventGate, EventTrouble}
}

// What an event says has changed.
const (
	RunStarted      = "started"
	RunEnded        = "ended"
	RunAgain        = "again" // it failed, and is made again
	HostCame        = "came"
	HostWent        = "went"
	GateOpened      = "opened"
	GateAnswered    = "answered"
	TroubleBegan    = "began"
	TroubleEnded    = "ended"
	TroubleHappened = "happened" // it has no end
)

// Event is something that has happened. Of what follows Kind there is what the kind is
// called after, and nothing else.
type Event struct {
	Time time.Time `json:"time,omitzero"` // when this node learned of it, UTC
	Kind EventKind `json:"kind"`          // message, stage, run, host, gate, trouble, begun or missed
	// Message is the message that came, as it is when that is told: what it says of its
	// stage may be told once more.
	Message *Message       `json:"message,omitempty"`
	Stage   *StageChange   `json:"stage,omitempty"`   // how far a message has come
	Run     *RunChange     `json:"run,omitempty"`     // a run that started or ended, or is made again
	Host    *HostChange    `json:"host,omitempty"`    // a host that came or went
	Gate    *GateChange    `json:"gate,omitempty"`    // what a human is asked, or has decided
	Trouble *TroubleChange `json:"trouble,omitempty"` // what is wrong, or is no longer
	// Missed is how many events of the kinds asked for, of whatever agent and channel, came
	// faster than they were taken and are left out here.
	Missed int `json:"missed,omitempty"`
}

// StageChange is a stage that a message has come to.
type StageChange struct {
	Path  protocol.Path  `json:"path"`         // the message
	Stage protocol.Stage `json:"stage"`        // heard, recorded, pushed, read or answered
	By    string         `json:"by,omitempty"` // the host that heard it, or the addressee who read or answered it
}

// RunChange is a run of an agent's command that started or ended, or that failed and is made
// again.
type RunChange struct {
	Change   string        `json:"change"`            // started, ended or again
	Run      string        `json:"run"`               // names the run, the same at its start and end; "" of again
	Agent    protocol.Name `json:"agent"`             // whose command it is
	Path     protocol.Path `json:"path,omitzero"`     // the message that it is for; absent where the command is only tried
	Failure  string        `json:"failure,omitempty"` // why it gave no answer, one word; absent where it did
	Problem  string        `json:"problem,omitempty"` // the same in a sentence
	ExitCode int           `json:"exit_code"`         // -1 where it did not end by itself
	Elapsed  Seconds       `json:"elapsed"`           // how long it took, once it has ended
	Attempt  int           `json:"attempt,omitempty"` // of again: which attempt failed, the first is 1
	Of       int           `json:"of,omitempty"`      // of again: how many there may be
	Next     time.Time     `json:"next,omitzero"`     // of again: when the next one is due, UTC
}

// HostChange is another host that came or went.
type HostChange struct {
	Change string        `json:"change"` // came or went; one that was started anew went and came
	Host   protocol.Name `json:"host"`   // which
}

// GateChange is what a human is asked, or has decided; see parley gates.
type GateChange struct {
	Change  string        `json:"change"`  // opened or answered
	Path    protocol.Path `json:"path"`    // the message that asks
	Title   string        `json:"title"`   // what it is about, in words
	Party   string        `json:"party"`   // the party's name
	Host    protocol.Name `json:"host"`    // whose human decides
	Outcome string        `json:"outcome"` // pending, accepted, declined, deferred, contested or expired
}

// TroubleChange is something that is wrong here, or is no longer. What was wrong when the
// stream began is in status.
type TroubleChange struct {
	Change string `json:"change"` // began, ended, or happened, which has no end
	Text   string `json:"text"`   // what is or was wrong, as status says it
}
