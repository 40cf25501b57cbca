package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Agent is an agent served on this host.
type Agent struct {
	Name    protocol.Name `json:"name"`
	Door    string        `json:"door"` // "exec" or "inbox"
	Command string        `json:"command,omitempty"`
	Input   string        `json:"input,omitempty"`   // exec door: what the command is given, "text" or "prompt"
	Profile string        `json:"profile,omitempty"` // the actor profile that its prompts begin with
	Preset  string        `json:"preset,omitempty"`  // what it was made from
	Dir     string        `json:"dir,omitempty"`
	Paused  bool          `json:"paused"`  // its mail waits
	Queued  int           `json:"queued"`  // messages waiting for it
	Running int           `json:"running"` // messages it is working on
	Unread  int           `json:"unread"`  // inbox door: messages without its receipt
}

// AddAgentRequest describes an agent to serve: Exec is its command, or Preset
// names one that is known, or Inbox is set. Dir is the folder it works in;
// empty: the folder where the node runs.
type AddAgentRequest struct {
	Name    string        `json:"name"`
	Exec    string        `json:"exec,omitempty"`
	Preset  string        `json:"preset,omitempty"`
	Inbox   bool          `json:"inbox,omitempty"`
	Input   string        `json:"input,omitempty"`   // "text" or "prompt"; empty: that of the preset, else text
	Profile string        `json:"profile,omitempty"` // empty: the profile called like the agent, if there is one
	Open    string        `json:"open,omitempty"`    // its interactive program; empty: that of the preset
	Timeout time.Duration `json:"timeout,omitempty"` // 0: that of the preset, else of the configuration
	Dir     string        `json:"dir,omitempty"`
}

// AgentRequest names an agent served here.
type AgentRequest struct {
	Name string `json:"name"`
}

// PauseRequest has an agent's mail wait, or go on.
type PauseRequest struct {
	Name   string `json:"name"`
	Paused bool   `json:"paused"`
}

// TestRequest has an agent's command run once with a text that is kept nowhere.
type TestRequest struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// TestResult is what an agent's command did with a text.
type TestResult struct {
	Agent   string        `json:"agent"`
	Command string        `json:"command"`
	Input   string        `json:"input"`   // what the command was given
	Answer  string        `json:"answer"`  // what it answered
	Problem string        `json:"problem"` // why there is no answer; empty where there is one
	Stderr  string        `json:"stderr"`  // the end of its standard error
	Elapsed time.Duration `json:"elapsed"`
}

// ProfileRequest asks for an actor profile or, with File, has it written: the
// whole file, as local/actors/NAME.md of the record.
type ProfileRequest struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

// Profile is an actor profile.
type Profile struct {
	Name        string `json:"name"`
	Path        string `json:"path"` // in the record
	Description string `json:"description"`
	Author      string `json:"author"`
	Domain      string `json:"domain"`
	Alias       string `json:"alias"`
	Body        string `json:"body"`
}

// PromptRequest asks for what an agent served here is given for a message. As is
// the agent; empty: the one that the message is for.
type PromptRequest struct {
	Path string `json:"path"`
	As   string `json:"as,omitempty"`
}

// Prompt is what an agent's command is given for a message.
type Prompt struct {
	Agent   string `json:"agent"`
	Input   string `json:"input"` // "text": the bare body, "prompt": all of it
	Text    string `json:"text"`
	LeftOut int    `json:"left_out"` // earlier messages and memories that did not fit
}

// OpenRequest asks for what an agent's own interactive program needs to run.
type OpenRequest struct {
	Agent   string `json:"agent"`
	Channel string `json:"channel,omitempty"` // id or name; empty: the direct one with the human
}

// Opening is an interactive program to run: in Dir, with Env added to the
// environment.
type Opening struct {
	Agent   string             `json:"agent"`
	Channel protocol.ChannelID `json:"channel"`
	Argv    []string           `json:"argv"`
	Dir     string             `json:"dir"`
	Env     []string           `json:"env"` // NAME=value
	// Context is what the program should know. Where Argv does not hold it, the
	// person is to hand it over.
	Context string `json:"context"`
	Passed  bool   `json:"passed"` // whether Argv holds it
}

// WakeRequest has the node look at once: at the remote, and at what waits for
// Agent (empty: for all agents).
type WakeRequest struct {
	Agent string `json:"agent,omitempty"`
}

// Woken is what the node found.
type Woken struct {
	Remote      string  `json:"remote"`       // empty: none
	RemoteError string  `json:"remote_error"` // why it could not be looked at
	Arrived     int     `json:"arrived"`      // messages that the remote brought
	Unpushed    int     `json:"unpushed"`     // messages that are still to be pushed
	Agents      []Agent `json:"agents"`
}
