package protocol

import (
	"fmt"
	"github.com/parleyfleet/parley/internal/each"
	"strconv"
	"strings"
)

// MaxHeads is how many heads one letter tells at most.
const MaxHeads = 64

// Head is the last message of a host, as a head letter tells it. So a host that missed the last
// message before a silence learns of it (DESIGN section 7). A chain goes on across the runs of its
// host, so its last message stands for all before it.
type Head struct {
	Host Name
	Run  string
	Seq  uint64
	Hash string // hex SHA-256 of the file
	Path Path
}

// EncodeHeads writes heads, one a line: host, run, seq, hash and path.
func EncodeHeads(heads []Head) []byte {
	lines := each.Of(heads, func(h Head) string {
		return strings.Join([]string{h.Host.String(), h.Run, strconv.FormatUint(h.Seq, 10), h.Hash, h.Path.String()}, " ")
	})
	return []byte(strings.Join(lines, "\n"))
}

// DecodeHeads reads what EncodeHeads writes.
func DecodeHeads(data []byte) ([]Head, error) {
	if n := strings.Count(string(data), "\n") + 1; n > MaxHeads {
		return nil, fmt.Errorf("cannot read the head letter: %d heads are more than %d", n, MaxHeads)
	}
	var heads []Head
	for line := range strings.SplitSeq(string(data), "\n") {
		h, err := decodeHead(line)
		if err != nil {
			return nil, fmt.Errorf("cannot read the head letter: %w", err)
		}
		heads = append(heads, h)
	}
	return heads, nil
}

func decodeHead(line string) (h Head, err error) {
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 {
		return h, fmt.Errorf("%q is not host, run, seq, hash and path", line)
	}
	if h.Host, err = ParseName(words[0]); err != nil {
		return h, err
	}
	if h.Run = words[1]; !isHex(h.Run, 8) {
		return h, fmt.Errorf("run %q is not eight hex digits", h.Run)
	}
	if h.Seq, err = strconv.ParseUint(words[2], 10, 64); err != nil || h.Seq == 0 || strconv.FormatUint(h.Seq, 10) != words[2] {
		return h, fmt.Errorf("seq %q is no number from 1", words[2])
	}
	if h.Hash = words[3]; !IsHash(h.Hash) {
		return h, fmt.Errorf("%q is no hash", h.Hash)
	}
	h.Path, err = ParsePath(words[4])
	return h, err
}

// IsHash reports whether `s` looks like a hash that Hash gives.
func IsHash(s string) bool { return isHex(s, 64) }

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
