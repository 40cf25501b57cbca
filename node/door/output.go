package door

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// head keeps the first max bytes that are written to it.
type head struct {
	max  int
	data []byte
	more bool // something was thrown away
}

// Write takes all of p and never fails.
func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.max-len(h.data))
	h.data = append(h.data, p[:keep]...)
	h.more = h.more || keep < len(p)
	return len(p), nil
}

// tail keeps the last max bytes that are written to it.
type tail struct {
	max  int
	data []byte
	more bool // something was thrown away
}

// Write takes all of p and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.max; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
		t.more = true
	}
	return len(p), nil
}

// cleanHead is kept output as text, and whether it held bytes that are none.
// Where the output was cut, a character that the cut has split is left away. The
// text is at most max bytes, although U+FFFD is longer than what it stands for;
// cut reports whether that took something away.
func cleanHead(data []byte, truncated bool, max int) (text string, binary, cut bool) {
	if truncated {
		data = trimSplitEnd(data)
	}
	text, binary = clean(data)
	short := cutRunes(text, max)
	return strings.TrimRight(short, "\n"), binary, len(short) < len(text)
}

// cleanTail is the end of some output as text of at most max bytes.
func cleanTail(data []byte, truncated bool, max int) string {
	if truncated {
		for i := 0; i < utf8.UTFMax-1 && len(data) > 0 && !utf8.RuneStart(data[0]); i++ {
			data = data[1:]
		}
	}
	text, _ := clean(data)
	text = strings.TrimRight(text, "\n")
	for len(text) > max {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

// trimSplitEnd removes the beginning of a character at the end of data.
func trimSplitEnd(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		rest := data[len(data)-i:]
		if utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// clean makes text of data: bytes that are not UTF-8 become U+FFFD, CR LF
// becomes LF, and control characters other than tabs and newlines are dropped.
// binary reports invalid bytes and NULs.
func clean(data []byte) (text string, binary bool) {
	var out strings.Builder
	out.Grow(len(data))
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			binary = true
			out.WriteRune(utf8.RuneError)
		case r == 0:
			binary = true
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			out.WriteRune(r)
		}
		data = data[size:]
	}
	return out.String(), binary
}
