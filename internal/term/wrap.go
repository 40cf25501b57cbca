package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks text into lines of at most `width` columns: at spaces if there are any, and within a
// word that alone is wider. The line ends of the text stay. If `width` is below 1, it breaks only
// at line ends.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

func wrapLine(line string, width int) []string {
	if width < 1 {
		return []string{line}
	}
	var lines []string
	for {
		at := breakAt(line, width)
		if at == len(line) {
			return append(lines, line)
		}
		lines = append(lines, strings.TrimRight(line[:at], " "))
		if line = strings.TrimLeft(line[at:], " "); line == "" {
			return lines
		}
	}
}

// breakAt is the index at which a line that is too wide is broken: after the last space that fits,
// or else after the last character that fits, but after at least one. A line that fits breaks at
// its end.
func breakAt(line string, width int) int {
	end, space := 0, 0
	for i := range line {
		r, size := utf8.DecodeRuneInString(line[i:])
		next := i + size
		if Width(line[:next]) > width {
			break
		}
		end = next
		if unicode.IsSpace(r) {
			space = next
		}
	}
	switch {
	case end == len(line), end > 0 && line[end] == ' ':
		return end
	case strings.TrimSpace(line[:space]) != "":
		return space
	case end > 0:
		return end
	}
	for i := range line {
		if i > 0 {
			return i
		}
	}
	return len(line)
}
