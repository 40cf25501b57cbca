package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Message is the one form in which a message is shown and put in JSON (R17).
type Message struct {
	Path      protocol.Path      `json:"path"`
	Channel   protocol.ChannelID `json:"channel"`
	From      string             `json:"from"`
	To        []string           `json:"to"`
	Timestamp time.Time          `json:"timestamp"` // UTC
	Type      protocol.Type      `json:"type"`
	Act       protocol.Act       `json:"act"`
	Ref       string             `json:"ref,omitempty"` // receipts only: the message read
	Re        string             `json:"re"`
	Host      protocol.Name      `json:"host"`
	Run       string             `json:"run"`
	Seq       uint64             `json:"seq"`
	Stage     protocol.Stage     `json:"stage"`
	Heard     []protocol.Name    `json:"heard"` // hosts known to have fsynced it, by alias
	Signature protocol.Signature `json:"signature"`
	Body      string             `json:"body"`
}

// SendRequest asks for a message to be written. Exactly one of To and Re says
// where it goes: to addressees, or as the answer to a message.
type SendRequest struct {
	As   string       `json:"as,omitempty"` // who speaks; empty: R14 decides
	To   []string     `json:"to,omitempty"` // addresses, or "all"
	Re   string       `json:"re,omitempty"` // the message answered
	Act  protocol.Act `json:"act,omitempty"`
	Body string       `json:"body"`

	// Cross refuses an addressee without a host: the form of a wormhole.
	Cross bool `json:"cross,omitempty"`

	// HeardWithin is how long the answer may wait for the addressee's host to
	// have heard the message. Zero: not at all.
	HeardWithin time.Duration `json:"heard_within,omitempty"`
}

// WaitRequest asks for an answer to the message Re.
type WaitRequest struct {
	Re     string        `json:"re"`
	Within time.Duration `json:"within"`
}

// InboxRequest asks for the mail of As (empty: R14 decides): what is unread, or
// with All everything.
type InboxRequest struct {
	As  string `json:"as,omitempty"`
	All bool   `json:"all,omitempty"`
}

// ReadRequest asks for one message, to be marked as read by As.
type ReadRequest struct {
	As   string `json:"as,omitempty"`
	Path string `json:"path"`
}

// ShowRequest asks for one message.
type ShowRequest struct {
	Path string `json:"path"`
}

// LogRequest asks for the record's messages: of one channel or of all, the last
// Last of them (0: all), without receipts and book-keeping unless Everything is
// set.
type LogRequest struct {
	Channel    string `json:"channel,omitempty"`
	Last       int    `json:"last,omitempty"`
	Everything bool   `json:"everything,omitempty"`
	Follow     bool   `json:"follow,omitempty"`
}

// Agent is an agent served on this host.
type Agent struct {
	Name    protocol.Name `json:"name"`
	Door    string        `json:"door"` // "exec" or "inbox"
	Command string        `json:"command,omitempty"`
	Dir     string        `json:"dir,omitempty"`
	Queued  int           `json:"queued"`  // messages waiting for it
	Running int           `json:"running"` // messages it is working on
	Unread  int           `json:"unread"`  // inbox door: messages without its receipt
}

// AddAgentRequest describes an agent to serve: Exec is its command, or Inbox is
// set. Dir is the folder it works in; empty: the folder where the node runs.
type AddAgentRequest struct {
	Name  string `json:"name"`
	Exec  string `json:"exec,omitempty"`
	Inbox bool   `json:"inbox,omitempty"`
	Dir   string `json:"dir,omitempty"`
}

// RemoveAgentRequest names an agent served here.
type RemoveAgentRequest struct {
	Name string `json:"name"`
}

// Participant is one line of the fleet's directory.
type Participant struct {
	Name protocol.Name `json:"name"`
	Kind string        `json:"kind"` // "agent" or "human"
	Host protocol.Name `json:"host"`
	Live bool          `json:"live"` // its host is connected now
	Here bool          `json:"here"` // its host is this one
}

// Status is how a node fares.
type Status struct {
	Version string        `json:"version"`
	API     int           `json:"api"`
	Fleet   protocol.Name `json:"fleet"`
	Host    protocol.Name `json:"host"`
	Human   protocol.Name `json:"human"`
	Home    string        `json:"home"`
	PID     int           `json:"pid"`
	Since   time.Time     `json:"since"`
	Record  RecordStatus  `json:"record"`
	Bus     BusStatus     `json:"bus"`
	Hosts   []HostStatus  `json:"hosts"`
	Agents  []Agent       `json:"agents"`
	Refused int           `json:"refused"` // messages refused since start
	Warned  []string      `json:"warnings"`
}

// RecordStatus is the state of the node's record.
type RecordStatus struct {
	ID          string    `json:"id"`
	Tip         string    `json:"tip"`
	Messages    int       `json:"messages"`
	Remote      string    `json:"remote"` // empty: none
	RemoteError string    `json:"remote_error"`
	Unrecorded  int       `json:"unrecorded"` // stored, in no commit yet
	Unpushed    int       `json:"unpushed"`   // in no commit of the remote yet
	LastFetch   time.Time `json:"last_fetch"`
	LastPush    time.Time `json:"last_push"`
}

// BusStatus is the state of the node's bus. Addresses are empty where no port is
// open.
type BusStatus struct {
	URL     string       `json:"url"`     // the existing NATS system in use, without its password; empty: a server of our own
	Clients string       `json:"clients"` // NATS clients connect here
	Links   string       `json:"links"`   // other hosts link here
	Peers   []LinkStatus `json:"peers"`
	Dropped uint64       `json:"dropped"` // letters dropped since start; git repairs
}

// LinkStatus is one link to another server.
type LinkStatus struct {
	Peer    string        `json:"peer"`
	Up      bool          `json:"up"`
	RTT     time.Duration `json:"rtt"`
	Problem string        `json:"problem"`
}

// HostStatus is one host of the fleet as this node knows it.
type HostStatus struct {
	Alias   protocol.Name `json:"alias"`
	Live    bool          `json:"live"`
	Here    bool          `json:"here"`
	Since   time.Time     `json:"since"` // live since; zero if unknown
	Version string        `json:"version"`
	Agents  []string      `json:"agents"`
}
