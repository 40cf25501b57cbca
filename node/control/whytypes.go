package control

import (
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/protocol"
)

// Why says why a message has no answer, as far as this host and those that answer it know.
var Why = NewVerb[WhyRequest, Reason](VerbSpec{
	Name: "why", Access: Reads, Doing: "say why there is no answer",
	Doc: "Says why a message has no answer: what is in the way, the most important first, and its steps.",
})

// WhyRequest names a message (a path, or the unique end of one), or an addressee: then it is the last
// message of the caller to them that waits for an answer. Empty: the last one of the caller to
// anybody.
type WhyRequest struct {
	Of   string `json:"of,omitempty"`
	Here bool   `json:"here,omitempty"` // other hosts are not asked
}

// Reason is why a message has no answer.
type Reason struct {
	Path   protocol.Path  `json:"path,omitzero"`  // the message; absent if nothing waits and an addressee was named
	From   string         `json:"from,omitempty"` // its author
	To     []string       `json:"to"`             // its addressees, or the one that was named
	Causes []causes.Found `json:"causes"`         // what is in the way: the first one is the verdict
	Steps  []TraceStep    `json:"steps"`          // as trace tells them
}
