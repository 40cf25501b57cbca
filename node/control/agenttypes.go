package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Agents lists the agents served on this host, by name.
var Agents = NewQuestion[[]Agent](VerbSpec{
	Name: "agents", Access: Reads,
	Doc: "Lists the agents served on this host, by name.",
})

// Agent is an agent served on this host.
type Agent struct {
	Name          protocol.Name `json:"name"`                     // what it is addressed as
	Door          string        `json:"door"`                     // "exec" or "inbox"
	Command       string        `json:"command,omitempty"`        // exec door: of its first tier
	Tiers         []AgentTier   `json:"tiers,omitempty"`          // exec door: its tiers, where it has several or runs several messages at once
	Input         string        `json:"input,omitempty"`          // exec door: what the command is given, "text" or "prompt"
	Profile       string        `json:"profile,omitempty"`        // the actor profile that its prompts begin with
	Preset        string        `json:"preset,omitempty"`         // what it was made from
	Dir           string        `json:"dir,omitempty"`            // the folder in which its command runs; absent: where the node runs
	RunAs         string        `json:"run_as,omitempty"`         // the user of the machine as whom its command runs, where it is another one than the node's
	Env           []string      `json:"env,omitempty"`            // what its command gets of the node's environment beside the basics, as NAME, PREFIX* or NAME=…; absent: all
	Limits        []string      `json:"limits,omitempty"`         // what a run of its command may use, such as "memory=2GB"
	Accepts       string        `json:"accepts,omitempty"`        // exec door: whose mail makes it work, "anyone" or "verified"
	WakesOn       []string      `json:"wakes_on,omitempty"`       // exec door: the acts for which its command is run; absent: those of the table of acts
	Examiner      string        `json:"examiner,omitempty"`       // who answers sync-checks in its place: "mechanical", the node by what it wrote
	Soul          string        `json:"soul,omitempty"`           // whose it is, where that is set; absent: what contacts say, else the human of its host
	TakeoverAfter string        `json:"takeover_after,omitempty"` // for how long this host must be gone before another one does its work, where that is not 10m
	Wake          string        `json:"wake,omitempty"`           // inbox door: the command that wakes its program
	Quiet         []string      `json:"quiet,omitempty"`          // spans of the day, by the host's clock, in which it is not woken, and not run for what agents cause
	Paused        bool          `json:"paused"`                   // its mail waits
	Queued        int           `json:"queued"`                   // messages waiting for it
	Running       int           `json:"running"`                  // messages it is working on
	Unread        int           `json:"unread"`                   // inbox door: messages without its receipt
	Over          int           `json:"over"`                     // of those waiting: because agents have caused too many runs (max_runs, max_conversation_runs)
	Failing       int           `json:"failing"`                  // of those waiting, messages that an attempt failed on and that are tried again
	Dead          int           `json:"dead"`                     // messages that it failed on for good here, and that nobody has put away (parley dlq)
	Held          bool          `json:"held"`                     // its messages wait because the host runs no more commands at once (max_commands)
	// Stalled is why its command cannot be started at the moment, as long as that is tried
	// again; absent where it can.
	Stalled string `json:"stalled,omitempty"`
	// Presence is what it is at: running, idle, waiting (for a human) or away.
	Presence AgentState `json:"presence"`
	Since    time.Time  `json:"since,omitzero"` // inbox door: since when that is so
	Asked    time.Time  `json:"asked,omitzero"` // inbox door: when it last asked for its mail since the node runs
	// QuietUntil is when the quiet hours end in which it is; absent where it is in none.
	QuietUntil time.Time `json:"quiet_until,omitzero"`
}

// AgentState is what an agent is at.
type AgentState string

// What an agent can be at. Of one that asks for its mail its sessions say it. Where they say
// nothing it is idle while it waits for mail, and for a while after it has asked for some.
const (
	AgentRunning AgentState = "running" // it works: a command of it runs, or a session of it says so
	AgentIdle    AgentState = "idle"    // it is there, and has nothing to do
	AgentWaiting AgentState = "waiting" // it waits for a human
	AgentAway    AgentState = "away"    // none of its sessions is there
)

// AgentStates are what an agent can say that it is at.
func AgentStates() []AgentState {
	return []AgentState{AgentRunning, AgentIdle, AgentWaiting, AgentAway}
}

// SetPresence notes what a session of an agent is at that asks for its mail.
var SetPresence = NewVerb[PresenceRequest, AgentPresence](VerbSpec{
	Name: "presence", Access: Speaks, Doing: "say what an agent is at",
	Doc: "Notes what a session is at of an agent that asks for its mail.",
})

// PresenceRequest says what a session of As (empty: R14 decides) is at. One that is away
// has ended, and what it took of the agent's mail is given back. Session names it; empty:
// it is the program that has called.
type PresenceRequest struct {
	As      string     `json:"as,omitempty"`
	State   AgentState `json:"state"`
	Session string     `json:"session,omitempty"`
}

// AgentPresence is what an agent is at.
type AgentPresence struct {
	Agent protocol.Name `json:"agent"`          // which one
	State AgentState    `json:"state"`          // what the busiest of its sessions is at
	Since time.Time     `json:"since,omitzero"` // since when
	// Digest is a text that says what mail came while it worked, once that is over; "" for
	// none. That of an agent with a wake command is given to the command.
	Digest string `json:"digest"`
}

// AddAgent begins to serve an agent here and tells the fleet.
var AddAgent = NewVerb[AddAgentRequest, Agent](VerbSpec{
	Name: "add-agent", Access: Operates,
	Doc: "Begins to serve an agent here and tells the fleet.",
})

// AddAgentRequest describes an agent to serve: Exec is its command, or Preset
// names one that is known, or Inbox is set. Dir is the folder it works in;
// empty: the folder where the node runs.
type AddAgentRequest struct {
	Name          string        `json:"name"`
	Exec          string        `json:"exec,omitempty"`
	Preset        string        `json:"preset,omitempty"`
	Inbox         bool          `json:"inbox,omitempty"`
	Input         string        `json:"input,omitempty"`    // "text" or "prompt"; empty: that of the preset, else text
	Profile       string        `json:"profile,omitempty"`  // empty: the profile called like the agent, if there is one
	Open          string        `json:"open,omitempty"`     // its interactive program; empty: that of the preset
	Timeout       time.Duration `json:"timeout,omitempty"`  // 0: that of the preset, else of the configuration
	Attempts      int           `json:"attempts,omitempty"` // how often a command that fails is started for a message; 0: 3 times
	Rerun         string        `json:"rerun,omitempty"`    // a run that its node's end cut short: "again" or "ask"; empty: again
	Dir           string        `json:"dir,omitempty"`
	RunAs         string        `json:"run_as,omitempty"`         // the user of the system as whom its command runs; empty: the node's
	Env           []string      `json:"env,omitempty"`            // what of the node's environment its command gets beside the basics; empty: all
	Limits        []string      `json:"limits,omitempty"`         // what a run of its command may use, such as "memory=2GB"
	Accepts       string        `json:"accepts,omitempty"`        // whose mail makes it work, "anyone" or "verified"; empty: anyone
	WakesOn       []string      `json:"wakes_on,omitempty"`       // the acts for which its command is run; empty: those of the table of acts
	Examiner      string        `json:"examiner,omitempty"`       // who answers sync-checks, "mechanical": the node, by what the agent wrote; empty: the agent
	Soul          string        `json:"soul,omitempty"`           // whose it is; empty: what contacts say, else the human of its host
	Wake          string        `json:"wake,omitempty"`           // of one with an inbox: the command that wakes its program; empty: none
	Quiet         []string      `json:"quiet,omitempty"`          // spans of quiet hours such as "22:00-07:00"
	TakeoverAfter string        `json:"takeover_after,omitempty"` // for how long the host must be gone before another one does the agent's work, such as "10m", or "never"; empty: 10m
}

// ShowAgent returns how an agent is served here, with all that can be set.
var ShowAgent = NewVerb[AgentRequest, AgentSettings](VerbSpec{
	Name: "show-agent", Access: Reads,
	Doc: "Returns how an agent is served here, with all that can be set.",
})

// AgentSettings is an agent with its settings.
type AgentSettings struct {
	Agent
	Settings []Setting `json:"settings"` // those that it has, and what holds where nothing is said
}

// Setting is what holds for an agent.
type Setting struct {
	Name  string `json:"name"`  // as the flag is called that sets it
	Value string `json:"value"` // as people read it
}

// SetAgent changes how an agent is served here. Its mail goes on; commands that
// run end as they began.
var SetAgent = NewVerb[SetAgentRequest, ChangedAgent](VerbSpec{
	Name: "set-agent", Access: Operates,
	Doc: "Changes how an agent is served here.",
})

// ChangedAgent is an agent as it is served now, with what was changed for that.
type ChangedAgent struct {
	Agent
	Changed []SettingChange `json:"changed"` // [] where nothing was to be changed
}

// SettingChange is a change of what holds for an agent.
type SettingChange struct {
	Name string `json:"name"` // of the setting, as its flag is called; or "over": how many messages waited because agents had it run too often
	Was  string `json:"was"`  // before the change; "" for none
	Now  string `json:"now"`  // since; likewise
}

// SetAgentRequest changes how an agent is served; what is left out stays. It is given
// Exec, for an agent with one command, or Tiers, or Inbox.
type SetAgentRequest struct {
	Name          string         `json:"name"`
	Exec          *string        `json:"exec,omitempty"`
	Tiers         []AgentTier    `json:"tiers,omitempty"` // in the place of those that it has
	Inbox         bool           `json:"inbox,omitempty"` // no command is run any more
	Input         *string        `json:"input,omitempty"`
	Profile       *string        `json:"profile,omitempty"` // "": the one called like the agent, if there is one
	Open          *string        `json:"open,omitempty"`
	Timeout       *time.Duration `json:"timeout,omitempty"`        // 0: that of the configuration
	Attempts      *int           `json:"attempts,omitempty"`       // 0: 3 times
	Rerun         *string        `json:"rerun,omitempty"`          // "": again
	Dir           *string        `json:"dir,omitempty"`            // "": the folder where the node runs
	Answers       *bool          `json:"answers,omitempty"`        // run on answers to its own messages too
	Wake          *string        `json:"wake,omitempty"`           // "": its program is woken no more
	Quiet         []string       `json:"quiet,omitempty"`          // in the place of those that it has; [""]: none
	Env           []string       `json:"env,omitempty"`            // in the place of those that it has; [""]: all of the environment again
	Limits        []string       `json:"limits,omitempty"`         // those that change, such as "memory=2GB"; "memory=": none
	Accepts       *string        `json:"accepts,omitempty"`        // whose mail makes it work, "anyone" or "verified"
	Examiner      *string        `json:"examiner,omitempty"`       // who answers sync-checks, "mechanical": the node; "": the agent
	Soul          *string        `json:"soul,omitempty"`           // whose it is; "": what contacts say, else the human of its host
	WakesOn       []string       `json:"wakes_on,omitempty"`       // in the place of those that it has; [""]: those of the table of acts again
	TakeoverAfter *string        `json:"takeover_after,omitempty"` // "": 10m
}

// AgentTier is one kind of instance of an agent.
type AgentTier struct {
	Name  string `json:"name"`  // what the tier is called, often as its model
	Count int    `json:"count"` // how many messages it works on at a time
	Exec  string `json:"exec"`  // its command
}

// RemoveAgent stops serving an agent here and tells the fleet. What it wrote and
// what it was sent stays in the record.
var RemoveAgent = NewVerb[AgentRequest, None](VerbSpec{
	Name: "remove-agent", Access: Operates,
	Doc: "Stops serving an agent here and tells the fleet.",
})

// AgentRequest names an agent served here.
type AgentRequest struct {
	Name string `json:"name"`
}

// MakeToken makes a token for an agent served here that the node does not start
// itself. It counts as long as the agent is served.
var MakeToken = NewVerb[AgentRequest, AgentToken](VerbSpec{
	Name: "make-token", Access: Operates,
	Doc: "Makes a token for an agent that the node does not start itself.",
})

// AgentToken is what an agent bears, as PARLEY_TOKEN, where the node has not started
// it, so that it is known.
type AgentToken struct {
	Agent protocol.Name `json:"agent"` // whom its bearer is
	Token string        `json:"token"` // for the variable PARLEY_TOKEN
}

// PauseAgent has an agent's mail wait, or go on.
var PauseAgent = NewVerb[PauseRequest, ChangedAgent](VerbSpec{
	Name: "pause-agent", Access: Operates,
	Doc: "Has an agent's mail wait, or go on.",
})

// PauseRequest has an agent's mail wait, or go on: also what waits because agents have
// had it run too often within an hour. With Conversation, a path or the unique end of one,
// the human of this host speaks there, so that what waits for that goes on; nothing else
// is changed then.
type PauseRequest struct {
	Name         string `json:"name"`
	Paused       bool   `json:"paused"`
	Conversation string `json:"conversation,omitempty"`
}

// TestAgent runs an agent's command once and keeps nothing of it.
var TestAgent = NewVerb[TestRequest, TestResult](VerbSpec{
	Name: "test-agent", Access: Operates, Long: true,
	Doc: "Runs an agent's command once and keeps nothing of it.",
})

// TestRequest has an agent's command run once with a text that is kept nowhere.
type TestRequest struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// TestResult is what an agent's command did with a text.
type TestResult struct {
	Agent   string  `json:"agent"`   // which one
	Command string  `json:"command"` // what was run
	Input   string  `json:"input"`   // what the command was given
	Answer  string  `json:"answer"`  // what it answered
	Problem string  `json:"problem"` // why there is no answer; empty where there is one
	Stderr  string  `json:"stderr"`  // the end of its standard error
	Elapsed Seconds `json:"elapsed"` // how long it took
}

// ActorProfile returns an actor profile, or writes it.
var ActorProfile = NewVerb[ProfileRequest, Profile](VerbSpec{
	Name: "profile", Access: Operates, Doing: "write a profile",
	Doc: "Returns an actor profile, or writes it.",
}).reading("without `file`", func(r ProfileRequest) bool { return r.File == "" })

// ProfileRequest asks for an actor profile or, with File, has it written: the
// whole file, as local/actors/NAME.md of the record.
type ProfileRequest struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

// Profile is an actor profile.
type Profile struct {
	Name        string `json:"name"`        // the agent or human that it is of
	Path        string `json:"path"`        // in the record
	Description string `json:"description"` // one line
	Author      string `json:"author"`      // who maintains it
	Domain      string `json:"domain"`      // such as engineering
	Alias       string `json:"alias"`       // what the actor calls itself
	Body        string `json:"body"`        // the text that an agent is given first
}

// ShowPrompt returns what an agent's command was given here for a message, as it was kept
// then or, before it is run, what it would be given. Its own is an agent's to know. That of
// another one holds the words by which it tells messages from fences.
var ShowPrompt = NewVerb[PromptRequest, Prompt](VerbSpec{
	Name: "prompt", Access: Keeps, Doing: "show a prompt",
	Doc: "Returns what an agent was given for a message or, before that, what it would be given.",
})

// PromptRequest asks for what an agent's command was given here for a message. As is
// the agent; empty: the one that was run for it last, else the one that it is for.
type PromptRequest struct {
	Path    string `json:"path"`
	As      string `json:"as,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // 0: the last one
	Now     bool   `json:"now,omitempty"`     // what it would be given now, whatever it was given
}

// Prompt is what an agent's command was given for a message, or would be given.
type Prompt struct {
	Agent   string       `json:"agent"`             // for whom
	Input   string       `json:"input"`             // "text": the bare body, "prompt": all of it
	Text    string       `json:"text"`              // what its command reads
	Base64  string       `json:"base64,omitempty"`  // the same, where it is not UTF-8
	LeftOut int          `json:"left_out"`          // earlier messages and memories that did not fit
	Hash    string       `json:"hash"`              // SHA-256 of the text, in hex
	Parts   []PromptPart `json:"parts"`             // what the text is made of, in its order
	Time    time.Time    `json:"time,omitzero"`     // when it was given, UTC; absent: it would be given now
	Attempt int          `json:"attempt,omitempty"` // in which attempt, the first is 1
	Retry   int          `json:"retry,omitempty"`   // how often somebody had the message tried again before
	Tier    string       `json:"tier,omitempty"`    // in which it was run
}

// PromptPart is a part of what an agent is given. What two prompts have in common has one
// hash, because the words of fences, others in each prompt, do not count in it.
type PromptPart struct {
	Kind  string `json:"kind"`  // profile, channel, memory, earlier, message; frame: what parley says
	Bytes int    `json:"bytes"` // how long it is
	Hash  string `json:"hash"`  // SHA-256, in hex
}

// Open returns what an agent's own interactive program needs to run.
var Open = NewVerb[OpenRequest, Opening](VerbSpec{
	Name: "open", Access: Operates, Doing: "open an agent",
	Doc: "Returns what an agent's own interactive program needs to run.",
})

// OpenRequest asks for what an agent's own interactive program needs to run.
type OpenRequest struct {
	Agent   string `json:"agent"`
	Channel string `json:"channel,omitempty"` // id or name; empty: the direct one with the human
}

// Opening is an interactive program to run: in Dir, with Env added to the
// environment.
type Opening struct {
	Agent       string             `json:"agent"`        // whose program it is
	Channel     protocol.ChannelID `json:"channel"`      // where it will talk
	ChannelName string             `json:"channel_name"` // what people call that
	Argv        []string           `json:"argv"`         // the program and its arguments
	Dir         string             `json:"dir"`          // the folder to run it in; "": any
	Env         []string           `json:"env"`          // NAME=value
	// Context is what the program should know. Where Argv does not hold it, the
	// person is to hand it over.
	Context string `json:"context"`
	Passed  bool   `json:"passed"` // whether Argv holds it
}

// Wake looks at the remote and at what waits for agents, at once.
var Wake = NewVerb[WakeRequest, Woken](VerbSpec{
	Name: "wake", Access: Reads, Long: true,
	Doc: "Looks at the remote and at what waits for agents, at once.",
})

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
	Agents      []Agent `json:"agents"`       // those that were looked at
}
