package fleet

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// FindingKind is a stable word for a problem of a message.
type FindingKind string

// What Verify finds.
const (
	FindingRefused  FindingKind = "refused"  // signed with a key that does not count
	FindingTime     FindingKind = "time"     // its path and its timestamp state different times
	FindingFuture   FindingKind = "future"   // dated later than any clock can be; not wrong
	FindingDangling FindingKind = "dangling" // what it refers to is missing
	FindingChain    FindingKind = "chain"    // its host's chain has a hole or a fork before it
	FindingUnsigned FindingKind = "unsigned" // nobody vouches for its author; not wrong
)

// Finding is something about a message that an auditor should know.
type Finding struct {
	Path protocol.Path
	Kind FindingKind
	// Wrong says that the message breaks what the record promises. A finding that is only worth
	// knowing, such as a message without a signature, is not wrong.
	Wrong bool
	Text  string
}

// Verify looks at every message of the state: whether its path states its timestamp, whether its
// signature counts, whether the chains of hosts have holes, and whether receipts and answers point
// to something. A file that is no message, or that bears a broken signature, is not in the state:
// Check says so. `now` is the current time.
func (s *State) Verify(now time.Time) []Finding {
	v := s.Verification(now)
	for it := range s.Ledger.All() {
		v.Look(it)
	}
	v.LookAside()
	return v.Findings()
}

// Verification is Verify in steps, for a caller that cannot stop changes of the state for so long:
// Look at each message, LookAside, Findings. Only the first two need the state. If messages come in
// between, a chain may seem to have a hole that it does not have.
type Verification struct {
	state    *State
	now      time.Time
	findings []Finding
	chains   map[protocol.Name][]link
}

// Verification begins to look.
func (s *State) Verification(now time.Time) *Verification {
	return &Verification{state: s, now: now, chains: map[protocol.Name][]link{}}
}

// Look looks at one message of the state.
func (v *Verification) Look(it *Item) {
	v.message(it)
	v.signed(it)
}

// LookAside looks at the files that have lost their paths: they are links of chains too.
func (v *Verification) LookAside() {
	for _, list := range v.state.Ledger.rivals {
		for _, it := range list {
			v.signed(it)
		}
	}
}

func (v *Verification) signed(it *Item) {
	if v.state.Keys().Judge(&it.File) == keys.Genuine {
		v.chains[it.Host] = append(v.chains[it.Host], link{it.Path, it.Run, it.Seq, digest(it.Hash), digest(it.Prev)})
	}
}

// Findings follows the chains. It returns everything that was found, by path.
func (v *Verification) Findings() []Finding {
	for _, host := range slices.Sorted(maps.Keys(v.chains)) {
		v.chain(host, v.chains[host])
	}
	slices.SortStableFunc(v.findings, func(a, b Finding) int { return a.Path.Compare(b.Path) })
	return v.findings
}

func (v *Verification) wrong(p protocol.Path, kind FindingKind, format string, args ...any) {
	v.findings = append(v.findings, Finding{Path: p, Kind: kind, Wrong: true, Text: fmt.Sprintf(format, args...)})
}

func (v *Verification) note(it *Item, kind FindingKind, format string, args ...any) {
	v.findings = append(v.findings, Finding{Path: it.Path, Kind: kind, Text: fmt.Sprintf(format, args...)})
}

func (v *Verification) message(it *Item) {
	switch signature := v.state.Signature(it); {
	case signature == protocol.SignatureRefused:
		v.wrong(it.Path, FindingRefused, "%s", v.state.Keys().Why(&it.File))
	case !it.Sealed:
		v.note(it, FindingUnsigned, "it bears no signature: anyone who may push can have written it")
	case signature == protocol.SignatureUnverified:
		v.note(it, FindingUnsigned, "the host %s signed it but did not declare %q, its author", it.Host, it.From)
	}
	if at := it.Path.Time(); it.Path.Strict() && !statesTime(at, it) {
		v.wrong(it.Path, FindingTime, "its path states %s, its timestamp %s", at.Format(protocol.TimestampLayout), it.Timestamp.Format(protocol.TimestampLayout))
	}
	switch ahead := it.Timestamp.Sub(v.now); {
	case ahead <= ClockReach:
	case it.Sealed:
		v.note(it, FindingFuture, "it is dated %s: the clock of the host %s was wrong, and answers of others do not stand behind it", it.Timestamp.Format(protocol.TimestampLayout), it.Host)
	default:
		v.note(it, FindingFuture, "it is dated %s, and nobody signed it: answers to it do not stand behind it", it.Timestamp.Format(protocol.TimestampLayout))
	}
	if p, ok := it.ReadPath(); ok && v.state.Ledger.at(p) == nil {
		v.wrong(it.Path, FindingDangling, "it is a receipt for %s, which is not there", p)
	}
	if it.Re == "" {
		return
	}
	if p, ok := it.AnsweredPath(); !ok || v.state.Ledger.at(p) == nil {
		v.wrong(it.Path, FindingDangling, "it answers %s, which is not there", it.Re)
	}
}

// statesTime reports whether `at` is the timestamp of a message. A person who writes by hand may
// leave the milliseconds out of one of the two.
func statesTime(at time.Time, it *Item) bool {
	stamp := it.Timestamp.Truncate(time.Millisecond)
	if at.Equal(stamp) {
		return true
	}
	whole := at.Truncate(time.Second)
	return !it.Sealed && whole.Equal(stamp.Truncate(time.Second)) && (whole.Equal(at) || whole.Equal(stamp))
}

// link is a message as part of its host's chain, as small as possible: there may be a million.
type link struct {
	path       protocol.Path
	run        string
	seq        uint64
	hash, prev [16]byte
}

// digest is a hash in the form that links hold, zero for none.
func digest(hash string) (short [16]byte) {
	if hash != "" {
		sum := sha256.Sum256([]byte(hash))
		copy(short[:], sum[:])
	}
	return short
}

// chain follows what a host signed, in the order of its paths: each message must name the hash of
// the one before, and have the next number of its run.
func (v *Verification) chain(host protocol.Name, links []link) {
	slices.SortFunc(links, func(a, b link) int {
		return cmp.Or(a.path.Compare(b.path), bytes.Compare(a.hash[:], b.hash[:]))
	})
	type place struct {
		run string
		seq uint64
	}
	at := map[place]int{}
	known := map[[16]byte]int{}     // by hash, the messages before
	next := make([]int, len(links)) // the index of the message that follows each one, plus one
	for i, l := range links {
		p := place{l.run, l.seq}
		if twin, taken := at[p]; taken {
			v.wrong(l.path, FindingChain, "%s has the same place in the chain of %s: %s/%d", links[twin].path, host, l.run, l.seq)
		}
		at[p] = i
		before, found := known[l.prev]
		known[l.hash] = i
		switch {
		case i == 0 && l.prev == [16]byte{}:
			v.counts(host, link{}, l)
		case !found:
			v.wrong(l.path, FindingChain, "the chain of %s has a hole before it: it does not follow on what the host wrote before", host)
		case next[before] > 0:
			v.wrong(l.path, FindingChain, "the chain of %s forks before it: %s follows the same message", host, links[next[before]-1].path)
		default:
			next[before] = i + 1
			v.counts(host, links[before], l)
		}
	}
}

// counts checks that a message has the number after the one that it follows.
func (v *Verification) counts(host protocol.Name, before, l link) {
	due := uint64(1)
	if before.run == l.run {
		due = before.seq + 1
	}
	if l.seq != due {
		v.wrong(l.path, FindingChain, "it counts as %d of the run %s of %s, where %d is due", l.seq, l.run, host, due)
	}
}
