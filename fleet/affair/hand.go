package affair

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Hand is the key with which the human whom a deed names could sign it (R35).
type Hand struct {
	Here     bool // the human is one of the host that signed the deed, which knew who called
	RecordID string
	Key      string // public nkey; empty where none counted then
	Open     bool   // it is kept without a passphrase, so its signature is an owner's word and no proof (R36)
	// Had says that the human had a key when the deed was written, though none may count for
	// it: it was revoked, or it is contested which one is theirs.
	Had, Contested bool
	// Later says that the deed is dated before the human's first key, but does not stand before that
	// key in the host's chain. Whoever has the host's key can date a deed so at any time.
	Later bool
	// Stray says that another message stands beside the deed in its host's chain, so that the
	// host's key is used in two places (R38).
	Stray bool
}

// Decided says why a deed is not what its human decided: where they have a key of their
// own, it must have signed just this. Where they have none their host's word must do, which
// the deed's Human says. The gate is what asked, zero where nothing did.
func (d Deed) Decided(gate protocol.Path, gateHash, reason string, until time.Time, takesBack string) error {
	switch {
	case !d.Hand.Had:
		return nil
	case d.Hand.Later:
		return errors.New("it is dated before the first key of " + d.Message.Human + ", and is not among what " + d.Host.String() + " wrote before it told of that key")
	case d.Hand.Contested:
		return errors.New("it is contested which key is that of " + d.Message.Human + ": " + d.Host.String() + " has told of two first ones")
	case d.Hand.Key == "":
		return errors.New("the key of " + d.Message.Human + " is revoked, and this is not among what counts still")
	}
	signed := protocol.HumanDecision{
		RecordID: d.Hand.RecordID, Human: protocol.Name(d.Message.Human), Host: d.Host, Key: d.Hand.Key,
		Gate: gate, GateHash: gateHash, Act: d.Act, Reason: reason, Until: until, TakesBack: takesBack,
	}
	return signed.Check(d.Hsig)
}
