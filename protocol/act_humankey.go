package protocol

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// The acts of the keys of humans, and what their bodies say.
const (
	ActHumanKey    Act = "human-key"    // HumanKey
	ActHumanRevoke Act = "human-revoke" // HumanEnd
)

// humanKeyContext begins the text that keys of humans sign to prove themselves.
const humanKeyContext = "parley-human-key-v1"

// HumanKey is what a host says in the body of human-key: the key with which one of its humans signs
// decisions from now on (R35). The first key of a human stays the first one: each later key needs
// the agreement of the key before it.
type HumanKey struct {
	Host  Name
	Human Name
	Key   string // public nkey
	After string // the public nkey before this one; empty: this is the first
	// Open says that the private half is kept without a passphrase. Then whoever may read files of
	// the host can decide in the human's name (R36).
	Open   bool
	Proof  string // signature of Key, base64url
	Agreed string // signature of After, base64url; empty if there is none
}

// Speaker is the host.
func (h HumanKey) Speaker() Name { return h.Host }

// SayHumanKey is the act by which a host says which key one of its humans has. HumanKey.Check says
// whether the proofs in it hold.
var SayHumanKey = hostAct(wordOfHost(ActHumanKey, "Says with which key a human of the host signs decisions."), HumanKey{Host: "white", Human: "nat", Key: exampleKey, Proof: "n0Nhy…"}, func(h *HumanKey) (*Name, []hostLine) {
	return &h.Host, []hostLine{
		nameLine("human", &h.Human), keyLine("key", &h.Key), keyLine("after", &h.After), yesLine("open", &h.Open), textLine("proof", &h.Proof), textLine("agreed", &h.Agreed),
	}
}, func(h *HumanKey) error {
	switch {
	case h.Human == "" || h.Key == "" || h.Proof == "":
		return errors.New("it names no human, no key or gives no proof of it")
	case (h.After == "") != (h.Agreed == ""):
		return errors.New("it names a key before without its word, or the other way about")
	}
	return nil
})

// Prove sets key and proof for the record with the id recordID. If `before` is not nil, it also
// sets the agreement of that key, the one before.
func (h *HumanKey) Prove(recordID string, key, before nkeys.KeyPair) (err error) {
	if h.Key, err = key.PublicKey(); err != nil {
		return fmt.Errorf("cannot prove the key of %s: %w", h.Human, err)
	}
	if before != nil {
		if h.After, err = before.PublicKey(); err != nil {
			return fmt.Errorf("cannot prove the key of %s: %w", h.Human, err)
		}
		if h.Agreed, err = signText(before, h.proven(recordID)); err != nil {
			return err
		}
	}
	h.Proof, err = signText(key, h.proven(recordID))
	return err
}

// Check returns an error if the proofs do not hold in the record with the id recordID.
func (h *HumanKey) Check(recordID string) error {
	switch {
	case h.Key == h.After:
		return errors.New("the new key is the old one")
	case verify(h.Key, h.Proof, h.proven(recordID)) != nil:
		return errors.New("the key does not prove itself")
	case h.After != "" && verify(h.After, h.Agreed, h.proven(recordID)) != nil:
		return errors.New("the key before does not agree")
	}
	return nil
}

func (h *HumanKey) proven(recordID string) []byte {
	kept := "locked"
	if h.Open {
		kept = "open"
	}
	return []byte(strings.Join([]string{humanKeyContext, recordID, h.Host.String(), h.Human.String(), cmp.Or(h.After, "-"), h.Key, kept, ""}, "\n"))
}

func signText(key nkeys.KeyPair, text []byte) (string, error) {
	sig, err := key.Sign(text)
	if err != nil {
		return "", fmt.Errorf("cannot sign: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sig), nil
}

// humanEndContext begins the text that is signed to end the key of a human.
const humanEndContext = "parley-human-revoke-v1"

// HumanEnd is what a host says in the body of human-revoke: the key of a human counts no more,
// except for the decisions that are named (R35). A signature of that key itself agrees to this, or
// one of a human of the host that began the record.
type HumanEnd struct {
	Host   Name   // who says it
	Of     Name   // the host whose human it is
	Human  Name   // whose key it is
	Key    string // public nkey
	By     string // the public nkey that agrees: Key, or that of a human of the founder
	Agreed string // signature of By, base64url
	// Counts are the decisions that still count: the SHA-256 of their files in hex, sorted.
	Counts []string
}

// Speaker is the host that says it.
func (h HumanEnd) Speaker() Name { return h.Host }

// RevokeHuman is the act by which the key of a human ends. HumanEnd.Check says whether the
// signature in it holds.
var RevokeHuman = hostAct(wordOfHost(ActHumanRevoke, "Ends the key of a human: it counts no more, but for the decisions that are named."), HumanEnd{
	Host: "white", Of: "white", Human: "nat", Key: exampleKey, By: exampleKey, Agreed: "n0Nhy…", Counts: []string{strings.Repeat("5f", 32)},
}, func(h *HumanEnd) (*Name, []hostLine) {
	return &h.Host, []hostLine{
		nameLine("human", &h.Human), nameLine("of", &h.Of), keyLine("key", &h.Key), keyLine("by", &h.By), textLine("agreed", &h.Agreed),
		listLine("counts", &h.Counts, maxCounting, func(value string) (string, error) { return value, checkHash(value) }, oneLine),
	}
}, func(h *HumanEnd) error {
	if h.Human == "" || h.Of == "" || h.Key == "" || h.By == "" || h.Agreed == "" {
		return errors.New("it does not say whose key ends, or who agrees")
	}
	slices.Sort(h.Counts)
	return nil
})

// maxCounting bounds how many decisions one revocation may name.
const maxCounting = 10_000

// Agree sets By and Agreed with `key`, for the record with the id recordID.
func (h *HumanEnd) Agree(recordID string, key nkeys.KeyPair) (err error) {
	slices.Sort(h.Counts)
	h.Counts = slices.Compact(h.Counts)
	if h.By, err = key.PublicKey(); err != nil {
		return fmt.Errorf("cannot end the key of %s: %w", h.Human, err)
	}
	h.Agreed, err = signText(key, h.agreed(recordID))
	return err
}

// Check returns an error if the signature does not hold in the record with the id recordID. It does
// not check whose key h.By is: the fleet does.
func (h *HumanEnd) Check(recordID string) error {
	if verify(h.By, h.Agreed, h.agreed(recordID)) != nil {
		return errors.New("the key that agrees did not sign it")
	}
	return nil
}

func (h *HumanEnd) agreed(recordID string) []byte {
	lines := []string{humanEndContext, recordID, h.Host.String(), h.Of.String(), h.Human.String(), h.Key, h.By}
	return []byte(strings.Join(append(lines, h.Counts...), "\n") + "\n")
}

// decisionContext begins the text that a human signs to decide.
const decisionContext = "parley-decision-v1"

// HumanDecision is what a human signs with a key of their own (R35). It names everything on which
// the decision depends, so that the signature fits nothing else.
type HumanDecision struct {
	RecordID string
	Human    Name
	Host     Name   // the human's host, which also writes the decision
	Key      string // public nkey of the human
	Gate     Path   // the message that asks; zero where nothing asked
	GateHash string // hex SHA-256 of its file; empty where nothing asked
	Act      Act    // what is decided
	Reason   string // as the message says it
	Until    time.Time
	// TakesBack is the hex SHA-256 of the file of the decision that this one takes back;
	// empty: none.
	TakesBack string
	Saw       Sight // what they saw of the asker; it is signed apart, see Sight
}

// Sign sets d.Key to the public key of `key` and returns its signature of the decision, base64url.
func (d *HumanDecision) Sign(key nkeys.KeyPair) (string, error) {
	public, err := key.PublicKey()
	if err != nil {
		return "", errors.New("cannot sign the decision: the key is not whole")
	}
	d.Key = public
	return signText(key, d.signed())
}

// Check returns an error if `sig` is not the signature of d.Key for the decision, or if there is a
// signature of what was seen and that one is wrong.
func (d *HumanDecision) Check(sig string) error {
	if sig == "" {
		return errors.New("no key of a human signed it")
	}
	if verify(d.Key, sig, d.signed()) != nil {
		return errors.New("the key of " + d.Human.String() + " did not sign this decision")
	}
	if d.Saw.Sig != "" && d.Saw.Check(d.Key, sig) != nil {
		return errors.New("the record tells something else of the one who asks than what " + d.Human.String() + " signed to have seen: look at it again")
	}
	return nil
}

func (d *HumanDecision) signed() []byte {
	gate := "-"
	if !d.Gate.IsZero() {
		gate = d.Gate.String() + " " + d.GateHash
	}
	until := "-"
	if !d.Until.IsZero() {
		until = formatInstant(d.Until)
	}
	back := "-"
	if d.TakesBack != "" {
		back = d.TakesBack
	}
	// The reason comes last: it alone may have lines.
	return []byte(strings.Join([]string{
		decisionContext, d.RecordID, d.Human.String(), d.Host.String(), d.Key, gate, string(d.Act), until, back, longText(d.Reason), "",
	}, "\n"))
}
