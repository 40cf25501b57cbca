package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// HostState is a stable word for how a host can be reached, as far as this node knows without
// asking the host.
type HostState string

// The states of a host.
const (
	HostHere HostState = "here" // it is this one
	HostLive HostState = "live" // its node was heard on the bus a short time ago
	HostAway HostState = "away" // it was not, or it has said that it is leaving
	// HostGit is away from the bus, but still writes: it can only be reached by git.
	HostGit HostState = "git"
	// HostRevoked no longer has a key that counts: what it says is refused.
	HostRevoked HostState = "revoked"
	// HostOther has no key: another program runs there, and has written the host's file.
	HostOther HostState = "other"
	// HostRemoved is revoked because the host was removed from the fleet.
	HostRemoved HostState = "removed"
)

// Host is one host of the fleet, as this node knows it without asking it.
type Host struct {
	Alias protocol.Name `json:"alias"` // its name in the fleet
	State HostState     `json:"state"` // how it can be reached
	// Since is since when its node runs; zero if it is away.
	Since time.Time `json:"since,omitzero"`
	// LastSeen is when it was last heard on the bus, by this host's clock, or when it wrote the
	// last known message, by its own clock. Zero: never.
	LastSeen    time.Time       `json:"last_seen,omitzero"`
	Version     string          `json:"version"`                // the last version that was heard; "" if it was not heard since the start
	Key         string          `json:"key"`                    // the public nkey that counts now
	Fingerprint string          `json:"fingerprint"`            // of the key, for people to compare
	Keys        []HostKey       `json:"keys"`                   // its history of keys, the first key first, the one that counts last
	Hostname    string          `json:"hostname"`               // what its machine is called
	Addresses   []string        `json:"addresses"`              // the addresses at which it says that other hosts reach it, host:port
	Humans      []protocol.Name `json:"humans"`                 // those who decide there
	Agents      []protocol.Name `json:"agents"`                 // the agents that it serves
	LastMessage *LastMessage    `json:"last_message,omitempty"` // absent if it has written none
	// Address is where the link to it leads or comes from, host:port, or the address at which it
	// says that it is reached. It is "" if neither is known.
	Address string `json:"address"`
	// RTT is the last known round trip to it; 0: none.
	RTT Seconds `json:"rtt"`
	// Clock is its clock minus this host's, as far as this is known for a live host.
	Clock Seconds `json:"clock"`
}

// HostKey is one key in the history of a host. Times that do not apply are zero.
type HostKey struct {
	Key         string    `json:"key"`               // public nkey
	Fingerprint string    `json:"fingerprint"`       // fingerprint of the key
	Since       time.Time `json:"since,omitzero"`    // when it replaced the one before it
	Until       time.Time `json:"until,omitzero"`    // until when it counts, if another key has replaced it
	Revoked     time.Time `json:"revoked,omitzero"`  // when it was revoked
	RevokedBy   string    `json:"revoked_by"`        // the host, or "human at host"
	Removed     bool      `json:"removed,omitempty"` // the host was removed from the fleet by that
}

// LastMessage is the last thing that a host wrote. This may be a receipt, or what it says of
// itself.
type LastMessage struct {
	Path      protocol.Path `json:"path"`               // the path of the message
	Timestamp time.Time     `json:"timestamp,omitzero"` // UTC, by the clock of its host
	Run       string        `json:"run"`                // the run of the host's node that wrote it
	Seq       uint64        `json:"seq"`                // its number within that run
}

// Hosts lists the hosts of the fleet by alias, without asking any of them.
var Hosts = NewVerb[HostsRequest, []Host](VerbSpec{
	Name: "hosts", Access: Reads,
	Doc: "Lists the hosts of the fleet by alias, without asking any of them.",
})

// HostsRequest asks for hosts, or for those who can be reached there.
type HostsRequest struct {
	All bool `json:"all,omitempty"` // also those that are out of the fleet
}

// RemoveHost takes a host out of the fleet for good, or says what that would do.
var RemoveHost = NewVerb[RemoveHostRequest, HostRemoval](VerbSpec{
	Name: "remove-host", Access: Operates,
	Doc: "Takes a host out of the fleet for good, or says what that would do.",
})

// RemoveHostRequest asks to remove a host from the fleet.
type RemoveHostRequest struct {
	Host protocol.Name `json:"host"`
	Try  bool          `json:"try,omitempty"` // only say what it would do
	// Phrase is the result of RemovePhrase, as a person typed it. It is not needed with Try.
	Phrase string `json:"phrase,omitempty"`
}

// RemovePhrase is what a person types to remove a host. It cannot be undone.
func RemovePhrase(host protocol.Name) string { return "remove " + host.String() }

// HostRemoval says what becomes of a host that is removed, or would become of it.
type HostRemoval struct {
	Host    protocol.Name   `json:"host"`           // its alias
	Human   protocol.Name   `json:"human"`          // who decides it
	Agents  []protocol.Name `json:"agents"`         // the agents that it serves
	Waiting int             `json:"waiting"`        // messages to them without a receipt: nobody will answer these
	Running int             `json:"running"`        // messages on which its agents work, if it is this host
	Founder bool            `json:"founder"`        // it began the record: after it, nobody can remove others
	Here    bool            `json:"here"`           // it is this host: its node ends
	Path    protocol.Path   `json:"path,omitempty"` // the message that says so; absent if it was only tried
}

// OpenLinks has a node that runs take links of other hosts, from now on and after its next starts. It
// writes that into config.yaml, and the record tells the other hosts.
var OpenLinks = NewVerb[OpenLinksRequest, OpenedLinks](VerbSpec{
	Name: "open-links", Access: Operates, Doing: "set where this host listens",
	Doc: "Has a node that runs take links of other hosts, from now on and after its next starts.",
})

// OpenLinksRequest says where links are to be taken.
type OpenLinksRequest struct {
	Address string `json:"address"` // host:port
	// Advertise are the addresses, host:port, at which others reach it; none: those of the machine.
	Advertise []string `json:"advertise,omitempty"`
}

// OpenedLinks is where a host takes links.
type OpenedLinks struct {
	Address    string   `json:"address"`    // the bound address, host:port
	Advertised []string `json:"advertised"` // the addresses that other hosts are told
}

// ShowHost describes one host, without asking it.
var ShowHost = NewVerb[HostRequest, Host](VerbSpec{
	Name: "host", Access: Reads,
	Doc: "Describes one host, without asking it.",
})

// HostRequest names a host of the fleet.
type HostRequest struct {
	Alias string `json:"alias"`
}

// HostCertificate returns the certificate that a host shows to NATS clients. For another host that
// is live, it asks that host, and the certificate must be made for a key of that host.
var HostCertificate = NewVerb[HostRequest, Certificate](VerbSpec{
	Name: "host-certificate", Access: Reads, Long: true,
	Doc: "Returns the certificate that a host shows to NATS clients.",
})

// Certificate is what a host shows to NATS clients that connect by TLS. The host has made it
// itself, for its key.
type Certificate struct {
	Alias protocol.Name `json:"alias"` // the host that shows it
	PEM   string        `json:"pem"`   // the certificate in PEM
}

// PingHost asks a host that is live a question and waits for its answer.
var PingHost = NewVerb[PingRequest, Ping](VerbSpec{
	Name: "ping-host", Access: Reads, Long: true,
	Doc: "Asks a host that is live a question and waits for its answer.",
})

// PingRequest asks a host one question and waits for the answer for the time Within; zero: two
// seconds.
type PingRequest struct {
	Alias  string        `json:"alias"`
	Within time.Duration `json:"within,omitempty"`
}

// Ping is a host's answer.
type Ping struct {
	Alias   protocol.Name `json:"alias"`
	RTT     Seconds       `json:"rtt"`     // from the question to the answer
	Clock   Seconds       `json:"clock"`   // its clock minus this host's; exact to half of RTT
	Version string        `json:"version"` // of the program that answered
}

// AskFleet asks all live hosts how they fare, at the same time, and waits about two
// seconds for those that do not answer.
var AskFleet = NewVerb[HostsRequest, FleetStatus](VerbSpec{
	Name: "fleet", Access: Reads, Long: true,
	Doc: "Asks all live hosts how they fare.",
})

// FleetStatus is how the whole fleet is doing: what each live host answered, and for the others
// what this host knows.
type FleetStatus struct {
	Fleet protocol.Name `json:"fleet"` // its name
	Asked protocol.Name `json:"asked"` // the host that asked the others
	Hosts []FleetHost   `json:"hosts"` // by alias
}

// FleetHost is one host of the fleet. The fields after Problem are empty if the host did not
// answer.
type FleetHost struct {
	Host
	Answered bool   `json:"answered"` // it was asked and answered; always true for this host
	Problem  string `json:"problem"`  // why a host that was asked did not answer, or not with what was asked
	Messages int    `json:"messages"` // how many messages and receipts it has
	// Behind is how many messages this host has that it lacks: at least so many, by what both say.
	Behind     int          `json:"behind"`
	Ahead      int          `json:"ahead"`       // messages that it has and this host lacks, at least
	Tip        string       `json:"tip"`         // commit of its main
	Unrecorded int          `json:"unrecorded"`  // messages that it has stored and that are in no commit yet
	Unpushed   int          `json:"unpushed"`    // messages of its main that its remote lacks
	Remote     string       `json:"remote"`      // a word for why it cannot use the remote; "" if it can
	Trouble    string       `json:"trouble"`     // the same as a sentence
	Links      []LinkStatus `json:"links"`       // its links to other servers
	AgentCount int          `json:"agent_count"` // agents that it serves
}

// ProbeHost dials each address of a host, up to the point where a link would begin.
var ProbeHost = NewVerb[HostRequest, Probe](VerbSpec{
	Name: "probe-host", Access: Reads, Long: true,
	Doc: "Dials each address of a host, up to where a link would begin.",
})

// Probe is how far a dial gets to each address of a host.
type Probe struct {
	Alias     protocol.Name   `json:"alias"`     // the host
	Addresses []ProbedAddress `json:"addresses"` // one for each address that it states
}

// ProbedAddress is how far a dial gets to one address.
type ProbedAddress struct {
	Address string `json:"address"` // host:port
	Works   bool   `json:"works"`   // a link can be made there
	// Cause is a stable word for what is wrong: name, route, refused, tls, key, self, version,
	// busy, or clock; "" for nothing. With clock, links work all the same.
	Cause   string  `json:"cause"`
	Reason  string  `json:"reason"`  // the same for people
	RTT     Seconds `json:"rtt"`     // round trip of one question and answer
	Clock   Seconds `json:"clock"`   // its clock minus this host's
	Version string  `json:"version"` // version of the program there
}
