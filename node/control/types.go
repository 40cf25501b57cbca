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
	Timestamp time.Time          `json:"timestamp,omitzero"` // UTC
	Type      protocol.Type      `json:"type"`
	Act       protocol.Act       `json:"act"`
	Ref       string             `json:"ref,omitempty"` // receipts only: the message read
	Re        string             `json:"re"`
	Host      protocol.Name      `json:"host"`
	Run       string             `json:"run"`
	Seq       uint64             `json:"seq"`
	Request   string             `json:"request,omitempty"` // the id that its sender's program gave the request
	Stage     protocol.Stage     `json:"stage"`
	Heard     []protocol.Name    `json:"heard"` // hosts known to have fsynced it, by alias
	// Addressees says of each addressee how far the message has come with it:
	// "read", "answered" or "". Of a message to all it lists everyone of the
	// fleet but the author.
	Addressees []Addressee        `json:"addressees"`
	Signature  protocol.Signature `json:"signature"`
	Body       string             `json:"body"`
}

// Addressee is one of those whom a message is for.
type Addressee struct {
	Name  string         `json:"name"`
	Stage protocol.Stage `json:"stage"`
}

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

// WaitRequest asks for the first answer to the message Re, one that is there
// already or the next, or for the next message From someone or To someone (R15).
// Exactly one of the three is set.
type WaitRequest struct {
	Re     string        `json:"re,omitempty"`
	From   string        `json:"from,omitempty"`
	To     string        `json:"to,omitempty"`
	Within time.Duration `json:"within"`
}

// InboxRequest asks for the mail of As (empty: R14 decides), oldest first: what
// is unread, or with All everything; the first Limit of it (0: all).
type InboxRequest struct {
	As    string `json:"as,omitempty"`
	All   bool   `json:"all,omitempty"`
	Limit int    `json:"limit,omitempty"`
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

// ThreadRequest asks for what belongs to the message at Path: its answers, or
// its whole conversation.
type ThreadRequest struct {
	Path string `json:"path"`
}

// ThreadMessage is a message in the tree of a conversation; its answers follow
// it with a Depth that is greater by one.
type ThreadMessage struct {
	Message
	Depth int `json:"depth"`
}

// LogRequest asks for the record's messages: of one channel (id or name) or of
// all, the last Last of them (0: all), without receipts and book-keeping unless
// Everything is set.
type LogRequest struct {
	Channel    string `json:"channel,omitempty"`
	Last       int    `json:"last,omitempty"`
	Everything bool   `json:"everything,omitempty"`
	Follow     bool   `json:"follow,omitempty"`
}

// Participant is one line of the fleet's directory.
type Participant struct {
	Name protocol.Name `json:"name"`
	Kind string        `json:"kind"` // "agent" or "human"
	Host protocol.Name `json:"host"`
	Live bool          `json:"live"` // its host is connected now
	Here bool          `json:"here"` // its host is this one
	// State, Since, Address and RTT are those of its host. Since is since when it is
	// in its state: of one that is away, when it was last seen.
	State   HostState     `json:"state"`
	Since   time.Time     `json:"since,omitzero"`
	Address string        `json:"address"`
	RTT     time.Duration `json:"rtt"`
}

// Status is how a node fares.
type Status struct {
	Version string        `json:"version"`
	API     int           `json:"api"`
	Fleet   protocol.Name `json:"fleet"`
	Host    protocol.Name `json:"host"`
	Human   protocol.Name `json:"human"`
	Speaker protocol.Name `json:"speaker"` // who acts where a request does not say it (R14)
	Home    string        `json:"home"`
	PID     int           `json:"pid"`
	Since   time.Time     `json:"since,omitzero"`
	Record  RecordStatus  `json:"record"`
	Bus     BusStatus     `json:"bus"`
	Hosts   []HostStatus  `json:"hosts"`
	Agents  []Agent       `json:"agents"`
	Refused int           `json:"refused"` // messages refused since start
	Flags   []Flag        `json:"flags"`   // what the record holds and counts for nothing
	Warned  []string      `json:"warnings"`
}

// Flag counts files of the record of one kind that count for nothing, or of which
// an operator should know. The kinds are stable words: signature, replay,
// unreadable, other-key, lost-join, old-key, revoked, fork, conflict.
type Flag struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// RecordStatus is the state of the node's record.
type RecordStatus struct {
	ID          string    `json:"id"`
	Tip         string    `json:"tip"`
	Messages    int       `json:"messages"`
	Remote      string    `json:"remote"`            // empty: none
	RemoteError string    `json:"remote_error"`      // the text of Trouble, or ""
	Trouble     *Trouble  `json:"trouble,omitempty"` // absent: the remote can be used
	Courier     int       `json:"courier"`           // place among the hosts that push for each other, from 1; 0: it pushes for itself
	Unrecorded  int       `json:"unrecorded"`        // stored, in no commit yet
	CommitError string    `json:"commit_error"`      // why they cannot be committed, or ""
	Unpushed    int       `json:"unpushed"`          // in no commit of the remote yet
	LastFetch   time.Time `json:"last_fetch,omitzero"`
	LastPush    time.Time `json:"last_push,omitzero"`
	Pushes      int       `json:"pushes"`   // since start, that the remote took
	Rejected    int       `json:"rejected"` // pushes since start that came after another host's
	Arriving    int       `json:"arriving"` // messages that were fetched and are being taken in; 0: none
	Arrived     int       `json:"arrived"`  // how many of them have been
}

// Trouble is why the remote cannot be used.
type Trouble struct {
	// Kind is unreachable, authentication, permission, untrusted, not-found, hook,
	// protected, work-tree, full, throttled, foreign, huge, needs-git, disk or other.
	Kind    string    `json:"kind"`
	Text    string    `json:"text"`    // one line
	Pushing bool      `json:"pushing"` // only pushing fails: what others write comes in
	Since   time.Time `json:"since,omitzero"`
	Next    time.Time `json:"next,omitzero"` // when it is tried again; zero while that is not known, or nothing waits to be pushed
	Waiting int       `json:"waiting"`       // messages that the remote lacks
	Advice  string    `json:"advice"`        // what to do, "" where waiting is all
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
	Peers      []LinkStatus `json:"peers"`

	// What went wrong since the start: what came faster than it could be handled, what
	// could not be read, letters between nodes that nobody proved to have written, and
	// messages that were refused.
	Dropped    uint64       `json:"dropped"`
	Unreadable uint64       `json:"unreadable"`
	Letters    uint64       `json:"letters_refused"`
	Letter     string       `json:"letter_refused"` // the subject of the last one, and why it was refused
	Refused    []BusRefusal `json:"refused"`

	Held        int    `json:"held"`         // messages that wait for the key of their host
	HeldDropped uint64 `json:"held_dropped"` // that waited in vain since the start

	Gaps     int    `json:"gaps"`      // holes in the chains of hosts that are being filled
	GapsLeft uint64 `json:"gaps_left"` // that nobody could fill since the start: left to git
}

// BusRefusal is what was refused of messages that came on the subjects of one host.
type BusRefusal struct {
	From  protocol.Name `json:"from"` // "": of hosts too many to be told apart
	Count int           `json:"count"`
	Last  string        `json:"last"` // the path of the last one, and why
}

// LinkStatus is one link to another server.
type LinkStatus struct {
	Peer    string        `json:"peer"` // the server's name, or whom we dial
	Host    protocol.Name `json:"host"` // whose key was proved; "" while that is unknown
	Address string        `json:"address"`
	Out     bool          `json:"out"` // this host dials it
	Up      bool          `json:"up"`
	HalfUp  bool          `json:"half_up"` // connected, but letters do not pass yet
	RTT     time.Duration `json:"rtt"`
	Problem string        `json:"problem"`
}

// HostStatus is one host of the fleet as this node knows it.
type HostStatus struct {
	Alias    protocol.Name `json:"alias"`
	State    HostState     `json:"state"`
	Live     bool          `json:"live"`
	Here     bool          `json:"here"`
	Since    time.Time     `json:"since,omitzero"`     // live since; zero if unknown
	LastSeen time.Time     `json:"last_seen,omitzero"` // as in Host
	Version  string        `json:"version"`
	Agents   []string      `json:"agents"`
}
