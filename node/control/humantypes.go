package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Humans lists the humans of the fleet and the keys with which they sign decisions (R35).
// GiveHumanKey tells the fleet of a key of this host's human, EndHumanKey ends one. The keys
// themselves stay with whoever asks: no node ever has the private half.
var (
	Humans = NewVerb[HumansRequest, HumanList](VerbSpec{
		Name: "humans", Access: Reads, Doing: "list the humans",
		Doc: "Lists the humans of the fleet and the keys with which they sign decisions.",
	})
	GiveHumanKey = NewVerb[HumanKeyRequest, Human](VerbSpec{
		Name: "give-human-key", Access: Operates, Doing: "give the human a key",
		Doc: "Tells the fleet with which key this host's human signs decisions.",
	})
	EndHumanKey = NewVerb[EndHumanKeyRequest, HumanKeyEnd](VerbSpec{
		Name: "end-human-key", Access: Operates, Doing: "revoke the key of a human",
		Doc: "Ends a key of a human, or says what that would do.",
	})
)

// What shows that a human has decided something (R36).
const (
	ProofHost    = "host"     // their host says so: they had no key of their own
	ProofOpenKey = "open-key" // their key, which has no passphrase
	ProofOwnKey  = "own-key"  // their key
)

// HumansRequest asks for all humans.
type HumansRequest struct{}

// HumanList are the humans of the fleet.
type HumanList struct {
	Record string        `json:"record"` // the record's id, which every signature is for
	Host   protocol.Name `json:"host"`   // this host
	Here   protocol.Name `json:"here"`   // its human
	Humans []Human       `json:"humans"` // by name and host
}

// Human is somebody who decides, at one host, and their key there.
type Human struct {
	Name        protocol.Name `json:"name"`             // who it is
	Host        protocol.Name `json:"host"`             // where they sit
	Key         string        `json:"key"`              // public nkey with which they sign decisions; "" where they have none
	Fingerprint string        `json:"fingerprint"`      // of the key; "" where they have none
	Open        bool          `json:"open"`             // it is kept without a passphrase: whoever reads the host's files can decide in their name
	Since       time.Time     `json:"since,omitzero"`   // since when, UTC
	Revoked     time.Time     `json:"revoked,omitzero"` // when their last key was revoked, UTC; absent where it was not
	Contested   []string      `json:"contested"`        // public nkeys of which their host has told as of the first one each: none counts until only one is not revoked
	Keys        int           `json:"keys"`             // how many they had
}

// HumanKeyRequest tells of a key, with the proofs that protocol.HumanKey.Prove makes.
type HumanKeyRequest struct {
	Key    string `json:"key"`              // public nkey
	After  string `json:"after,omitempty"`  // the key that it follows; empty: it is the first
	Open   bool   `json:"open,omitempty"`   // it is kept without a passphrase
	Proof  string `json:"proof"`            // by Key, base64url
	Agreed string `json:"agreed,omitempty"` // by After, base64url
}

// EndHumanKeyRequest ends a key, with the signature that protocol.HumanEnd.Agree makes.
type EndHumanKeyRequest struct {
	Human  protocol.Name `json:"human"`
	Of     protocol.Name `json:"of,omitempty"`     // their host; empty: this one
	Key    string        `json:"key,omitempty"`    // public nkey; empty: the last one
	Counts []string      `json:"counts,omitempty"` // SHA-256 of the decisions that count still, in hex
	By     string        `json:"by,omitempty"`     // the public nkey that agrees
	Agreed string        `json:"agreed,omitempty"` // its signature, base64url
	Try    bool          `json:"try,omitempty"`    // only say what it would do
}

// HumanKeyEnd says what the end of a key does, or would do.
type HumanKeyEnd struct {
	Human  protocol.Name `json:"human"`          // whose key it is
	Of     protocol.Name `json:"of"`             // at which host
	Key    string        `json:"key"`            // the public nkey
	Counts []string      `json:"counts"`         // SHA-256 of the files of the decisions that count still, in hex
	Path   string        `json:"path,omitempty"` // the message that says so; absent where it was only tried
}

// TryNotifications runs the commands of the setting notify with a text that says it is a test.
var TryNotifications = NewVerb[TryNotificationsRequest, []TriedNotification](VerbSpec{
	Name: "try-notifications", Access: Operates, Long: true, Doing: "try the notifications",
	Doc: "Runs the commands by which the human is told what happens, with a text that says it is a test.",
})

// TryNotificationsRequest asks for all of them.
type TryNotificationsRequest struct{}

// TriedNotification is what came of one.
type TriedNotification struct {
	Command string `json:"command"` // its command line
	Problem string `json:"problem"` // why it did not work; "" where it did
}
