package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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

// ActHostRevoke is the act of a Revocation.
const ActHostRevoke Act = "host-revoke"

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
