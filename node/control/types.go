package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Message is the one form in which a message is shown and put in JSON (R17).
type Message struct {
	Path    protocol.Path      `json:"path"`    // names it everywhere
	Channel protocol.ChannelID `json:"channel"` // where it was said
	// ChannelName is what people call the channel, "" where it has no name.
	ChannelName string          `json:"channel_name"`
	Direct      bool            `json:"direct"`               // it is the channel that those have in common whom the message is from and to
	From        string          `json:"from"`                 // the author, without its host
	To          []string        `json:"to"`                   // addressees: names, name@host, or all
	Timestamp   time.Time       `json:"timestamp,omitzero"`   // UTC
	Type        protocol.Type   `json:"type"`                 // a message, or a receipt
	Act         protocol.Act    `json:"act"`                  // what it does; other words are possible
	Ref         string          `json:"ref,omitempty"`        // receipts only: the path of the message that was read
	Re          string          `json:"re"`                   // the path of the message that it answers
	Because     string          `json:"because,omitempty"`    // the path of the message for which an agent was started, or which it was given last, when it wrote this one
	Unattended  bool            `json:"unattended,omitempty"` // its host could not tell who wrote it in the author's name
	Host        protocol.Name   `json:"host"`                 // that signed it; "" where nobody did
	Run         string          `json:"run"`                  // the start of its host's node that wrote it, eight hex digits
	Seq         uint64          `json:"seq"`                  // its number within that, from 1
	Request     string          `json:"request,omitempty"`    // the id that its sender's program gave the request
	Second      string          `json:"second,omitempty"`     // the path of the answer that another host's instance of its author had given before it
	Stage       protocol.Stage  `json:"stage"`                // how far it has come: the last that holds, as this node knows
	Heard       []protocol.Name `json:"heard"`                // hosts known to have fsynced it, by alias
	// Addressees are those whom it is for, each with how far it has come there:
	// "read", "answered" or "". Of a message to all they are everyone of the
	// fleet but the author.
	Addressees []Addressee        `json:"addressees"`
	Signature  protocol.Signature `json:"signature"` // what its signature is worth
	Body       string             `json:"body"`      // the text
	// Claimed says which session of an agent has taken it, in lists of mail; absent where
	// none has.
	Claimed *Claim `json:"claimed,omitempty"`
}

// Addressee is one of those whom a message is for.
type Addressee struct {
	Name  string         `json:"name"`  // without its host
	Stage protocol.Stage `json:"stage"` // how far the message has come with it
}

// Send stores a message and returns once it is fsynced, or up to
// SendRequest.HeardWithin later if other hosts are live.
var Send = NewVerb[SendRequest, Message](VerbSpec{
	Name: "send", Access: Speaks,
	Doc: "Stores a message.",
})

// SendRequest asks for a message to be written: to addressees, or with Re alone
// as the answer to the author of a message, or with both as an answer that goes
// to others.
type SendRequest struct {
	As      string       `json:"as,omitempty"`      // who speaks; empty: R14 decides
	To      []string     `json:"to,omitempty"`      // addresses, or "all"
	Re      string       `json:"re,omitempty"`      // the message answered
	Channel string       `json:"channel,omitempty"` // id or name; empty: that of Re, or derived from who takes part
	Act     protocol.Act `json:"act,omitempty"`
	Body    string       `json:"body"`

	// Anyway writes also to a name that nobody is known to have (R5).
	Anyway bool `json:"anyway,omitempty"`

	// Cross refuses an addressee without a host: the form of a wormhole.
	Cross bool `json:"cross,omitempty"`

	// Request is what the asking program calls this request, "" for none. One
	// that is repeated within 24 hours gets the first message, and writes none.
	Request string `json:"request,omitempty"`

	// HeardWithin is how long the answer may wait for the addressee's host to
	// have heard the message. Zero: not at all.
	HeardWithin time.Duration `json:"heard_within,omitempty"`
}

// Wait returns the first answer to a message, or the next message from or to
// someone. KindTimeout if none came in time.
var Wait = NewVerb[WaitRequest, Message](VerbSpec{
	Name: "wait", Access: Speaks, Long: true,
	Doc: "Waits for the first answer to a message, or for the next message from or to someone.",
})

// WaitRequest asks for the first answer to the message Re, one that is there
// already or the next, or for the next message From someone or To someone (R15).
// Exactly one of the three is set. As is who waits (empty: R14 decides).
type WaitRequest struct {
	As     string        `json:"as,omitempty"`
	Re     string        `json:"re,omitempty"`
	From   string        `json:"from,omitempty"`
	To     string        `json:"to,omitempty"`
	Within time.Duration `json:"within"`
}

// FindTalk says where two participants talk, and refuses an addressee to whom
// nothing could be sent. It writes nothing.
var FindTalk = NewVerb[TalkRequest, Talk](VerbSpec{
	Name: "talk", Access: Speaks,
	Doc: "Says where two participants talk, and writes nothing.",
})

// TalkRequest asks where As (empty: R14 decides) talks with To: in Channel (id or name),
// else in the one that the two have in common.
type TalkRequest struct {
	As      string `json:"as,omitempty"`
	To      string `json:"to"`
	Channel string `json:"channel,omitempty"`
}

// Talk is where a conversation takes place and who begins it.
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

// InboxRequest asks for the mail of As (empty: R14 decides), oldest first: what
// is unread, or with All everything; the first Limit of it (0: all). With Within it
// waits for mail where there is none, that long at most; nothing in time is an error of
// KindTimeout.
//
// With Claim it takes mail that nobody has taken yet. No other request that claims is given that
// mail until it is read, the session that took it ends, or ClaimFor is over (0: as the
// configuration says). Session names the session that takes it; empty: it is the program that has
// called. A node that stops gives everything back.
type InboxRequest struct {
	As       string        `json:"as,omitempty"`
	All      bool          `json:"all,omitempty"`
	Limit    int           `json:"limit,omitempty"`
	Within   time.Duration `json:"within,omitempty"`
	Claim    bool          `json:"claim,omitempty"`
	ClaimFor time.Duration `json:"claim_for,omitempty"`
	Session  string        `json:"session,omitempty"`
}

// Claim is that a session of an agent has taken a message.
type Claim struct {
	By    string    `json:"by"`             // the session, as it calls itself or its process
	Until time.Time `json:"until,omitzero"` // when others are given it, where it does not end before
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

// ReadAll leaves receipts for all mail of one participant that waits, or for
// some of it.
var ReadAll = NewVerb[ReadAllRequest, Marked](VerbSpec{
	Name: "read-all", Access: Speaks, Doing: "mark messages as read", Long: true,
	Doc: "Leaves receipts for all mail of one participant that waits, or for some of it.",
})

// ReadAllRequest asks for the mail of As (empty: R14 decides) that waits to be marked
// as read: all of it, or what stands in Channel (id or name), is From somebody, or
// both.
type ReadAllRequest struct {
	As      string `json:"as,omitempty"`
	Channel string `json:"channel,omitempty"`
	From    string `json:"from,omitempty"`
}

// Shown leaves receipts for those messages that waited for the participant to
// whom they were shown; of the others it leaves none.
var Shown = NewVerb[ShownRequest, Marked](VerbSpec{
	Name: "shown", Access: Speaks, Doing: "mark messages as read",
	Doc: "Leaves receipts for messages that were shown to the one they waited for.",
})

// ShownRequest says that the whole messages at Paths were shown to As (empty: R14
// decides).
type ShownRequest struct {
	As    string          `json:"as,omitempty"`
	Paths []protocol.Path `json:"paths"`
}

// Marked is how many messages a request has marked as read, those that had waited, and
// for whom.
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

// ThreadRequest asks for what belongs to the message at Path: its answers, or
// its whole conversation.
type ThreadRequest struct {
	Path string `json:"path"`
}

// ThreadMessage is a message in the tree of a conversation; its answers follow
// it with a Depth that is greater by one.
type ThreadMessage struct {
	Message
	Depth int `json:"depth"` // 0 for the first message of the conversation
}

// Log answers with the messages of the record, oldest first, and with Follow goes
// on with those to come.
var Log = NewStream[LogRequest, Message](VerbSpec{
	Name: "log", Access: Reads, Long: true,
	Doc: "Lists the messages of the record, oldest first, and with `follow` goes on with those to come.",
}, func(r LogRequest) bool { return r.Follow })

// LogRequest asks for the record's messages: of one channel (id or name) or of
// all, the last Last of them (0: all), without receipts and book-keeping unless
// Everything is set.
type LogRequest struct {
	Channel    string `json:"channel,omitempty"`
	Last       int    `json:"last,omitempty"`
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
	Name    protocol.Name `json:"name"`           // what it is addressed as
	Kind    string        `json:"kind"`           // "agent" or "human"
	Host    protocol.Name `json:"host"`           // where it is served
	Live    bool          `json:"live"`           // its host is connected now
	Here    bool          `json:"here"`           // its host is this one
	State   HostState     `json:"state"`          // how its host can be reached
	Since   time.Time     `json:"since,omitzero"` // since when its host is in its state; of one that is away, when it was last seen
	Address string        `json:"address"`        // of the link to its host, or one that the host states
	RTT     Seconds       `json:"rtt"`            // last round trip to its host; 0: not known
	Held    bool          `json:"held"`           // as in Agent; false of those of other hosts
	Paused  bool          `json:"paused"`         // likewise
	Queued  int           `json:"queued"`         // as in Agent; 0 of those of other hosts
	Running int           `json:"running"`        // likewise
	Unread  int           `json:"unread"`         // likewise
	Over    int           `json:"over"`           // likewise
	Failing int           `json:"failing"`        // likewise
	Dead    int           `json:"dead"`           // likewise
	Gates   int           `json:"gates"`          // of a human: what waits for their decision (parley gates)
	// Stalled is as in Agent; absent of those of other hosts.
	Stalled string `json:"stalled,omitempty"`
	// Door is by which door an agent of this host gets its mail, "exec" or "inbox"; of
	// others it is not known.
	Door string `json:"door,omitempty"`
	// Asked is when one with an inbox last asked for its mail since the node runs.
	Asked time.Time `json:"asked,omitzero"`
	// Presence is what an agent is at; absent where its host does not say it.
	Presence AgentState `json:"presence,omitempty"`
}

// ShowStatus says who this node is and how it fares.
var ShowStatus = NewQuestion[Status](VerbSpec{
	Name: "status", Access: Reads, AnyAPI: true,
	Doc: "Says who the node is and how it fares.",
})

// Stop makes the node drain and exit; it answers when draining has begun.
var Stop = NewQuestion[None](VerbSpec{
	Name: "stop", Access: Operates, Doing: "stop the node", AnyAPI: true,
	Doc: "Makes the node drain and exit.",
})

// Status is how a node fares.
type Status struct {
	Version  string        `json:"version"`        // of the node's program
	API      int           `json:"api"`            // version of what it understands
	Fleet    protocol.Name `json:"fleet"`          // name of the fleet
	Host     protocol.Name `json:"host"`           // alias of this host
	Human    protocol.Name `json:"human"`          // who decides here
	Speaker  protocol.Name `json:"speaker"`        // who acts where a request does not say it (R14)
	Home     string        `json:"home"`           // the folder of the node
	PID      int           `json:"pid"`            // number of its process
	Since    time.Time     `json:"since,omitzero"` // since when it runs
	Record   RecordStatus  `json:"record"`         // the record here
	Bus      BusStatus     `json:"bus"`            // the bus here
	Hosts    []HostStatus  `json:"hosts"`          // the hosts of the fleet, by alias
	Agents   []Agent       `json:"agents"`         // served here, by name
	Commands CommandStatus `json:"commands"`       // of agents, that run here
	Metrics  string        `json:"metrics"`        // the URL where Prometheus reads how the node fares; "" for none
	Refused  int           `json:"refused"`        // messages refused since start
	Gates    int           `json:"gates"`          // what waits for the human's decision (parley gates)
	Flags    []Flag        `json:"flags"`          // what the record holds and counts for nothing
	Warned   []string      `json:"warnings"`       // what an operator should know, a sentence each
}

// CommandStatus says how many commands of agents run on this host.
type CommandStatus struct {
	Running int `json:"running"` // commands that run now
	Most    int `json:"most"`    // that may run at once: max_commands
	Waiting int `json:"waiting"` // agents with messages for which no more commands may run now
}

// Flag counts files of the record of one kind that count for nothing, or of which
// an operator should know. The kinds are stable words: signature, replay,
// unreadable, other-key, lost-join, old-key, revoked, fork, conflict.
type Flag struct {
	Kind  string `json:"kind"`  // a stable word for what they are
	Count int    `json:"count"` // how many files
}

// RecordStatus is the state of the node's record.
type RecordStatus struct {
	ID          string        `json:"id"`                  // hash of its first commit
	Tip         string        `json:"tip"`                 // commit of main
	Messages    int           `json:"messages"`            // and receipts, that this node knows
	Remote      string        `json:"remote"`              // empty: none
	RemoteError string        `json:"remote_error"`        // the text of Trouble, or ""
	Trouble     *Trouble      `json:"trouble,omitempty"`   // absent: the remote can be used
	Courier     int           `json:"courier"`             // place among the hosts that push for each other, from 1; 0: it pushes for itself
	Pusher      protocol.Name `json:"pusher"`              // the first of them; "" where it pushes for itself
	Unrecorded  int           `json:"unrecorded"`          // stored, in no commit yet
	StoreError  string        `json:"store_error"`         // why nothing new can be stored, "" where it can
	StoreAdvice string        `json:"store_advice"`        // what to do about that
	CommitError string        `json:"commit_error"`        // why they cannot be committed, or ""
	Unpushed    int           `json:"unpushed"`            // in no commit of the remote yet
	LastFetch   time.Time     `json:"last_fetch,omitzero"` // since the start
	LastPush    time.Time     `json:"last_push,omitzero"`  // since the start
	Pushes      int           `json:"pushes"`              // since start, that the remote took
	Rejected    int           `json:"rejected"`            // pushes since start that came after another host's
	Arriving    int           `json:"arriving"`            // messages that were fetched and are being taken in; 0: none
	Arrived     int           `json:"arrived"`             // how many of them have been
}

// Trouble is why the remote cannot be used.
type Trouble struct {
	// Kind is unreachable, authentication, permission, untrusted, not-found, hook,
	// protected, work-tree, full, throttled, foreign, huge, unfit, needs-git, disk or other.
	Kind    string    `json:"kind"`
	Text    string    `json:"text"`           // one line
	Pushing bool      `json:"pushing"`        // only pushing fails: what others write comes in
	Since   time.Time `json:"since,omitzero"` // since when
	Next    time.Time `json:"next,omitzero"`  // when it is tried again; zero while that is not known, or nothing waits to be pushed
	Waiting int       `json:"waiting"`        // messages that the remote lacks
	Advice  string    `json:"advice"`         // what to do, "" where waiting is all
}

// BusStatus is the state of the node's bus. Addresses are empty where no port is
// open.
type BusStatus struct {
	URL     string `json:"url"`     // the existing NATS system in use, without its password; empty: a server of our own
	Context string `json:"context"` // the context of the NATS command line that names it; "" for none
	As      string `json:"as"`      // who this host is there, such as "with this host's own key"
	Clients string `json:"clients"` // NATS clients connect here
	Links   string `json:"links"`   // other hosts link here
	// Advertised is where this host tells the others that they reach its links port.
	Advertised []string     `json:"advertised"`
	Peers      []LinkStatus `json:"peers"` // links to other servers

	// What went wrong since the start.

	Dropped    uint64       `json:"dropped"`           // messages that came faster than they could be handled
	Unreadable uint64       `json:"unreadable"`        // messages that could not be read
	Letters    uint64       `json:"letters_refused"`   // letters between nodes that were refused
	Letter     string       `json:"letter_refused"`    // the subject of the last one, and why it was refused
	Refused    []BusRefusal `json:"refused"`           // messages that were refused, by host
	Offended   time.Time    `json:"offended,omitzero"` // when something was unreadable or refused last; of Refused each says when

	Held        int    `json:"held"`         // messages that wait for the key of their host
	HeldDropped uint64 `json:"held_dropped"` // that waited in vain since the start

	Gaps     int    `json:"gaps"`      // holes in the chains of hosts that were asked for in vain, and are again
	GapsLeft uint64 `json:"gaps_left"` // that nobody could fill since the start: left to git
}

// BusRefusal is what was refused of messages that came on the subjects of one host.
type BusRefusal struct {
	From  protocol.Name `json:"from"`        // "": of hosts too many to be told apart
	Count int           `json:"count"`       // how many were refused since the start
	Last  string        `json:"last"`        // the path of the last one, and why
	At    time.Time     `json:"at,omitzero"` // when the last one came
}

// LinkStatus is one link to another server.
type LinkStatus struct {
	Peer    string        `json:"peer"`    // the server's name, or whom we dial
	Host    protocol.Name `json:"host"`    // whose key was proved; "" while that is unknown
	Address string        `json:"address"` // where the link leads or comes from, host:port
	Out     bool          `json:"out"`     // this host dials it
	Up      bool          `json:"up"`      // letters pass
	HalfUp  bool          `json:"half_up"` // connected, but letters do not pass yet
	// Connecting is true in the first seconds in which it is not up: it may be on its way.
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
	Since    time.Time     `json:"since,omitzero"`     // live since; zero if unknown
	LastSeen time.Time     `json:"last_seen,omitzero"` // as in Host
	Version  string        `json:"version"`            // of its program; "" where it was not heard
	Agents   []string      `json:"agents"`             // whom it serves
}
