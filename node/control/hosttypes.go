package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// HostState is a stable word for how a host can be reached, as far as this node
// knows without asking.
type HostState string

// The states of a host.
const (
	HostHere HostState = "here" // it is this one
	HostLive HostState = "live" // its node was heard on the bus a short time ago
	HostAway HostState = "away" // it was not, or it has said that it leaves
	// HostGit is away from the bus, and writes all the same: it can be reached by git
	// alone.
	HostGit HostState = "git"
	// HostRevoked has no key any more that counts: what it says is refused.
	HostRevoked HostState = "revoked"
)

// Host is one host of the fleet as this node knows it without asking it.
type Host struct {
	Alias protocol.Name `json:"alias"`
	State HostState     `json:"state"`
	// Since is since when its node runs; of one that is away zero.
	Since time.Time `json:"since,omitzero"`
	// LastSeen is when it was last heard on the bus, by this host's clock, or wrote
	// the last message that is known of it, by its own. Zero: never.
	LastSeen    time.Time       `json:"last_seen,omitzero"`
	Version     string          `json:"version"` // last heard; "" where it was not heard since the start
	Key         string          `json:"key"`     // the public nkey that counts now
	Fingerprint string          `json:"fingerprint"`
	Keys        []HostKey       `json:"keys"` // its history, the first key in front, the one that counts last
	Hostname    string          `json:"hostname"`
	Addresses   []string        `json:"addresses"` // where it says that other hosts reach it, host:port
	Humans      []protocol.Name `json:"humans"`
	Agents      []protocol.Name `json:"agents"`
	LastMessage *LastMessage    `json:"last_message,omitempty"` // absent: it wrote none
	// Address is where the link to it leads or comes from, host:port, or where it
	// says that it is reached; "" where neither is known.
	Address string `json:"address"`
	// RTT is the last round trip to it that is known, in nanoseconds; 0: none.
	RTT time.Duration `json:"rtt"`
	// Clock is its clock minus this host's, in nanoseconds, as far as is known of a
	// host that is live.
	Clock time.Duration `json:"clock"`
}

// HostKey is one key in the history of a host. Times that do not apply are zero.
type HostKey struct {
	Key         string    `json:"key"`
	Fingerprint string    `json:"fingerprint"`
	Since       time.Time `json:"since,omitzero"`   // when it replaced the one before it
	Until       time.Time `json:"until,omitzero"`   // until when it counts, because another replaced it
	Revoked     time.Time `json:"revoked,omitzero"` // when it was revoked
	RevokedBy   string    `json:"revoked_by"`       // the host, or "human at host"
}

// LastMessage is the last thing that a host wrote, a receipt or what it says of
// itself included.
type LastMessage struct {
	Path      protocol.Path `json:"path"`
	Timestamp time.Time     `json:"timestamp,omitzero"` // UTC, by the clock of its host
	Run       string        `json:"run"`
	Seq       uint64        `json:"seq"`
}

// HostRequest names a host of the fleet.
type HostRequest struct {
	Alias string `json:"alias"`
}

// Certificate is what a host shows to NATS clients that connect to it by TLS: made
// by itself for its key.
type Certificate struct {
	Alias protocol.Name `json:"alias"`
	PEM   string        `json:"pem"`
}

// PingRequest asks for one question to a host and its answer, Within a time; zero:
// two seconds.
type PingRequest struct {
	Alias  string        `json:"alias"`
	Within time.Duration `json:"within,omitempty"`
}

// Ping is a host's answer.
type Ping struct {
	Alias   protocol.Name `json:"alias"`
	RTT     time.Duration `json:"rtt"`     // from the question to the answer, nanoseconds
	Clock   time.Duration `json:"clock"`   // its clock minus this host's, nanoseconds; right to half of RTT
	Version string        `json:"version"` // of the program that answered
}

// FleetStatus is how the whole fleet fares: what each live host said when it was
// asked, and of the others what this host knows.
type FleetStatus struct {
	Fleet protocol.Name `json:"fleet"`
	Asked protocol.Name `json:"asked"` // the host that asked the others
	Hosts []FleetHost   `json:"hosts"` // by alias
}

// FleetHost is one host of the fleet. What follows Problem is empty where the host
// did not answer. Durations are in nanoseconds.
type FleetHost struct {
	Host
	Answered bool   `json:"answered"` // it was asked and answered; of this host always
	Problem  string `json:"problem"`  // why a host that was asked did not answer, or not with what was asked
	Messages int    `json:"messages"` // and receipts, that it has
	// Behind is how many messages this host has that it lacks, Ahead how many it has
	// that this host lacks: at least, as far as what both say shows.
	Behind     int          `json:"behind"`
	Ahead      int          `json:"ahead"`
	Tip        string       `json:"tip"` // commit of its main
	Unrecorded int          `json:"unrecorded"`
	Unpushed   int          `json:"unpushed"`
	Remote     string       `json:"remote"`  // a word for why it cannot use the remote, or ""
	Trouble    string       `json:"trouble"` // the same as a sentence
	Links      []LinkStatus `json:"links"`
	AgentCount int          `json:"agent_count"`
}
