package door

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/keeper"
)

// head keeps the first `max` bytes that are written to it.
type head struct {
	max  int
	data []byte
	more bool // something was thrown away
}

// Write takes all of `p` and never fails.
func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.max-len(h.data))
	h.data = append(h.data, p[:keep]...)
	h.more = h.more || keep < len(p)
	return len(p), nil
}

// tail keeps the last `max` bytes that are written to it.
type tail struct {
	max  int
	data []byte
	more bool // something was thrown away
}

// Write takes all of `p` and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.max; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
		t.more = true
	}
	return len(p), nil
}

// answerText is kept output in a form that a message can carry: byte for byte, except for what is
// no UTF-8. Control characters stay, because only a terminal must not get them. The line ends at
// its end are removed. `strange` is how many bytes are not UTF-8, and stand as U+FFFD. If `truncated`
// is true, a character that was split by the cut is removed. The text has at most `max` bytes, although U+FFFD is longer
// than what it replaces; `cut` reports whether this removed something.
func answerText(data []byte, truncated bool, max int) (text string, strange int, cut bool) {
	if truncated {
		data = trimSplitEnd(data)
	}
	text, strange = replaceInvalid(data)
	short := cutRunes(text, max)
	return trimLineEnds(short), strange, len(short) < len(text)
}

func trimLineEnds(text string) string {
	for {
		rest, ends := strings.CutSuffix(text, "\n")
		if !ends {
			return text
		}
		text = strings.TrimSuffix(rest, "\r")
	}
}

// endText is the end of an output that a failure shows, as printable text of at most `max` bytes.
func endText(data []byte, truncated bool, max int) string {
	if truncated {
		for i := 0; i < utf8.UTFMax-1 && len(data) > 0 && !utf8.RuneStart(data[0]); i++ {
			data = data[1:]
		}
	}
	text := strings.TrimRight(printable(data), "\n")
	for len(text) > max {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

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

// replaceInvalid puts U+FFFD in the place of bytes that are not UTF-8, and counts them.
func replaceInvalid(data []byte) (text string, invalid int) {
	if utf8.Valid(data) {
		return string(data), 0
	}
	var out strings.Builder
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			invalid++
		}
		out.WriteRune(r)
		data = data[size:]
	}
	return out.String(), invalid
}

// printable is `data` as text that can be read completely in a line of a log: without control
// characters other than tabs and newlines.
func printable(data []byte) string {
	text, _ := replaceInvalid(data)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// readAnswer reads what the command has left in its answer's file, at most `max` bytes of it. A
// missing file counts as empty. It never blocks, whatever was put in the place of the file, and
// reads only files of the command's user (nil: the node's own user).
func readAnswer(file string, max int, user *keeper.User) (head, error) {
	kept := head{max: max}
	f, err := os.OpenFile(file, os.O_RDONLY|neverBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return kept, cause(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return kept, errors.New("it is no file")
	case user != nil && !belongs(info, user):
		return kept, errors.New("it is a file of another user")
	}
	// One byte more shows that there is more.
	_, err = io.Copy(&kept, io.LimitReader(f, int64(max)+1))
	return kept, err
}

// emptiness says what is wrong with the answer's file if it has no answer.
func emptiness(err error) string {
	if err != nil {
		return "left an answer that cannot be read (" + err.Error() + ")"
	}
	return "wrote no answer to its file"
}

// verdict is the result of a command that ended without Run having ended it.
func (e ending) verdict(output string) (Failure, string) {
	switch {
	case e.signal != "":
		return Signal, e.signal
	case e.exitCode != 0:
		return ExitStatus, ""
	case strings.TrimSpace(output) == "":
		return Empty, ""
	}
	return None, ""
}
