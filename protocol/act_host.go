package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/internal/each"
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
var HostRotate = hostAct(wordOfHost(ActHostRotate, "Puts a new key in the place of a host's old one."), Rotation{
	Host: "white", Key: exampleKey, Until: time.Date(2026, 5, 24, 19, 1, 0, 0, time.UTC), Proof: "n0Nhy…",
	Last: []RunEnd{{Run: "0badcafe", Seq: 7, Hash: strings.Repeat("5f", 32)}},
}, func(r *Rotation) (*Name, []hostLine) {
	return &r.Host, []hostLine{keyLine("key", &r.Key), {"until", func(value string) (err error) {
		if r.Until, err = time.Parse(TimestampLayout, value); err != nil {
			return errors.New("it is no time such as 2026-05-24T19:01:00.000Z")
		}
		return nil
	}, func() []string { return []string{formatInstant(r.Until)} }}, textLine("proof", &r.Proof), {"last", func(value string) error {
		// Earlier versions skip this line. So what cannot be read is skipped too: else the host would
		// have one key here, and another one there.
		if e, err := parseRunEnd(value); err == nil {
			r.Last = append(r.Last, e)
		}
		return nil
	}, func() []string { return runEnds(r.Last) }}}
}, func(r *Rotation) error {
	switch {
	case r.Key == "" || r.Proof == "":
		return errors.New("it names no new key, or gives no proof of it")
	case r.Until.IsZero():
		return errors.New("it does not say until when the old key counts")
	}
	slices.SortFunc(r.Last, CompareRunEnds)
	r.Last = slices.Compact(r.Last)
	return nil
})

// Prove sets r.Key to the public key of `next`, and r.Proof to the signature of `next`. It proves
// that the holder of `next` takes the place of the key `old`, in the record whose id is recordID.
func (r *Rotation) Prove(recordID, old string, next nkeys.KeyPair) error {
	public, err := next.PublicKey()
	if err != nil {
		return fmt.Errorf("cannot prove the new key: %w", err)
	}
	r.Key = public
	r.Proof, err = signText(next, r.proven(recordID, old))
	return err
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
var HostRevoke = hostAct(wordOfHost(ActHostRevoke, "Ends a key: it counts no more, but for what is named."), Revocation{
	Host: "oracle-world", Revokes: HostKey{"white", exampleKey}, Removed: true,
	Last: []RunEnd{{Run: "0badcafe", Seq: 7, Hash: strings.Repeat("5f", 32)}},
}, func(r *Revocation) (*Name, []hostLine) {
	return &r.Host, []hostLine{{"revokes", func(value string) (err error) {
		if r.Revokes.Key != "" {
			return errors.New("one message revokes one key")
		}
		r.Revokes, err = parseHostKey(value)
		return err
	}, func() []string { return []string{r.Revokes.String()} }}, yesLine("removed", &r.Removed), {"last", func(value string) error {
		e, err := parseRunEnd(value)
		if err == nil && len(r.Last) == maxRunEnds {
			err = fmt.Errorf("more than %d runs", maxRunEnds)
		}
		r.Last = append(r.Last, e)
		return err
	}, func() []string { return runEnds(r.Last) }}}
}, func(r *Revocation) error {
	if r.Revokes.Key == "" {
		return errors.New("it names no key")
	}
	slices.SortFunc(r.Last, CompareRunEnds)
	for i := range r.Last[min(1, len(r.Last)):] {
		if r.Last[i] == r.Last[i+1] {
			return fmt.Errorf("the end %d of the run %s stands twice", r.Last[i].Seq, r.Last[i].Run)
		}
	}
	return nil
})

func runEnds(ends []RunEnd) []string {
	return each.Of(ends, func(e RunEnd) string { return fmt.Sprintf("%s %d %s", e.Run, e.Seq, e.Hash) })
}

func parseRunEnd(s string) (RunEnd, error) {
	words := strings.Split(s, " ")
	if len(words) != 3 || !isHex(words[0], 8) || !IsHash(words[2]) {
		return RunEnd{}, errors.New("it does not name a run, a number and a hash")
	}
	seq, err := strconv.ParseUint(words[1], 10, 63)
	if err != nil || seq == 0 {
		return RunEnd{}, fmt.Errorf("%q is not the number of a message", words[1])
	}
	return RunEnd{Run: words[0], Seq: seq, Hash: words[2]}, nil
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
var HostVouch = hostAct(wordOfHost(ActHostVouch, "Says which keys of other hosts a host has seen first."), Vouch{Host: "oracle-world", Knows: []HostKey{{"white", exampleKey}}}, func(v *Vouch) (*Name, []hostLine) {
	return &v.Host, []hostLine{listLine("knows", &v.Knows, MaxVouched, parseHostKey, HostKey.String)}
}, func(v *Vouch) error {
	if len(v.Knows) == 0 {
		return errors.New("it vouches for nobody")
	}
	return nil
})

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
var HostWithhold = hostAct(wordOfHost(ActHostWithhold, "Says which messages of a host go to no shared repository."), Withholding{Host: "white", Paths: []Path{exampleRun}}, func(w *Withholding) (*Name, []hostLine) {
	return &w.Host, []hostLine{listLine("message", &w.Paths, math.MaxInt, ParsePath, Path.String)}
}, func(w *Withholding) error {
	if len(w.Paths) == 0 {
		return errors.New("it names no message")
	}
	return nil
})
