package affair

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Hand is the key with which the human whom a deed names could have signed it (R35).
type Hand struct {
	Here     bool // the human is one of the host that signed the deed, and that host knew who called
	RecordID string
	Key      string // public nkey; empty if no key counted then
	Open     bool   // the key is kept without a passphrase: its signature is the word of the computer's owner and no proof (R36)
	// Had says that the human had a key when the deed was written. Perhaps none counts for the
	// deed: the key was revoked, or two keys contradict each other, and then Contested is true.
	Had, Contested bool
	// Later says that the deed is dated before the human's first key, but does not stand before that
	// key in the host's chain. Whoever has the host's key can date a deed so at any time.
	Later bool
	// Stray says that another message stands at the same place of its host's chain. So the host's
	// key is used in two places (R38).
	Stray bool
}

// Decided returns an error if a deed is not what its human decided. If the human has a key of their
// own, that key must have signed exactly this. If they have none, it returns nil: then the word of
// their host must do, which d.Human gives. `gate` is the message that asked for the decision, zero
// if none did.
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

// Origin is the key that signed a deed by which a human is asked, and on whose behalf.
type Origin struct {
	Host     protocol.Name
	Key      string // public nkey of the host; empty if none that counts signed it
	Human    string // empty if it is on nobody's behalf
	HumanKey string // public nkey with which that human signed it
}

// Origin says where the deed comes from. The step of the deed has checked the human's signature.
func (d Deed) Origin() Origin {
	o := Origin{Host: d.Host, Human: d.Message.Human}
	if d.Standing == Signed {
		o.Key = d.Message.Key
	}
	if o.Human != "" && d.Hsig != "" {
		o.HumanKey = d.Hand.Key
	}
	return o
}

// Saw is what the human who decided signed to have seen of the asker. It is empty if they did not.
// Versions that do not know it count the decision too, so it makes nothing void.
func (d Deed) Saw(s protocol.Sight) string {
	if s.Check(d.Hand.Key, d.Hsig) != nil {
		return ""
	}
	return s.Seen
}
