package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// RotateRequest asks for a new key of this host.
type RotateRequest struct {
	Overlap time.Duration `json:"overlap"` // how long the old key counts still; 0: no longer
}

// Rotation says what became of a host's key.
type Rotation struct {
	Host        protocol.Name `json:"host"`
	Old         string        `json:"old"` // public nkey
	Key         string        `json:"key"`
	Fingerprint string        `json:"fingerprint"`    // of the new key
	Until       time.Time     `json:"until,omitzero"` // until when the old key counts
	Path        protocol.Path `json:"path"`           // of the message that says so
}

// RevokeRequest asks to end a key of a host.
type RevokeRequest struct {
	Host  protocol.Name `json:"host"`
	Key   string        `json:"key,omitempty"`   // public nkey; empty: the last one
	After string        `json:"after,omitempty"` // path of the last message of the host that counts; empty: all that are known
	Try   bool          `json:"try,omitempty"`   // only say what it would do
}

// Revocation says what a revocation does, or would do.
type Revocation struct {
	Host  protocol.Name `json:"host"`
	Key   string        `json:"key"`
	Human protocol.Name `json:"human"`          // who decides it
	Runs  int           `json:"runs"`           // starts of the host's node of which messages count still
	Forks int           `json:"forks"`          // messages that count and stand beside another in the host's chain: two hold the key
	Later int           `json:"later"`          // known messages that count no more
	Out   bool          `json:"out"`            // the host has no key that counts, and is out of the fleet
	Here  bool          `json:"here"`           // it is this host: its node ends where it is out
	Path  protocol.Path `json:"path,omitempty"` // of the message that says so; absent where it was only tried
}
