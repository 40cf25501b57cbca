// Package splice changes configuration files of other programs. It puts something in and takes it
// out again, and leaves every other byte as it was: no file is written anew from its values.
package splice

import (
	"bytes"
	"slices"

	"github.com/parleyfleet/parley/internal/each"
)

// span is a range of bytes that was put in.
type span struct{ from, to int }

// spans are the ranges that were put in, in order, none touching the next.
type spans []span

// add notes that `length` bytes were put in at `at`.
func (s spans) add(at, length int) spans {
	var out spans
	fresh := span{at, at + length}
	for _, one := range s {
		switch {
		case one.to < at:
			out = append(out, one)
		case one.from > at:
			out = append(out, span{one.from + length, one.to + length})
		default: // it was put in within, or beside
			fresh = span{min(one.from, fresh.from), max(one.to+length, fresh.to)}
		}
	}
	out = append(out, fresh)
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	return out
}

// texts are what was put in.
func (s spans) texts(data []byte) []string {
	return each.Of(s, func(one span) string { return string(data[one.from:one.to]) })
}

// Cut takes out what was put in, in this order. It reports false if one of the texts is not there
// any more, or if there is more than one way to find them all.
func Cut(data []byte, texts []string) ([]byte, bool) {
	first, last := make([]int, len(texts)), make([]int, len(texts))
	at := 0
	for i, text := range texts {
		found := bytes.Index(data[at:], []byte(text))
		if found < 0 || text == "" {
			return nil, false
		}
		first[i] = at + found
		at = first[i] + len(text)
	}
	at = len(data)
	for i := len(texts) - 1; i >= 0; i-- {
		last[i] = bytes.LastIndex(data[:at], []byte(texts[i]))
		at = last[i]
	}
	if len(texts) == 0 || !slices.Equal(first, last) {
		return nil, false
	}
	var out []byte
	at = 0
	for i, text := range texts {
		out = append(out, data[at:first[i]]...)
		at = first[i] + len(text)
	}
	return append(out, data[at:]...), true
}

// put puts text in.
func put(data []byte, at int, text string) []byte {
	return slices.Concat(data[:at], []byte(text), data[at:])
}

// withoutMark is a copy of a file with blanks instead of a byte order mark, so that each byte keeps
// its place.
func withoutMark(data []byte) []byte {
	plain := bytes.Clone(data)
	if bytes.HasPrefix(plain, []byte("\ufeff")) {
		copy(plain, "   ")
	}
	return plain
}

// lineEnd is how the lines of a file end.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineAt is the number of the line of a byte, for people.
func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:min(at, len(data))], []byte("\n")) }
