package control

import (
	"time"

	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/protocol"
)

// Message is the one form in which a message is shown and put in JSON (R17).
type Message struct {
	Path    protocol.Path      `json:"path"`    // identifies it everywhere
	Channel protocol.ChannelID `json:"channel"` // the channel in which it was said
	// ChannelName is what people call the channel, "" if it has no name.
	ChannelName string          `json:"channel_name"`
	Direct      bool            `json:"direct"`               // the channel is the one that author and addressees have in common without anybody making one
	From        string          `json:"from"`                 // the author, without its host
	To          []string        `json:"to"`                   // addressees: names, name@host, or all
	Timestamp   time.Time       `json:"timestamp,omitzero"`   // UTC
	Type        protocol.Type   `json:"type"`                 // a message, or a receipt
	Act         protocol.Act    `json:"act"`                  // what it does; other words are possible
	Ref         string          `json:"ref,omitempty"`        // receipts only: the path of the message that was read
	Re          string          `json:"re"`                   // the path of the message that it answers
	Because     string          `json:"because,omitempty"`    // the path of the message for which an agent was started, or which it was last given, when it wrote this one
	Hops        int             `json:"hops,omitempty"`       // how many answers of agents in a row lead to it, as its author says
	Unattended  bool            `json:"unattended,omitempty"` // its host could not tell who wrote it in the author's name
	Host        protocol.Name   `json:"host"`                 // the host that signed it; "" if none did
	Run         string          `json:"run"`                  // the run of its host's node that wrote it, eight hex digits
	Seq         uint64          `json:"seq"`                  // its number within that run, from 1
	Request     string          `json:"request,omitempty"`    // the id that its sender's program gave the request
	Second      string          `json:"second,omitempty"`     // the path of the answer that the same agent had given before it, on another host
	Stage       protocol.Stage  `json:"stage"`                // how far it has come, as far as this node knows
	Heard       []protocol.Name `json:"heard"`                // hosts that are known to have fsynced it, by alias
	// Addressees are its addressees, each with how far it has come there: "read", "answered" or "".
	// For a message to all, they are everybody of the fleet except the author.
	Addressees []Addressee        `json:"addressees"`
	Signature  protocol.Signature `json:"signature"` // whether its signature counts
	Body       string             `json:"body"`      // the text
	// Unserved are addressees that no host serves any more, in the answer to who sends it. If none
	// serves them within ten minutes, the message becomes a dead letter.
	Unserved   []string `json:"unserved,omitempty"`
	Unreadable string   `json:"unreadable,omitempty"` // why the text cannot be read at the moment; absent if it can
	// Claimed says which session of an agent has taken it, in lists of mail; absent if none has.
	Claimed *Claim `json:"claimed,omitempty"`
}

// Addressee is one addressee of a message.
type Addressee struct {
	Name  string         `json:"name"`  // without its host
	Stage protocol.Stage `json:"stage"` // how far the message has come with the addressee
	// Woken says that the program of the addressee, a session, took the bell for the message. It is known
	// only of the moment, as Heard is.
	Woken bool `json:"woken,omitempty"`
	// Waits is what that session waits for, which is known only of the moment too.
	Waits *protocol.Waits `json:"waits,omitempty"`
}

// Send stores a message. It returns when the message is fsynced, or up to SendRequest.HeardWithin
// later if other hosts are live.
var Send = NewVerb[SendRequest, Message](VerbSpec{
	Name: "send", Access: Speaks,
	Doc: "Stores a message.",
})

// SendRequest asks for a message to be written. With To it goes to addressees. With only Re it is
// the answer to the author of a message. With both it is an answer that goes to others.
type SendRequest struct {
	As      string       `json:"as,omitempty"`      // who speaks; empty: R14 decides
	To      []string     `json:"to,omitempty"`      // addresses, or "all"
	Re      string       `json:"re,omitempty"`      // the message answered
	Channel string       `json:"channel,omitempty"` // id or name; empty: that of Re, or the one that follows from the participants
	Act     protocol.Act `json:"act,omitempty"`
	Body    string       `json:"body"`

	// Anyway also writes to a name of which the fleet knows nobody (R5).
	Anyway bool `json:"anyway,omitempty"`

	// ByAgent refuses a caller that is no agent.
	ByAgent bool `json:"by_agent,omitempty"`

	// Cross refuses an addressee without a host. This is the form of a wormhole.
	Cross bool `json:"cross,omitempty"`

	// Request is what the calling program calls this request; "" for none. If it is repeated within
	// 24 hours, the answer is the first message, and none is written.
	Request string `json:"request,omitempty"`

	// HeardWithin is how long the answer may wait until the addressee's host has heard the message.
	// Zero: not at all.
	HeardWithin time.Duration `json:"heard_within,omitempty"`
}

// Wait returns the first answer to a message, or the next message from or to somebody. The error
// has KindTimeout if none came in time.
var Wait = NewVerb[WaitRequest, Message](VerbSpec{
	Name: "wait", Access: Speaks, Long: true,
	Doc: "Waits for the first answer to a message, or for the next message from or to someone.",
})

// WaitRequest asks for the first answer to the message Re, which may be there already, or for the
// next message From somebody or To somebody (R15). Exactly one of the three is set. As is the one
// who waits (empty: R14 decides).
type WaitRequest struct {
	As     string        `json:"as,omitempty"`
	Re     string        `json:"re,omitempty"`
	From   string        `json:"from,omitempty"`
	To     string        `json:"to,omitempty"`
	Within time.Duration `json:"within"`
}

// FindTalk says where two participants talk. It refuses an addressee to whom nothing could be sent.
// It writes nothing.
var FindTalk = NewVerb[TalkRequest, Talk](VerbSpec{
	Name: "talk", Access: Speaks,
	Doc: "Says where two participants talk, and writes nothing.",
})

// TalkRequest asks where As (empty: R14 decides) talks with To: in Channel (id or name), or else in
// the channel that the two have in common.
type TalkRequest struct {
	As      string `json:"as,omitempty"`
	To      string `json:"to"`
	Channel string `json:"channel,omitempty"`
}

// Talk is where a conversation takes place, and who begins it.
type Talk struct {
	As      string             `json:"as"`
	Channel protocol.ChannelID `json:"channel"`
	Begun   bool               `json:"begun"` // the channel is there already
}

// Inbox lists the mail of one participant, oldest first.
var Inbox = NewVerb[InboxRequest, []Message](VerbSpec{
	Name: "inbox", Access: Speaks, Doing: "look into the inbox", Long: true,
	Doc: "Lists the mail of one participant, oldest first; with `within` it waits for some, with `claim` no other session is given it.",
})

// InboxRequest asks for the mail of As (empty: R14 decides), oldest first: what is unread, or with
// All everything; the first Limit messages of it (0: all). If there is no mail, it waits for some
// for the time Within. If none comes in that time, the error has KindTimeout.
//
// With Claim it takes mail that nobody has taken yet. That mail is given to no other request that
// claims, until it is read, or the session that took it ends, or ClaimFor is over (0: as the
// configuration says). Session names the session that takes it; empty: it is the calling program. A
// node that stops gives everything back.
type InboxRequest struct {
	As       string        `json:"as,omitempty"`
	All      bool          `json:"all,omitempty"`
	Limit    int           `json:"limit,omitempty"`
	Within   time.Duration `json:"within,omitempty"`
	Claim    bool          `json:"claim,omitempty"`
	ClaimFor time.Duration `json:"claim_for,omitempty"`
	Session  string        `json:"session,omitempty"`
}

// Claim says that a session of an agent has taken a message.
type Claim struct {
	By    string    `json:"by"`             // the session, as it calls itself, or its process
	Until time.Time `json:"until,omitzero"` // when others are given it, if the session does not end before
}

// Read returns a message and leaves a receipt for the sender, once.
var Read = NewVerb[ReadRequest, Message](VerbSpec{
	Name: "read", Access: Speaks,
	Doc: "Returns a message and leaves a receipt for the sender, once.",
})

// ReadRequest asks for one message, to be marked as read by As.
type ReadRequest struct {
	As   string `json:"as,omitempty"`
	Path string `json:"path"`
}

// ReadAll leaves receipts for all mail of one participant that waits, or for some of it.
var ReadAll = NewVerb[ReadAllRequest, Marked](VerbSpec{
	Name: "read-all", Access: Speaks, Doing: "mark messages as read", Long: true,
	Doc: "Leaves receipts for all mail of one participant that waits, or for some of it.",
})

// ReadAllRequest asks for the waiting mail of As (empty: R14 decides) to be marked as read: all of
// it, or what stands in Channel (id or name), or what is From somebody, or what is both.
type ReadAllRequest struct {
	As      string `json:"as,omitempty"`
	Channel string `json:"channel,omitempty"`
	From    string `json:"from,omitempty"`
}

// Shown leaves receipts for those of the shown messages that waited for the participant. For the
// others it leaves none.
var Shown = NewVerb[ShownRequest, Marked](VerbSpec{
	Name: "shown", Access: Speaks, Doing: "mark messages as read",
	Doc: "Leaves receipts for messages that were shown to the one they waited for.",
})

// ShownRequest says that the messages at Paths were shown, complete, to As (empty: R14 decides).
type ShownRequest struct {
	As    string          `json:"as,omitempty"`
	Paths []protocol.Path `json:"paths"`
}

// Marked is how many messages a request has marked as read, and for whom. Only messages that had
// waited are counted.
type Marked struct {
	As   string `json:"as"`   // whose mail it was
	Read int    `json:"read"` // how many
}

// Show returns a message and writes nothing.
var Show = NewVerb[ShowRequest, Message](VerbSpec{
	Name: "show", Access: Reads,
	Doc: "Returns a message and writes nothing.",
})

// ShowRequest asks for one message.
type ShowRequest struct {
	Path string `json:"path"`
}

// Replies lists the answers to a message, oldest first.
var Replies = NewVerb[ThreadRequest, []Message](VerbSpec{
	Name: "replies", Access: Reads,
	Doc: "Lists the answers to a message, oldest first.",
})

// Thread lists the whole conversation that a message is in, each message
// followed by its answers.
var Thread = NewVerb[ThreadRequest, []ThreadMessage](VerbSpec{
	Name: "thread", Access: Reads,
	Doc: "Lists the conversation that a message is in, each message followed by its answers.",
})

// ThreadRequest asks for the answers to the message at Path, or for its whole conversation.
type ThreadRequest struct {
	Path string `json:"path"`
}

// ThreadMessage is a message in the tree of a conversation. Its answers follow it, with a Depth
// that is greater by one.
type ThreadMessage struct {
	Message
	Depth int `json:"depth"` // 0 for the first message of the conversation
}

// Log answers with the messages of the record, oldest first. With Follow it goes on with those that
// come.
var Log = NewStream[LogRequest, Message](VerbSpec{
	Name: "log", Access: Reads, Long: true,
	Doc: "Lists the messages of the record, oldest first, and with `follow` goes on with those to come.",
}, func(r LogRequest) bool { return r.Follow })

// LogRequest asks for the record's messages: of one channel (id or name) or of all, the last Last
// messages (0: all), or the last ones before a message (a path, or the unique end of one). Receipts
// and book-keeping are left out unless Everything is set.
type LogRequest struct {
	Channel    string `json:"channel,omitempty"`
	Last       int    `json:"last,omitempty"`
	Before     string `json:"before,omitempty"`
	Everything bool   `json:"everything,omitempty"`
	Follow     bool   `json:"follow,omitempty"`
}

// List is the fleet's directory: who can be reached, and where.
var List = NewVerb[HostsRequest, []Participant](VerbSpec{
	Name: "list", Access: Reads,
	Doc: "Lists who can be reached in the fleet, and where.",
})

// Participant is one line of the fleet's directory.
type Participant struct {
	Name      protocol.Name `json:"name"`           // the name by which it is addressed
	Kind      string        `json:"kind"`           // "agent" or "human"
	Host      protocol.Name `json:"host"`           // the host that serves it
	Live      bool          `json:"live"`           // its host is connected now
	Here      bool          `json:"here"`           // its host is this host
	State     HostState     `json:"state"`          // how its host can be reached
	Since     time.Time     `json:"since,omitzero"` // since when an agent with an inbox here is at what Presence says; of others: since when their host is in that state, or when it was last seen
	Address   string        `json:"address"`        // address of the link to its host, or an address that the host states
	RTT       Seconds       `json:"rtt"`            // last round trip to its host; 0: not known
	AgentWork               // of an agent of this host
	Gates     int           `json:"gates"` // of a human: how many gates wait for their decision (parley gates)
	// Door is the door by which an agent of this host gets its mail, "exec" or "inbox"; absent for
	// all others.
	Door string `json:"door,omitempty"`
	// Asked is when an agent with an inbox last asked for its mail since the node started.
	Asked time.Time `json:"asked,omitzero"`
	// Presence is what an agent is doing; absent if its host does not say it.
	Presence AgentState `json:"presence,omitempty"`
	// Waits is what a session of an agent program waits for.
	Waits *protocol.Waits `json:"waits,omitempty"`
}

// ShowStatus says who this node is, and how it is doing.
var ShowStatus = NewQuestion[Status](VerbSpec{
	Name: "status", Access: Reads, AnyAPI: true,
	Doc: "Says who the node is and how it fares.",
})

// Whoami says for whom the node takes the caller.
var Whoami = NewQuestion[Self](VerbSpec{
	Name: "whoami", Access: Reads, Doing: "say who calls",
	Doc: "Says for whom the node takes the caller.",
})

// Self is who calls, as the node knows it.
type Self struct {
	Name  protocol.Name `json:"name"`  // as whom it speaks; "" for an agent of whom nobody can tell which
	Agent bool          `json:"agent"` // it is an agent, or comes of one
	How   string        `json:"how"`   // by what it is known
	Host  protocol.Name `json:"host"`  // alias of this host
	Human protocol.Name `json:"human"` // the human who decides here
	Fleet protocol.Name `json:"fleet"` // name of the fleet
}

// Stop makes the node drain and exit; it answers when draining has begun.
var Stop = NewQuestion[None](VerbSpec{
	Name: "stop", Access: Operates, Doing: "stop the node", AnyAPI: true,
	Doc: "Makes the node drain and exit.",
})

// Status is how a node is doing.
type Status struct {
	Version   string        `json:"version"`        // of the node's program
	API       int           `json:"api"`            // version of the requests that it understands
	Fleet     protocol.Name `json:"fleet"`          // name of the fleet
	Host      protocol.Name `json:"host"`           // alias of this host
	Human     protocol.Name `json:"human"`          // the human who decides here
	Speaker   protocol.Name `json:"speaker"`        // who acts if a request does not say it (R14)
	Home      string        `json:"home"`           // the folder of the node
	PID       int           `json:"pid"`            // number of its process
	Since     time.Time     `json:"since,omitzero"` // since when the node runs
	Unwatched bool          `json:"unwatched"`      // what an agent program starts acts as its user (up --unwatched)
	Record    RecordStatus  `json:"record"`         // the record of this host
	Bus       BusStatus     `json:"bus"`            // the bus of this host
	Hosts     []HostStatus  `json:"hosts"`          // the hosts of the fleet, by alias
	Agents    []Agent       `json:"agents"`         // agents that are served here, by name
	Passed    []string      `json:"passed"`         // names of variables of the node's environment that commands of agents without env get, beside those that every command gets
	Commands  CommandStatus `json:"commands"`       // commands of agents that run here
	Metrics   string        `json:"metrics"`        // the URL at which Prometheus reads how the node is doing; "" for none
	Refused   int           `json:"refused"`        // messages that were refused since the start
	Gates     int           `json:"gates"`          // how many gates wait for the human's decision (parley gates)
	Flags     []Flag        `json:"flags"`          // files of the record that count for nothing
	Warned    []string      `json:"warnings"`       // what an operator should know, one sentence each
	// Causes are the same warnings as doctor tells them. Nodes of earlier versions tell none.
	Causes []causes.Found `json:"causes,omitempty"`
}

// CommandStatus says how many commands of agents run on this host.
type CommandStatus struct {
	Running int `json:"running"` // commands that run now
	Most    int `json:"most"`    // how many may run at the same time: max_commands
	Waiting int `json:"waiting"` // agents with messages, for which no more commands may run now
}

// Flag counts files of the record of one kind that count for nothing, or about which an operator
// should know. The kinds are stable words: signature, replay, unreadable, other-key, lost-join,
// old-key, revoked, fork, hole, conflict.
type Flag struct {
	Kind  string `json:"kind"`  // a stable word for what they are
	Count int    `json:"count"` // how many files
}

// RecordStatus is the state of the node's record.
type RecordStatus struct {
	ID          string          `json:"id"`                  // hash of its first commit
	Tip         string          `json:"tip"`                 // commit of main
	Messages    int             `json:"messages"`            // messages and receipts that this node knows
	Remote      string          `json:"remote"`              // empty: none
	RemoteError string          `json:"remote_error"`        // the text of Trouble; "" if there is none
	Trouble     *Trouble        `json:"trouble,omitempty"`   // absent if the remote can be used
	Courier     int             `json:"courier"`             // place among the hosts that push for each other, from 1; 0: it pushes for itself
	Pusher      protocol.Name   `json:"pusher"`              // the first of these hosts; "" if this host pushes for itself
	Unrecorded  int             `json:"unrecorded"`          // messages that are stored and in no commit yet
	Withheld    []protocol.Path `json:"withheld"`            // messages that go into no commit: see "record withhold"
	StoreError  string          `json:"store_error"`         // why nothing new can be stored; "" if it can
	StoreAdvice string          `json:"store_advice"`        // what to do about that
	CommitError string          `json:"commit_error"`        // why messages cannot be committed; "" if they can
	Unpushed    int             `json:"unpushed"`            // messages that are in no commit of the remote yet
	LastFetch   time.Time       `json:"last_fetch,omitzero"` // last fetch since the start
	LastPush    time.Time       `json:"last_push,omitzero"`  // last push since the start
	Pushes      int             `json:"pushes"`              // pushes since the start that the remote took
	Rejected    int             `json:"rejected"`            // pushes since the start that came after another host's
	Arriving    int             `json:"arriving"`            // messages that were fetched and are being taken in; 0: none
	Arrived     int             `json:"arrived"`             // how many of them have been taken in
}

// Trouble is why the remote cannot be used.
type Trouble struct {
	// Kind is unreachable, authentication, permission, untrusted, not-found, hook, content, protected, work-tree, full,
	// too-large, throttled, foreign, unusable, renamed, huge, unfit, object, settings, shortage, needs-git, disk,
	// read-only or other.
	Kind    string    `json:"kind"`
	Text    string    `json:"text"`           // one line
	Pushing bool      `json:"pushing"`        // only pushing fails: what others write still comes in
	Since   time.Time `json:"since,omitzero"` // since when
	Next    time.Time `json:"next,omitzero"`  // when it is tried again; zero if that is not known, or if nothing waits to be pushed
	Waiting int       `json:"waiting"`        // messages that the remote lacks
	Advice  string    `json:"advice"`         // what to do; "" if there is nothing to do but wait
}

// BusStatus is the state of the node's bus. An address is empty if that port is not open.
type BusStatus struct {
	URL     string `json:"url"`     // the existing NATS system in use, without its password; empty: a server of our own
	Context string `json:"context"` // the context of the NATS command line that names it; "" for none
	As      string `json:"as"`      // who this host is there, such as "with this host's own key"
	Clients string `json:"clients"` // address at which NATS clients connect
	Links   string `json:"links"`   // address at which other hosts link
	// Advertised are the addresses at which, as this host tells others, they reach its links port.
	Advertised []string     `json:"advertised"`
	Peers      []LinkStatus `json:"peers"` // links to other servers

	// What has gone wrong since the start.

	Dropped    uint64       `json:"dropped"`           // messages that came faster than they could be handled
	Unreadable uint64       `json:"unreadable"`        // messages that could not be read
	Letters    uint64       `json:"letters_refused"`   // letters between nodes that were refused
	Letter     string       `json:"letter_refused"`    // the subject of the last one, and why it was refused
	Refused    []BusRefusal `json:"refused"`           // messages that were refused, by host
	Offended   time.Time    `json:"offended,omitzero"` // when something was last unreadable or refused; Refused says it for each host

	Held        int    `json:"held"`         // messages that wait for the key of their host
	HeldDropped uint64 `json:"held_dropped"` // messages that waited in vain since the start

	Gaps     int    `json:"gaps"`      // holes in the chains of hosts that were asked for in vain, and are asked for again
	GapsLeft uint64 `json:"gaps_left"` // holes that nobody could fill since the start, and that are left to git
}

// BusRefusal is what was refused of the messages that came on the subjects of one host.
type BusRefusal struct {
	From  protocol.Name `json:"from"`        // "": hosts that are too many to be counted one by one
	Count int           `json:"count"`       // how many were refused since the start
	Last  string        `json:"last"`        // the path of the last one, and why
	At    time.Time     `json:"at,omitzero"` // when the last one came
}

// LinkStatus is one link to another server.
type LinkStatus struct {
	Peer    string        `json:"peer"`    // the server's name, or the host or address that this host dials
	Host    protocol.Name `json:"host"`    // the host whose key was proved; "" while that is not known
	Address string        `json:"address"` // where the link leads or comes from, host:port
	Out     bool          `json:"out"`     // this host dials it
	Up      bool          `json:"up"`      // letters pass
	HalfUp  bool          `json:"half_up"` // connected, but letters do not pass yet
	// Connecting is true in the first seconds of a link that is not up: it may be coming up.
	Connecting bool    `json:"connecting,omitempty"`
	RTT        Seconds `json:"rtt"`     // round trip; 0 while it is not known
	Problem    string  `json:"problem"` // why it is not up, or what is wrong with it
}

// HostStatus is one host of the fleet as this node knows it.
type HostStatus struct {
	Alias    protocol.Name `json:"alias"`              // its name in the fleet
	State    HostState     `json:"state"`              // how it can be reached
	Live     bool          `json:"live"`               // its node was heard on the bus a short time ago, or it is this host
	Here     bool          `json:"here"`               // it is this host
	Since    time.Time     `json:"since,omitzero"`     // since when it is live; zero if that is not known
	LastSeen time.Time     `json:"last_seen,omitzero"` // as in Host
	Version  string        `json:"version"`            // version of its program; "" if it was not heard
	Agents   []string      `json:"agents"`             // the agents that it serves
}
