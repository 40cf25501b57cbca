package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// TellSession tells what a session of an agent program does, as the program's hook says it, and
// asks what the session's model is to be told (R67 to R71).
var TellSession = NewVerb[SessionEventRequest, SessionAnswer](VerbSpec{
	Name: "session-event", Access: Reads, Doing: "tell of a session",
	Doc: "Tells what a session of an agent program does, and asks what its model is to be told. Hooks of programs ask it.",
})

// SessionEventRequest is what a hook says of its session. All of it is a claim: the node looks
// which process calls, and beneath which program.
type SessionEventRequest struct {
	Program string           `json:"program"`           // such as "claude"
	Session string           `json:"session"`           // the program's id of the session
	Event   SessionEventKind `json:"event"`             // what happens
	Source  string           `json:"source,omitempty"`  // how it started: startup, resume, clear, compact or fork
	Folder  string           `json:"folder,omitempty"`  // where it works
	Process int              `json:"process,omitempty"` // the program's process; 0: not said
	Bell    string           `json:"bell,omitempty"`    // the word of the bell that stands in what was typed
	Typed   bool             `json:"typed,omitempty"`   // somebody typed; else the program told itself what stands there
	Holds   bool             `json:"holds,omitempty"`   // the program would ask its human about each bell
	Takes   bool             `json:"takes,omitempty"`   // the hook can hand a text to the model
	Ring    SessionBell      `json:"ring,omitzero"`     // how the session can be rung
}

// SessionBell is how a session is rung when it is idle. What is empty is not known.
type SessionBell struct {
	Socket string `json:"socket,omitempty"` // the program's socket for it
	Home   string `json:"home,omitempty"`   // the folder of the program's settings
}

// SessionBells tells each bell of the session beneath which it is asked, for as long as it is asked.
// Of the request, the program, the session, its process and its socket count.
var SessionBells = NewStream[SessionEventRequest, SessionRing](VerbSpec{
	Name: "session-bells", Access: Reads, Long: true, Doing: "hear the bells of a session",
	Doc: "Tells each bell of the session of an agent program. A process asks it that runs beneath the session, and tells the program.",
}, func(SessionEventRequest) bool { return true })

// SessionRing is a bell.
type SessionRing struct {
	Sentence string `json:"sentence"`
}

// SessionWay is how a session is rung.
type SessionWay string

// The ways. What has none hears at its next turn.
const (
	BySocket  SessionWay = "socket"  // the program's inbox of the session
	ByMonitor SessionWay = "monitor" // a process of parley's beneath the session, as SessionBells
	ByQueue   SessionWay = "queue"   // the program's queue of prompts
)

// SessionEventKind is what a session does.
type SessionEventKind string

// What a hook can tell.
const (
	SessionThere    SessionEventKind = "there" // it has tools of parley, and nothing else is known
	SessionStarted  SessionEventKind = "started"
	SessionPrompted SessionEventKind = "prompted" // somebody typed, or the bell rang
	SessionUsedTool SessionEventKind = "used-tool"
	SessionStopped  SessionEventKind = "stopped"  // its turn ends
	SessionAsks     SessionEventKind = "asks"     // it waits for its human
	SessionCompacts SessionEventKind = "compacts" // its context is about to be shortened
	SessionEnded    SessionEventKind = "ended"
)

// SessionAnswer is what the model of a session is to be told.
type SessionAnswer struct {
	Agent protocol.Name `json:"agent,omitempty"` // as whom the session speaks
	Text  string        `json:"text,omitempty"`  // for the model; absent: nothing
	Nonce string        `json:"nonce,omitempty"` // of mail in the text, for SessionGiven
}

// SessionGiven tells that a hook has printed the text of a SessionAnswer. Mail for which this is not
// told is handed over again.
var SessionGiven = NewVerb[SessionGivenRequest, None](VerbSpec{
	Name: "session-given", Access: Reads, Doing: "tell that mail was handed over",
	Doc: "Tells that a hook has printed the mail that it was given for a session's model.",
})

// SessionGivenRequest names a SessionAnswer by its nonce.
type SessionGivenRequest struct {
	Nonce string `json:"nonce"`
}

// Sessions lists the sessions of agent programs on this host, and the names that sessions had.
var Sessions = NewQuestion[[]Session](VerbSpec{
	Name: "sessions", Access: Reads,
	Doc: "Lists the sessions of agent programs on this host, and the names of those that have ended, by name.",
})

// Session is an agent whose program a person opens. Between two sessions nobody is there.
type Session struct {
	Agent    protocol.Name `json:"agent"`             // as whom it speaks
	Program  string        `json:"program"`           // such as "claude"
	Folder   string        `json:"folder"`            // for which the name was made
	ID       string        `json:"id,omitempty"`      // the program's id of the session that has the name, or had it last
	Process  int           `json:"process,omitempty"` // of the session that has the name; absent: none has
	State    AgentState    `json:"state"`             // what it is at
	Since    time.Time     `json:"since,omitzero"`    // since when
	Waiting  int           `json:"waiting"`           // messages that wait for it
	Handed   int           `json:"handed"`            // of those, the ones that its model was handed, which nothing proves yet
	Woken    time.Time     `json:"woken,omitzero"`    // when the program last took the bell, if nothing has come of that yet
	Ways     []SessionWay  `json:"ways"`              // how it can be rung, the next way first; none: it hears at its next turn
	Turns    int           `json:"turns"`             // turns within the last hour that parley has caused
	Muted    time.Time     `json:"muted,omitzero"`    // until when it is not rung
	Declared bool          `json:"declared"`          // the fleet was told of its name
}

var (
	// NameSession gives a session another name.
	NameSession = NewVerb[NameSessionRequest, Session](VerbSpec{
		Name: "session-name", Access: Speaks, Doing: "rename a session",
		Doc: "Gives a session of an agent program another name.",
	})
	// MuteSession has a session not rung for a while.
	MuteSession = NewVerb[MuteSessionRequest, Session](VerbSpec{
		Name: "session-mute", Access: Speaks, Doing: "mute a session",
		Doc: "Has a session of an agent program not rung for a while. Its mail waits for its next turn.",
	})
)

// NameSessionRequest gives the session As (empty: R14 decides) another name.
type NameSessionRequest struct {
	As   string `json:"as,omitempty"`
	Name string `json:"name"`
}

// MuteSessionRequest has the session As (empty: R14 decides) not rung for a time; 0: it is rung
// again from now on.
type MuteSessionRequest struct {
	As  string        `json:"as,omitempty"`
	For time.Duration `json:"for"`
}
