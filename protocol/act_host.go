package protocol

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// The acts of hosts and their keys, and what their bodies say.
const (
	ActHostRotate   Act = "host-rotate"   // Rotation
	ActHostRevoke   Act = "host-revoke"   // Revocation
	ActHostVouch    Act = "host-vouch"    // Vouch
	ActHostWithhold Act = "host-withhold" // Withholding
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

// Revocation is what a host says in the body of host-revoke: a key counts no more. Of its messages,
// only those that the revocation names and those before them still count, whatever date the others
// bear.
type Revocation struct {
	Host    Name // who says it
	Revokes HostKey
	// Last are the last messages that count, one or more for each run. They count, and so do the
	// messages that led to them, which are found from Prev to Prev. What the key signed in other
	// runs is refused too. A run whose chain forks has several ends.
	Last []RunEnd
	// Removed says that the host itself has ended, and not that its key was lost. People are told
	// the difference. For the rules there is none: either way the key counts no more.
	Removed bool
}

// RunEnd is the last message of a run that counts. The hash identifies the message; run and number
// say where to look for it.
type RunEnd struct {
	Run  string // eight hex digits
	Seq  uint64
	Hash string // hex SHA-256 of its file
}

// CompareRunEnds orders the ends that a revocation names: by run, number and hash.
func CompareRunEnds(a, b RunEnd) int {
	return cmp.Or(strings.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Hash, b.Hash))
}

// maxRunEnds bounds how many runs one revocation may name. A run is one start of a node.
const maxRunEnds = 100_000

// HostRevoke is the act by which a key is revoked.
var HostRevoke = NewAct(ActSpec{
	Act: ActHostRevoke, Heading: "HOST-REVOKE", Class: ClassHostWord,
	Doc: "Ends a key: it counts no more, but for what is named.",
}, parseRevocation, formatRevocation, Revocation{
	Host: "oracle-world", Revokes: HostKey{"white", exampleKey}, Removed: true,
	Last: []RunEnd{{Run: "0badcafe", Seq: 7, Hash: strings.Repeat("5f", 32)}},
})

func formatRevocation(r Revocation) string {
	var b strings.Builder
	b.WriteString(wordHead(ActHostRevoke, r.Host))
	fmt.Fprintf(&b, "revokes: %s %s\n", r.Revokes.Host, r.Revokes.Key)
	if r.Removed {
		b.WriteString("removed: yes\n")
	}
	writeRunEnds(&b, r.Last)
	return NormalBody(b.String())
}

// writeRunEnds writes a line for each end.
func writeRunEnds(b *strings.Builder, ends []RunEnd) {
	for _, e := range ends {
		fmt.Fprintf(b, "last: %s %d %s\n", e.Run, e.Seq, e.Hash)
	}
}

func parseRevocation(body string) (Revocation, error) {
	var r Revocation
	host, err := readWord(body, r.take)
	if err == nil && r.Revokes.Key == "" {
		err = errors.New("it names no key")
	}
	r.Host = host
	if err != nil {
		return Revocation{}, err
	}
	slices.SortFunc(r.Last, CompareRunEnds)
	for i := range r.Last[min(1, len(r.Last)):] {
		if r.Last[i] == r.Last[i+1] {
			return Revocation{}, fmt.Errorf("the end %d of the run %s stands twice", r.Last[i].Seq, r.Last[i].Run)
		}
	}
	return r, nil
}

func (r *Revocation) take(key, value string) (err error) {
	switch key {
	case "revokes":
		if r.Revokes.Key != "" {
			return errors.New("one message revokes one key")
		}
		r.Revokes, err = parseHostKey(value)
		return err
	case "removed":
		r.Removed = value == "yes"
	case "last":
		e, err := parseRunEnd(value)
		if err != nil {
			return err
		}
		if len(r.Last) == maxRunEnds {
			return fmt.Errorf("more than %d runs", maxRunEnds)
		}
		r.Last = append(r.Last, e)
	}
	return nil
}

func parseRunEnd(s string) (RunEnd, error) {
	words := strings.Split(s, " ")
	if len(words) != 3 || !isHex(words[0], 8) || !isHex(words[2], 64) {
		return RunEnd{}, errors.New("it does not name a run, a number and a hash")
	}
	seq, err := strconv.ParseUint(words[1], 10, 63)
	if err != nil || seq == 0 {
		return RunEnd{}, fmt.Errorf("%q is not the number of a message", words[1])
	}
	return RunEnd{Run: words[0], Seq: seq, Hash: words[2]}, nil
}

// isHex reports whether s is n lower-case hex digits.
func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// Vouch is what a host says of the keys of others, in the body of host-vouch: it has seen them
// before any other key claimed the same place. The vouches of the most senior hosts decide the keys
// of hosts. So a join or rotation with an older date takes nothing from anybody (DESIGN, section
// 6).
type Vouch struct {
	Host  Name
	Knows []HostKey // at most MaxVouched
}

// MaxVouched is how many keys one message may vouch for.
const MaxVouched = 1000

// HostVouch is the act by which a host vouches for keys.
var HostVouch = NewAct(ActSpec{
	Act: ActHostVouch, Heading: "HOST-VOUCH", Class: ClassHostWord,
	Doc: "Says which keys of other hosts a host has seen first.",
}, parseVouch, formatVouch, Vouch{Host: "oracle-world", Knows: []HostKey{{"white", exampleKey}}})

func formatVouch(v Vouch) string {
	var b strings.Builder
	b.WriteString(wordHead(ActHostVouch, v.Host))
	for _, k := range v.Knows {
		fmt.Fprintf(&b, "knows: %s %s\n", k.Host, k.Key)
	}
	return NormalBody(b.String())
}

func parseVouch(body string) (Vouch, error) {
	var v Vouch
	host, err := readWord(body, func(key, value string) error {
		if key != "knows" {
			return nil
		}
		k, err := parseHostKey(value)
		switch {
		case err != nil:
			return err
		case slices.Contains(v.Knows, k):
			return nil
		case len(v.Knows) == MaxVouched:
			return fmt.Errorf("a message vouches for at most %d keys", MaxVouched)
		}
		v.Knows = append(v.Knows, k)
		return nil
	})
	if err == nil && len(v.Knows) == 0 {
		err = errors.New("it vouches for nobody")
	}
	v.Host = host
	return v, err
}

// Withholding is what a host says of messages of its own in the body of host-withhold: the shared
// repository refuses what they say, so no host is to push them. Hosts that have heard them keep
// them.
type Withholding struct {
	Host  Name
	Paths []Path
}

// Speaker is the host.
func (w Withholding) Speaker() Name { return w.Host }

// HostWithhold is the act by which a host has no host push some messages of its own.
var HostWithhold = NewAct(ActSpec{
	Act: ActHostWithhold, Heading: "HOST-WITHHOLD", Class: ClassHostWord,
	Doc: "Says which messages of a host go to no shared repository.",
}, parseWithholding, formatWithholding, Withholding{Host: "white", Paths: []Path{exampleRun}})

func formatWithholding(w Withholding) string {
	text := wordHead(ActHostWithhold, w.Host)
	for _, p := range w.Paths {
		text += fmt.Sprintf("message: %s\n", p)
	}
	return NormalBody(text)
}

func parseWithholding(body string) (Withholding, error) {
	var w Withholding
	host, err := readWord(body, func(key, value string) error {
		if key != "message" {
			return nil
		}
		p, err := ParsePath(value)
		if err == nil && !slices.Contains(w.Paths, p) {
			w.Paths = append(w.Paths, p)
		}
		return err
	})
	if err == nil && len(w.Paths) == 0 {
		err = errors.New("it names no message")
	}
	w.Host = host
	return w, err
}
