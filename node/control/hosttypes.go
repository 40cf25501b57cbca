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
)

// Host is one host of the fleet as this node knows it without asking it.
type Host struct {
	Alias protocol.Name `json:"alias"`
	State HostState     `json:"state"`
	// Since is since when its node runs; of one that is away zero.
	Since time.Time `json:"since"`
	// LastSeen is when it was last heard on the bus, by this host's clock, or wrote
	// the last message that is known of it, by its own. Zero: never.
	LastSeen    time.Time       `json:"last_seen"`
	Version     string          `json:"version"` // last heard; "" where it was not heard since the start
	Key         string          `json:"key"`     // the public nkey that counts now
	Fingerprint string          `json:"fingerprint"`
	Hostname    string          `json:"hostname"`
	Addresses   []string        `json:"addresses"` // where it says that other hosts reach it, host:port
	Humans      []protocol.Name `json:"humans"`
	Agents      []protocol.Name `json:"agents"`
	LastMessage *LastMessage    `json:"last_message,omitempty"` // absent: it wrote none
}

// LastMessage is the last thing that a host wrote, a receipt or what it says of
// itself included.
type LastMessage struct {
	Path      protocol.Path `json:"path"`
	Timestamp time.Time     `json:"timestamp"` // UTC, by the clock of its host
	Run       string        `json:"run"`
	Seq       uint64        `json:"seq"`
}

// HostRequest names a host of the fleet.
type HostRequest struct {
	Alias string `json:"alias"`
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
