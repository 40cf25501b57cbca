package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Humans lists the humans of the fleet and the keys with which they sign decisions (R35).
// GiveHumanKey tells the fleet of a key of this host's human, and EndHumanKey ends one. The private
// half of a key stays with the program that calls: no node ever has it.
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
	ProofHost    = "host"     // the word of their host: they had no key of their own
	ProofOpenKey = "open-key" // a signature of their key, which has no passphrase
	ProofOwnKey  = "own-key"  // a signature of their key
)

// HumansRequest asks for all humans.
type HumansRequest struct{}

// HumanList are the humans of the fleet.
type HumanList struct {
	Record string        `json:"record"` // the record's id, for which every signature is made
	Host   protocol.Name `json:"host"`   // this host
	Here   protocol.Name `json:"here"`   // the human of this host
	Humans []Human       `json:"humans"` // by name and host
}

// Human is somebody who decides, at one host, with their key there.
type Human struct {
	Name        protocol.Name `json:"name"`             // who it is
	Host        protocol.Name `json:"host"`             // the host at which they are
	Key         string        `json:"key"`              // public nkey with which they sign decisions; "" if they have none
	Fingerprint string        `json:"fingerprint"`      // fingerprint of the key; "" if they have none
	Open        bool          `json:"open"`             // the key is kept without a passphrase: whoever reads the host's files can decide in their name
	Since       time.Time     `json:"since,omitzero"`   // since when they have it, UTC
	Revoked     time.Time     `json:"revoked,omitzero"` // when their last key was revoked, UTC; absent if it was not
	Contested   []string      `json:"contested"`        // public nkeys that their host has each told as the first one: none counts until only one is not revoked
	Keys        int           `json:"keys"`             // how many they had
}

// HumanKeyRequest tells the fleet of a key, with the proofs that protocol.HumanKey.Prove makes.
type HumanKeyRequest struct {
	Key    string `json:"key"`              // public nkey
	After  string `json:"after,omitempty"`  // the key before it; empty: this is the first
	Open   bool   `json:"open,omitempty"`   // the key is kept without a passphrase
	Proof  string `json:"proof"`            // signature of Key, base64url
	Agreed string `json:"agreed,omitempty"` // signature of After, base64url
}

// EndHumanKeyRequest ends a key, with the signature that protocol.HumanEnd.Agree makes.
type EndHumanKeyRequest struct {
	Human  protocol.Name `json:"human"`
	Of     protocol.Name `json:"of,omitempty"`     // the human's host; empty: this one
	Key    string        `json:"key,omitempty"`    // public nkey; empty: the last key
	Counts []string      `json:"counts,omitempty"` // SHA-256 of the decisions that still count, in hex
	By     string        `json:"by,omitempty"`     // the public nkey that agrees
	Agreed string        `json:"agreed,omitempty"` // its signature, base64url
	Try    bool          `json:"try,omitempty"`    // only say what it would do
}

// HumanKeyEnd says what the end of a key does, or would do.
type HumanKeyEnd struct {
	Human  protocol.Name `json:"human"`          // the human whose key it is
	Of     protocol.Name `json:"of"`             // the human's host
	Key    string        `json:"key"`            // the public nkey
	Counts []string      `json:"counts"`         // SHA-256 of the files of the decisions that still count, in hex
	Path   string        `json:"path,omitempty"` // the message that says so; absent if it was only tried
}

// TryNotifications runs the commands of the setting notify with a text that says it is a test.
var TryNotifications = NewVerb[TryNotificationsRequest, []TriedNotification](VerbSpec{
	Name: "try-notifications", Access: Operates, Long: true, Doing: "try the notifications",
	Doc: "Runs the commands by which the human is told what happens, with a text that says it is a test.",
})

// TryNotificationsRequest asks for all commands to be tried.
type TryNotificationsRequest struct{}

// TriedNotification is the result of one command.
type TriedNotification struct {
	Command string `json:"command"` // its command line
	Problem string `json:"problem"` // why it did not work; "" if it did
}
