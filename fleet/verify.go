package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// FindingKind is a stable word for what is the matter with a message.
type FindingKind string

// What Verify finds.
const (
	FindingRefused  FindingKind = "refused"  // signed with another key than its host's
	FindingTime     FindingKind = "time"     // its path states another time than its timestamp
	FindingDangling FindingKind = "dangling" // what it refers to is not there
	FindingChain    FindingKind = "chain"    // its host's chain has a hole or a fork before it
	FindingUnsigned FindingKind = "unsigned" // nobody vouches for its author; not wrong
)

// Finding is something about a message that an auditor should know.
type Finding struct {
	Path protocol.Path
	Kind FindingKind
	// Wrong says that it breaks what the record promises. What is merely worth
	// knowing, such as a message without a signature, is not wrong.
	Wrong bool
	Text  string
}

// Verify looks at every message of the state: whether its path states its
// timestamp, whether its signature holds, whether the chains of hosts have holes,
// and whether receipts and answers point to something. What is no message, or
// bears a broken signature, is not in the state: Check says so.
func (s *State) Verify() []Finding {
	v := verification{state: s}
	for _, it := range s.order.items {
		v.message(it)
	}
	for _, h := range s.Hosts() {
		v.chain(h)
	}
	slices.SortStableFunc(v.findings, func(a, b Finding) int { return a.Path.Compare(b.Path) })
	return v.findings
}

type verification struct {
	state    *State
	findings []Finding
}

func (v *verification) wrong(it *Item, kind FindingKind, format string, args ...any) {
	v.findings = append(v.findings, Finding{Path: it.Path, Kind: kind, Wrong: true, Text: fmt.Sprintf(format, args...)})
}

func (v *verification) unsigned(it *Item, format string, args ...any) {
	v.findings = append(v.findings, Finding{Path: it.Path, Kind: FindingUnsigned, Text: fmt.Sprintf(format, args...)})
}

func (v *verification) message(it *Item) {
	switch signature := v.state.Signature(it); {
	case signature == protocol.SignatureRefused:
		v.wrong(it, FindingRefused, "it is signed with another key than that of the host %s", it.Host)
	case !it.sealed:
		v.unsigned(it, "it bears no signature: anyone who may push can have written it")
	case signature == protocol.SignatureUnverified:
		v.unsigned(it, "the host %s signed it but did not declare %q, its author", it.Host, it.From)
	}
	if at := it.Path.Time(); it.Path.Strict() && !statesTime(at, it) {
		v.wrong(it, FindingTime, "its path states %s, its timestamp %s", at.Format(protocol.TimestampLayout), it.Timestamp.Format(protocol.TimestampLayout))
	}
	if p, ok := it.ReadPath(); ok && v.state.items[p] == nil {
		v.wrong(it, FindingDangling, "it is a receipt for %s, which is not there", p)
	}
	if it.Re == "" {
		return
	}
	if p, ok := it.AnsweredPath(); !ok || v.state.items[p] == nil {
		v.wrong(it, FindingDangling, "it answers %s, which is not there", it.Re)
	}
}

// statesTime reports whether at is the timestamp of a message. Who writes by hand
// may leave the milliseconds out of one of the two.
func statesTime(at time.Time, it *Item) bool {
	stamp := it.Timestamp.Truncate(time.Millisecond)
	if at.Equal(stamp) {
		return true
	}
	whole := at.Truncate(time.Second)
	return !it.sealed && whole.Equal(stamp.Truncate(time.Second)) && (whole.Equal(at) || whole.Equal(stamp))
}

// chain follows what a host signed, in the order of its paths: each message names
// the hash of the one before, and counts on within its run.
func (v *verification) chain(h *Host) {
	own := slices.DeleteFunc(slices.Clone(h.sealed), func(it *Item) bool { return it.Key != h.Key })
	slices.SortFunc(own, byPath)
	type place struct {
		run string
		seq uint64
	}
	at := map[place]*Item{}
	var before *Item
	for _, it := range own {
		p := place{it.Run, it.Seq}
		if twin := at[p]; twin != nil {
			v.wrong(it, FindingChain, "%s has the same place in the chain of %s: %s/%d", twin.Path, h.Alias, it.Run, it.Seq)
		}
		at[p] = it
		v.link(h, before, it)
		before = it
	}
}

// link checks that a message follows the one before it in its host's chain.
func (v *verification) link(h *Host, before, it *Item) {
	hash, seq := "", uint64(1)
	if before != nil {
		hash = before.Hash
		if before.Run == it.Run {
			seq = before.Seq + 1
		}
	}
	switch {
	case it.Prev != hash:
		v.wrong(it, FindingChain, "the chain of %s has a hole before it: it does not follow on what the host wrote before", h.Alias)
	case it.Seq != seq:
		v.wrong(it, FindingChain, "it counts as %d of the run %s of %s, where %d is due", it.Seq, it.Run, h.Alias, seq)
	}
}
