package protocol

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// rotateContext begins the text that a new key signs to prove itself.
const rotateContext = "parley-rotate-v1"

// Rotation is what a host says in the body of host-rotate: its next key, with the proof that the
// holder of that key agrees. The message is signed with the key that the host has until then.
type Rotation struct {
	Host  Name
	Key   string    // public nkey that counts from now on
	Until time.Time // UTC, to the millisecond: what the old key signs later is refused
	Proof string    // signature of the new key, base64url
	// Last are the last messages of the old key that count, at least one. They count, and so do this
	// message and all that led to them, which are found from Prev to Prev. Earlier versions name none:
	// then only Until bounds what the old key signs.
	Last []RunEnd
}

// ActHostRotate is the act of a Rotation.
const ActHostRotate Act = "host-rotate"

// HostRotate is the act by which a host takes another key. Whether the proof in it holds
// is for Rotation.Check to say.
var HostRotate = NewAct(ActSpec{
	Act: ActHostRotate, Heading: "HOST-ROTATE", Class: ClassHostWord,
	Doc: "Puts a new key in the place of a host's old one.",
}, parseRotation, formatRotation, Rotation{
	Host: "white", Key: exampleKey, Until: time.Date(2026, 5, 24, 19, 1, 0, 0, time.UTC), Proof: "n0Nhy…",
	Last: []RunEnd{{Run: "0badcafe", Seq: 7, Hash: strings.Repeat("5f", 32)}},
})

func formatRotation(r Rotation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%skey: %s\nuntil: %s\nproof: %s\n", wordHead(ActHostRotate, r.Host), oneLine(r.Key),
		r.Until.UTC().Format(TimestampLayout), oneLine(r.Proof))
	writeRunEnds(&b, r.Last)
	return NormalBody(b.String())
}

func parseRotation(body string) (Rotation, error) {
	var r Rotation
	host, err := readWord(body, r.take)
	switch {
	case err != nil:
	case r.Key == "" || r.Proof == "":
		err = errors.New("it names no new key, or gives no proof of it")
	case r.Until.IsZero():
		err = errors.New("it does not say until when the old key counts")
	}
	slices.SortFunc(r.Last, CompareRunEnds)
	r.Last = slices.Compact(r.Last)
	r.Host = host
	return r, err
}

func (r *Rotation) take(key, value string) (err error) {
	switch key {
	case "key":
		r.Key = value
		return CheckKey(value)
	case "until":
		r.Until, err = time.Parse(TimestampLayout, value)
		if err != nil {
			return errors.New("it is no time such as 2026-05-24T19:01:00.000Z")
		}
	case "proof":
		r.Proof = oneLine(value)
	case "last":
		// Earlier versions skip this line. So what cannot be read is skipped too: else the host would
		// have one key here, and another one there.
		if e, err := parseRunEnd(value); err == nil {
			r.Last = append(r.Last, e)
		}
	}
	return nil
}

// Prove sets r.Key to the public key of `next`, and r.Proof to the signature of `next`. It proves
// that the holder of `next` takes the place of the key `old`, in the record whose id is recordID.
func (r *Rotation) Prove(recordID, old string, next nkeys.KeyPair) error {
	public, err := next.PublicKey()
	if err != nil {
		return fmt.Errorf("cannot prove the new key: %w", err)
	}
	r.Key = public
	sig, err := next.Sign(r.proven(recordID, old))
	if err != nil {
		return fmt.Errorf("cannot prove the new key: %w", err)
	}
	r.Proof = base64.RawURLEncoding.EncodeToString(sig)
	return nil
}

// Check returns an error if the proof does not hold for a rotation that the key `old` signed, in
// the record whose id is recordID.
func (r *Rotation) Check(recordID, old string) error {
	if r.Key == old {
		return errors.New("the new key is the old one")
	}
	if err := verify(r.Key, r.Proof, r.proven(recordID, old)); err != nil {
		return errors.New("the new key does not prove itself")
	}
	return nil
}

func (r *Rotation) proven(recordID, old string) []byte {
	return []byte(strings.Join([]string{rotateContext, recordID, r.Host.String(), old, r.Key, ""}, "\n"))
}
