// Package agentprogram is what parley knows of the agent programs of others: how a process of one is
// recognised, what its hooks are given, how text is handed to its model, and how an idle session is
// rung. Each program is one file. What a hook's input and environment say is a claim, which the
// caller has to prove: nothing here looks for who is asking.
package agentprogram

import (
	"context"

	"github.com/parleyfleet/parley/internal/process"
)

// Program is one agent program.
type Program interface {
	// Name is its word in commands: "claude", "codex".
	Name() string
	// Is reports whether a process is this program, as Known does.
	Is(exe string, argv []string) bool
	// Shares reports whether one process holds several sessions at the same time.
	Shares() bool
	// Once reports whether a process, by its arguments, is one whose session ends with its turn, so
	// that nobody rings it.
	Once(argv []string) bool
	// Variable is the variable by which the commands of a session know its id. Hooks and servers of
	// tools of a program that Shares do not have it.
	Variable() string
	// Event reads what a hook was given: the value that Read returned, and its environment.
	Event(in []byte, env func(string) string) (Event, error)
	// Takes reports whether text can be handed to the model at this event.
	Takes(e Event) bool
	// Answer is what the hook writes to its standard output, with exit code 0, to hand text to the
	// model. It is nil for no text, and for an event that takes none.
	Answer(e Event, text string) []byte
	// Ring has an idle session of that process begin a turn with a sentence. A session that works
	// takes it up during its turn. No error means that the program took the sentence, not that its
	// model was shown it.
	Ring(ctx context.Context, to process.ID, b Bell, sentence string) error
	// State tells what the program itself says of the session of that process. `home` is as in Bell.
	State(home string, of process.ID) (State, error)
}

// MaxText is how many bytes of text all programs show to their models whole. Of more, Codex shows the
// two ends and the name of a file.
const MaxText = 9000

// All returns the programs that have an adapter.
func All() []Program { return []Program{claude{}, codex{}} }

// Find returns the program of that name.
func Find(name string) (Program, bool) {
	for _, p := range All() {
		if p.Name() == name {
			return p, true
		}
	}
	return nil, false
}

// Kind is what happened in a session.
type Kind int

// The kinds of events. What does not matter to mail is Other.
const (
	Other    Kind = iota
	Started       // the session began, or goes on with an emptied or shortened context; see Event.Source
	Prompted      // a turn begins
	UsedTool      // a tool returned, or failed; of Claude Code: all tools that ran beside each other
	Stopped       // a turn ends; where its human stops it, Claude Code tells no hook
	Asks          // the program waits for its human
	Ended         // the session ends; see Event.Source
	Compacts      // the context is about to be shortened
)

// Event is one event of a session.
type Event struct {
	Kind Kind
	// Name is the program's own name of the event.
	Name string
	// Session is the program's id of the session, and Folder where it works now.
	Session, Folder string
	// Turn is the program's id of the turn; "" if it says none, or not the right one.
	Turn string
	// Source says how a session Started: startup, resume, clear, compact, fork; and why it Ended. After
	// "clear" and "resume" the same process goes on with another session.
	Source string
	// Process is the process that the environment says is the program; 0 if it says nothing.
	Process int
	// Prompt is what was typed, or what rang; only of Prompted. Typed is false if the program itself
	// says that nobody typed it. What one session of Claude Code tells another looks as if typed.
	Prompt string
	Typed  bool
	// Inner is true within a subagent, which takes no mail.
	Inner bool
	// Again is true if the turn that Stopped had already gone on because of a hook.
	Again bool
	// Attended is true if the program says that a human sits before it.
	Attended bool
	// Holds is true if the program keeps what Ring tells it until its human agrees: Claude Code does
	// so while it asks for no permissions, unless a process beneath it rings.
	Holds bool
	// Bell is how the session says that it can be rung. Its Path is empty.
	Bell Bell
}

// Bell is what is needed to ring a session. What a program has no use for stays empty.
type Bell struct {
	// Home is the program's folder of settings: ~/.claude, ~/.codex.
	Home string
	// Socket is the session's own inbox.
	Socket string
	// Thread is the name under which the program queues prompts for the session.
	Thread string
	// Path is the program's executable as the operator installed it.
	Path string
}

// Status says what a session is at.
type Status int

// The states of a session.
const (
	Unknown Status = iota
	Idle           // it waits for a prompt
	Busy           // it works on a turn
	Waiting        // it waits for its human, who is asked something
)

// State is what a program says of a session.
type State struct {
	Status Status
	// Session, Folder and Socket are as in Event and Bell; "" if the program does not say.
	Session, Folder, Socket string
}
