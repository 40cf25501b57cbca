package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// ListPolicy lists what the fleet can settle for all its hosts, and what holds. SetPolicy settles
// one of these things (R29).
var (
	ListPolicy = NewVerb[PolicyRequest, []PolicySetting](VerbSpec{
		Name: "policy", Access: Reads, Doing: "list the fleet's policy",
		Doc: "Lists what the fleet has settled for all its hosts, and what holds where nothing is.",
	})
	SetPolicy = NewVerb[SetPolicyRequest, PolicySetting](VerbSpec{
		Name: "set-policy", Access: Operates, Doing: "set the fleet's policy",
		Doc: "Settles something for the whole fleet: for a human of the host that began the record.",
	})
)

// PolicyRequest asks for one key, or for all.
type PolicyRequest struct {
	Key string `json:"key,omitempty"`
}

// SetPolicyRequest settles a key. An empty value takes back what was settled.
type SetPolicyRequest struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"` // kept in the record
	Hsig   string `json:"hsig,omitempty"`   // the signature of the human's own key, base64url; needed if they have one
}

// PolicySetting is one thing that a fleet can settle.
type PolicySetting struct {
	Key     string        `json:"key"`           // what is settled
	Value   string        `json:"value"`         // what holds
	Default string        `json:"default"`       // what holds if nothing is settled
	Doc     string        `json:"doc"`           // what it is; "" if this version does not know the key
	Settled string        `json:"settled"`       // what was last settled; "" if nothing was, or if that was taken back
	By      string        `json:"by"`            // who last settled it, or took it back; "" if nobody ever did
	Host    protocol.Name `json:"host"`          // the host of that human
	Time    time.Time     `json:"time,omitzero"` // when, UTC
	Reason  string        `json:"reason"`        // the reason; "" if none was given
	Path    string        `json:"path"`          // the message that says so
	Proof   string        `json:"proof"`         // the proof that this human settled it: own-key, open-key (the key has no passphrase) or host (they had no key)
}
