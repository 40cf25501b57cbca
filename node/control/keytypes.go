package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// RotateKey gives this host a new key.
var RotateKey = NewVerb[RotateRequest, Rotation](VerbSpec{
	Name: "rotate-key", Access: Operates,
	Doc: "Gives this host a new key.",
})

// RotateRequest asks for a new key of this host.
type RotateRequest struct {
	Overlap time.Duration `json:"overlap"`       // how long the old key still counts; 0: no longer
	Try     bool          `json:"try,omitempty"` // only say which host it is, and its key
	// Phrase is the result of RotatePhrase, as a person typed it. It is not needed with Try.
	Phrase string `json:"phrase,omitempty"`
}

// RotatePhrase is what a person types to give a host a new key. It cannot be undone.
func RotatePhrase(host protocol.Name) string { return "rotate " + host.String() }

// RevokePhrase is what a person types to end a key of a host. It cannot be undone.
func RevokePhrase(host protocol.Name) string { return "revoke " + host.String() }

// Rotation says what became of a host's key. If it was only tried, only Host and Old are set.
type Rotation struct {
	Host        protocol.Name `json:"host"`           // the host whose key it is
	Old         string        `json:"old"`            // public nkey
	Key         string        `json:"key"`            // the new public nkey
	Fingerprint string        `json:"fingerprint"`    // of the new key
	Until       time.Time     `json:"until,omitzero"` // until when the old key counts
	Path        protocol.Path `json:"path"`           // the message that says so
}

// RevokeKey ends a key of a host, or says what that would do.
var RevokeKey = NewVerb[RevokeRequest, Revocation](VerbSpec{
	Name: "revoke-key", Access: Operates,
	Doc: "Ends a key of a host, or says what that would do.",
})

// RevokeRequest asks to end a key of a host.
type RevokeRequest struct {
	Host  protocol.Name `json:"host"`
	Key   string        `json:"key,omitempty"`   // public nkey; empty: the last key
	After string        `json:"after,omitempty"` // path of the last message of the host that counts; empty: all known messages count
	Try   bool          `json:"try,omitempty"`   // only say what it would do
	// Phrase is the result of RevokePhrase, as a person typed it. It is not needed with Try.
	Phrase string `json:"phrase,omitempty"`
}

// Revocation says what a revocation does, or would do.
type Revocation struct {
	Host  protocol.Name `json:"host"`           // the host whose key it is
	Key   string        `json:"key"`            // the public nkey
	Human protocol.Name `json:"human"`          // the human who decides it
	Runs  int           `json:"runs"`           // runs of the host's node of which messages still count
	Forks int           `json:"forks"`          // messages that count and stand beside another one in the host's chain: two hosts hold the key
	Later int           `json:"later"`          // known messages that no longer count
	Out   bool          `json:"out"`            // the host has no key that counts, and is out of the fleet
	Here  bool          `json:"here"`           // it is this host: its node ends if it is out
	Path  protocol.Path `json:"path,omitempty"` // the message that says so; absent if it was only tried
}
