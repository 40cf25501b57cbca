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
	Name          protocol.Name `json:"name"`                     // the name by which it is addressed
	Door          string        `json:"door"`                     // "exec" or "inbox"
	Command       string        `json:"command,omitempty"`        // exec door: the command of its first tier
	Tiers         []AgentTier   `json:"tiers,omitempty"`          // exec door: its tiers, if it has several or works on several messages at the same time
	Input         string        `json:"input,omitempty"`          // exec door: what the command is given, "text" or "prompt"
	Profile       string        `json:"profile,omitempty"`        // the actor profile with which its prompts begin
	ProfileState  ProfileState  `json:"profile_state,omitempty"`  // how far that profile is believed here; absent if it has none, or is never given it
	Preset        string        `json:"preset,omitempty"`         // the preset from which it was made
	Dir           string        `json:"dir,omitempty"`            // the folder in which its command runs; absent: where the node runs
	RunAs         string        `json:"run_as,omitempty"`         // the user of the machine as whom its command runs, if that is not the node's user
	Env           []string      `json:"env,omitempty"`            // what its command gets of the node's environment besides the basics, as NAME, PREFIX* or NAME=…; absent: all
	Limits        []string      `json:"limits,omitempty"`         // what a run of its command may use, such as "memory=2GB"
	Accepts       string        `json:"accepts,omitempty"`        // exec door: whose mail makes it work, "anyone" or "verified"
	WakesOn       []string      `json:"wakes_on,omitempty"`       // exec door: the acts for which its command is run; absent: those of the table of acts
	Examiner      string        `json:"examiner,omitempty"`       // who answers sync-checks in its place: "mechanical" means the node, by what the agent wrote
	Soul          string        `json:"soul,omitempty"`           // the human to whom it belongs, if that is set; absent: what contacts say, else the human of its host
	TakeoverAfter string        `json:"takeover_after,omitempty"` // for how long this host must be gone before another one does its work, if that is not 10m
	Wake          string        `json:"wake,omitempty"`           // inbox door: the command that wakes its program
	Quiet         []string      `json:"quiet,omitempty"`          // spans of the day, by the host's clock, in which it is not woken, and not run for messages that agents have caused
	AgentWork
	// Presence is what it is doing: running, idle, waiting (for a human) or away.
	Presence AgentState `json:"presence"`
	Since    time.Time  `json:"since,omitzero"` // inbox door: since when it is doing that
	Asked    time.Time  `json:"asked,omitzero"` // inbox door: when it last asked for its mail since the node started
	// QuietUntil is when its present quiet hours end; absent if it is not in quiet hours.
	QuietUntil time.Time `json:"quiet_until,omitzero"`
}

// AgentWork is what an agent has to do on this host; false, 0 or absent for agents of other hosts.
type AgentWork struct {
	Paused  bool `json:"paused"`  // its mail waits
	Queued  int  `json:"queued"`  // messages that wait for it
	Running int  `json:"running"` // messages on which it is working
	Unread  int  `json:"unread"`  // inbox door: messages without its receipt
	Over    int  `json:"over"`    // of those waiting, the messages that wait because agents have caused too many runs (max_runs, max_conversation_runs)
	Failing int  `json:"failing"` // of those waiting, the messages on which an attempt has failed, and which are tried again
	Dead    int  `json:"dead"`    // messages on which it has failed for good here, and which nobody has put away (parley agent dlq)
	Held    bool `json:"held"`    // its messages wait because the host may not run more commands at the same time (max_commands)
	// Stalled is why its command cannot be started at the moment. It is tried again. Absent if the
	// command can be started.
	Stalled string `json:"stalled,omitempty"`
	// Missing is why the program of a command of it cannot be started until somebody mends that, such
	// as that it is in no folder of the node's PATH. Absent if nothing is known to be missing.
	Missing string `json:"missing,omitempty"`
}

// AgentState is what an agent is doing.
type AgentState string

// What an agent can be doing. An agent that asks for its mail says it by its sessions. If they say
// nothing, it is idle while it waits for mail, and for a while after it has asked for some.
const (
	AgentRunning AgentState = "running" // it works: its command runs, or a session of it says so
	AgentIdle    AgentState = "idle"    // it is there, and has nothing to do
	AgentWaiting AgentState = "waiting" // it waits for a human
	AgentAway    AgentState = "away"    // none of its sessions is there
)

// AgentStates are the states that an agent can say.
func AgentStates() []AgentState {
	return []AgentState{AgentRunning, AgentIdle, AgentWaiting, AgentAway}
}

// SetPresence notes what a session of an agent is doing, if the agent asks for its mail.
var SetPresence = NewVerb[PresenceRequest, AgentPresence](VerbSpec{
	Name: "presence", Access: Speaks, Doing: "say what an agent is at",
	Doc: "Notes what a session is at of an agent that asks for its mail.",
})

// PresenceRequest says what a session of As (empty: R14 decides) is doing. A session that is away
// has ended, and the mail that it took is given back. Session names the session; empty: it is the
// calling program.
type PresenceRequest struct {
	As      string     `json:"as,omitempty"`
	State   AgentState `json:"state"`
	Session string     `json:"session,omitempty"`
}

// AgentPresence is what an agent is doing.
type AgentPresence struct {
	Agent protocol.Name `json:"agent"`          // the agent
	State AgentState    `json:"state"`          // what the busiest of its sessions is doing
	Since time.Time     `json:"since,omitzero"` // since when
	// Digest is a text that says what mail came while it worked, when that work is over; "" for
	// none. If the agent has a wake command, that command gets the digest.
	Digest string `json:"digest"`
}

// AddAgent begins to serve an agent here and tells the fleet.
var AddAgent = NewVerb[AddAgentRequest, Agent](VerbSpec{
	Name: "add-agent", Access: Operates, Local: true,
	Doc: "Begins to serve an agent here and tells the fleet. `settings` has lists of texts by the names of the flags of `agent add`.",
})

// AddAgentRequest describes an agent to serve. Either Exec is its command, or Preset names a known
// preset, or Inbox is set.
type AddAgentRequest struct {
	Name      string `json:"name"`
	Exec      string `json:"exec,omitempty"`
	Preset    string `json:"preset,omitempty"`
	Inbox     bool   `json:"inbox,omitempty"`
	AnswerOld bool   `json:"answer_old,omitempty"` // what waits for it in the record is run too, not only what comes from now on
	Settings  Given  `json:"settings,omitempty"`
}

// Given are settings of an agent: the texts that a person gives to their flags, by the names of the
// flags. A list has several. One empty text takes a setting back.
type Given map[string][]string

// ShowAgent returns how an agent is served here, with all that can be set.
var ShowAgent = NewVerb[AgentRequest, AgentSettings](VerbSpec{
	Name: "show-agent", Access: Reads,
	Doc: "Returns how an agent is served here, with all that can be set.",
})

// AgentSettings is an agent with its settings.
type AgentSettings struct {
	Agent
	Settings []Setting `json:"settings"` // the settings that it has, and what holds for those that it does not have
}

// Setting is a setting of an agent, with the value that holds.
type Setting struct {
	Name  string `json:"name"`  // the name of the flag that sets it
	Value string `json:"value"` // in the form for people
}

// SetAgent changes how an agent is served here. Its mail goes on. Commands that run end as they
// began.
var SetAgent = NewVerb[SetAgentRequest, ChangedAgent](VerbSpec{
	Name: "set-agent", Access: Operates, Local: true,
	Doc: "Changes how an agent is served here. `settings` has lists of texts by the names of the flags of `agent set`.",
})

// ChangedAgent is an agent as it is served now, and what was changed.
type ChangedAgent struct {
	Agent
	Changed []SettingChange `json:"changed"` // [] if nothing had to be changed
}

// SettingChange is a change of a setting of an agent.
type SettingChange struct {
	Name string `json:"name"` // the name of the flag of the setting; or "over": how many messages waited because agents had it run too often
	Was  string `json:"was"`  // before the change; "" for none
	Now  string `json:"now"`  // after the change; "" for none
}

// SetAgentRequest changes how an agent is served. What is left out stays as it is. At most one of
// these is given: "exec", for an agent with one command, or "tier", or "inbox".
type SetAgentRequest struct {
	Name     string `json:"name"`
	Settings Given  `json:"settings"`
}

// AgentTier is one kind of instance of an agent.
type AgentTier struct {
	Name  string `json:"name"`  // the name of the tier, often that of its model
	Count int    `json:"count"` // on how many messages it works at the same time
	Exec  string `json:"exec"`  // its command
}

// RemoveAgent stops serving an agent here and tells the fleet. What it wrote, and what it was sent,
// stays in the record.
var RemoveAgent = NewVerb[AgentRequest, None](VerbSpec{
	Name: "remove-agent", Access: Operates,
	Doc: "Stops serving an agent here and tells the fleet.",
})

// AgentRequest names an agent served here.
type AgentRequest struct {
	Name string `json:"name"`
}

// MakeToken makes a token for an agent that is served here and that the node does not start itself.
// The token counts as long as the agent is served.
var MakeToken = NewVerb[AgentRequest, AgentToken](VerbSpec{
	Name: "make-token", Access: Operates,
	Doc: "Makes a token for an agent that the node does not start itself.",
})

// AgentToken is what an agent bears as PARLEY_TOKEN if the node has not started it. With it, the
// node knows the agent.
type AgentToken struct {
	Agent protocol.Name `json:"agent"` // the agent that its bearer is
	Token string        `json:"token"` // for the variable PARLEY_TOKEN
}

// PauseAgent has an agent's mail wait, or go on.
var PauseAgent = NewVerb[PauseRequest, ChangedAgent](VerbSpec{
	Name: "pause-agent", Access: Operates,
	Doc: "Has an agent's mail wait, or go on.",
})

// PauseRequest has an agent's mail wait, or go on. Mail that waits because agents have had the
// agent run too often within an hour goes on too. With Conversation, a path or the unique end of
// one, the human of this host speaks in that conversation, so that what waits for that goes on.
// Then nothing else is changed.
type PauseRequest struct {
	Name         string `json:"name"`
	Paused       bool   `json:"paused"`
	Conversation string `json:"conversation,omitempty"`
}

// TestAgent runs an agent's command once and keeps nothing of it.
var TestAgent = NewVerb[TestRequest, TestResult](VerbSpec{
	Name: "test-agent", Access: Operates, Local: true, Long: true,
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

// ActorProfile returns an actor profile, writes one, or makes it the operator's word.
var ActorProfile = NewVerb[ProfileRequest, Profile](VerbSpec{
	Name: "profile", Access: Operates, Doing: "write or accept a profile",
	Doc: "Returns an actor profile, writes it, or makes it the operator's word.",
}).reading("without `file` and `accept`", func(r ProfileRequest) bool { return r.File == "" && r.Accept == "" })

// ProfileRequest asks for an actor profile. With File, it has the profile written: the whole file,
// as local/actors/NAME.md of the record. With Accept, the hash of the profile as it was shown, the
// profile is the operator's word from now on. Path is needed if several profiles have the name.
type ProfileRequest struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Path   string `json:"path,omitempty"`
	Accept string `json:"accept,omitempty"`
}

// ProfileState is how far an actor profile of the record is believed here. Only what the operator
// has accepted stands outside of fences in prompts.
type ProfileState string

// How far a profile is believed.
const (
	ProfileAccepted   ProfileState = "accepted"   // the operator has written or accepted it here, or it comes with this program
	ProfileUnaccepted ProfileState = "unaccepted" // it is text of others: fenced in prompts, or left out for an agent that accepts verified
	ProfileChanged    ProfileState = "changed"    // the record has another one than was accepted, which still counts
	ProfileGone       ProfileState = "gone"       // the record has it no more; the one that was accepted still counts
	ProfileTwo        ProfileState = "two"        // several have the name, and none of them was accepted
)

// Profile is an actor profile.
type Profile struct {
	Name        string       `json:"name"`        // the agent or human whose profile it is
	Path        string       `json:"path"`        // in the record
	Description string       `json:"description"` // one line
	Author      string       `json:"author"`      // who maintains it
	Domain      string       `json:"domain"`      // such as engineering
	Alias       string       `json:"alias"`       // what the actor calls itself
	Body        string       `json:"body"`        // the text that an agent is given first
	Hash        string       `json:"hash"`        // of the whole file: it is accepted by this
	State       ProfileState `json:"state"`       // how far it is believed here: accepted, unaccepted, changed, gone
}

// ShowPrompt returns what an agent's command was given here for a message, as it was kept then.
// Before the command is run, it is what the command would be given. An agent may know its own
// prompts. A prompt of another agent contains the words by which that agent tells messages from
// fences.
var ShowPrompt = NewVerb[PromptRequest, Prompt](VerbSpec{
	Name: "prompt", Access: Keeps, Doing: "show a prompt",
	Doc: "Returns what an agent was given for a message or, before that, what it would be given.",
})

// PromptRequest asks for what an agent's command was given here for a message. As is the agent. If
// it is empty, it is the agent that was last run for the message, else the one to which the message
// is addressed.
type PromptRequest struct {
	Path    string `json:"path"`
	As      string `json:"as,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // 0: the last one
	Now     bool   `json:"now,omitempty"`     // return what it would be given now, whatever it was given before
}

// Prompt is what an agent's command was given for a message, or would be given.
type Prompt struct {
	Agent   string       `json:"agent"`             // the agent that is given it
	Input   string       `json:"input"`             // "text": the bare body, "prompt": all of it
	Text    string       `json:"text"`              // what its command reads
	Base64  string       `json:"base64,omitempty"`  // the same, if the text is not UTF-8
	LeftOut int          `json:"left_out"`          // how many earlier messages and memories did not fit
	Hash    string       `json:"hash"`              // SHA-256 of the text, in hex
	Parts   []PromptPart `json:"parts"`             // what the text is made of, in its order
	Time    time.Time    `json:"time,omitzero"`     // when it was given, UTC; absent: it would be given now
	Attempt int          `json:"attempt,omitempty"` // the number of the attempt; the first is 1
	Retry   int          `json:"retry,omitempty"`   // how often somebody had had the message tried again before
	Tier    string       `json:"tier,omitempty"`    // the tier that was run
}

// PromptPart is a part of what an agent is given. A part that two prompts have in common has the
// same hash in both: the words of fences, which are different in each prompt, do not count in it.
type PromptPart struct {
	Kind  string `json:"kind"`  // profile, channel, memory, earlier, message; frame: what parley says
	Bytes int    `json:"bytes"` // how long it is
	Hash  string `json:"hash"`  // SHA-256, in hex
}

// Open returns what an agent's own interactive program needs to run.
var Open = NewVerb[OpenRequest, Opening](VerbSpec{
	Name: "open", Access: Operates, Local: true, Doing: "open an agent",
	Doc: "Returns what an agent's own interactive program needs to run.",
})

// OpenRequest asks for what an agent's own interactive program needs to run.
type OpenRequest struct {
	Agent   string `json:"agent"`
	Channel string `json:"channel,omitempty"` // id or name; empty: the direct channel with the human
}

// Opening is an interactive program to run: in Dir, with Env added to the
// environment.
type Opening struct {
	Agent       string             `json:"agent"`        // whose program it is
	Channel     protocol.ChannelID `json:"channel"`      // the channel in which it will talk
	ChannelName string             `json:"channel_name"` // what people call that channel
	Argv        []string           `json:"argv"`         // the program and its arguments
	Dir         string             `json:"dir"`          // the folder in which to run it; "": any
	Env         []string           `json:"env"`          // NAME=value
	// Context is what the program should know. If Argv does not contain it, a person has to give it
	// to the program.
	Context string `json:"context"`
	Passed  bool   `json:"passed"` // whether Argv holds it
}

// Wake looks at the remote and at what waits for agents, at once.
var Wake = NewVerb[WakeRequest, Woken](VerbSpec{
	Name: "wake", Access: Reads, Long: true,
	Doc: "Looks at the remote and at what waits for agents, at once.",
})

// WakeRequest has the node look at once at the remote, and at what waits for Agent (empty: for all
// agents).
type WakeRequest struct {
	Agent string `json:"agent,omitempty"`
}

// Woken is what the node found.
type Woken struct {
	Remote      string  `json:"remote"`       // empty: none
	RemoteError string  `json:"remote_error"` // why it could not be looked at; "" if it could
	Arrived     int     `json:"arrived"`      // messages that the remote brought
	Unpushed    int     `json:"unpushed"`     // messages that are still to be pushed
	Agents      []Agent `json:"agents"`       // the agents whose mail was looked at
}
