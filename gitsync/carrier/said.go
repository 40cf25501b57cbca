package carrier

import (
	"bytes"
	"strings"
	"unicode"
)

const (
	maxSaid = 4 << 10 // how many bytes are kept of what a remote says during a push
	maxLine = 400     // how many characters of that, and of any error, a person is shown
)

// limited keeps the first bytes that are written to it.
type limited struct {
	bytes.Buffer
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	keep := min(len(p), l.room)
	l.room -= keep
	_, _ = l.Buffer.Write(p[:keep]) // it never fails
	return len(p), nil
}

// refusal says why a push was refused: the reason of git's protocol and, behind it, what a hook or
// the server said to people.
func refusal(reason, said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "remote:"))
		if line == "" || strings.Contains(line, "% (") { // a progress count
			continue
		}
		lines = append(lines, line)
	}
	text := "refused: " + reason
	if len(lines) > 0 {
		text += ": " + strings.Join(lines, "; ")
	}
	return OneLine(text)
}

// OneLine makes a line that can be shown of a text of others: without control characters, with
// single spaces, and not too long.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxLine {
		text = string(runes[:maxLine-1]) + "…"
	}
	return text
}
