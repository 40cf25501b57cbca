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
	Name: "try-notifications", Access: Operates, Local: true, Long: true, Doing: "try the notifications",
	Doc: "Runs the commands by which the human is told what happens, with a text that says it is a test.",
})

// TryNotificationsRequest asks for all commands to be tried.
type TryNotificationsRequest struct{}

// ChangeNotifications changes by what the human is told what happens.
var ChangeNotifications = NewVerb[ChangeNotificationsRequest, TriedNotification](VerbSpec{
	Name: "change-notifications", Access: Operates, Local: true, Long: true,
	Doc: "Adds a way by which the human is told what happens and tries it, or removes one; config.yaml keeps that.",
})

// ChangeNotificationsRequest asks for one to be added or removed.
type ChangeNotificationsRequest struct {
	Add    string   `json:"add,omitempty"`    // desktop, bell, ntfy URL, webhook URL or mail ADDRESS
	For    []string `json:"for,omitempty"`    // the kinds of matters that it tells; none: all
	Quiet  []string `json:"quiet,omitempty"`  // when it is silent, as 22:00-07:00
	Remove string   `json:"remove,omitempty"` // the number of one, or its words
}

// TriedNotification is the result of one command or way.
type TriedNotification struct {
	Command string `json:"command"` // its command line, or its words without passwords
	Problem string `json:"problem"` // why it did not work; "" if it did
}

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
