package protocol

import (
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

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
