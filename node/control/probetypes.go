package control

import (
	"github.com/parleyfleet/parley/protocol"
)

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
