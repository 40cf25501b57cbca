package carrier

import (
	"bytes"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/visible"
)

const (
	maxSaid   = 64 << 10 // how many bytes are kept of what git or a remote says
	maxLine   = 400      // how many characters a person is shown of one line of that, and of any other error
	maxReason = 4000     // how many characters of all of it
)

// limited keeps the beginning and the end of what is written to it: what is the matter stands in
// one of the two.
type limited struct {
	room       int // how many bytes it keeps
	head, tail bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	n := len(p)
	keep := min(n, max(0, l.room/2-l.head.Len()))
	l.head.Write(p[:keep])
	l.tail.Write(p[keep:])
	if more := l.tail.Len() - l.room; more > 0 {
		l.tail.Next(more)
	}
	return n, nil
}

func (l *limited) String() string {
	tail := l.tail.Bytes()
	if more := len(tail) - (l.room - l.room/2); more > 0 {
		return l.head.String() + "\n…\n" + string(tail[more:])
	}
	return l.head.String() + string(tail)
}

// refusal says why a push was refused: the reason of git's protocol and, behind it, what a hook or
// the server said to people.
func refusal(reason, said string) string {
	text := gathered(append([]string{"refused: " + reason}, linesOf(said)...))
	return strings.Replace(text, "; ", ": ", 1)
}

// chatter are the beginnings of lines that git says besides, whatever happens.
var chatter = []string{
	"hint:", "warning:", "Please make sure", "and the repository exists", "To ", "From ", "POST git-", "Everything up-to-date",
	"Enumerating objects", "Counting objects", "Compressing objects", "Writing objects", "Receiving objects", "Resolving deltas",
	"Unpacking objects", "Delta compression using", "Total ",
}

// SaidHere is git's output without what the remote says in it: the remote's machine may be short of
// something as well.
func SaidHere(output string) string {
	lines := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "remote:") }), "\n")
}

// empty are lines that say only that something failed. They count if nothing else was said.
var empty = []string{"Could not read from remote repository.", "failed to push some refs to"}

// linesOf are the lines of git's output that say what is the matter. What the remote says to people
// stands there without the mark of its lines.
func linesOf(output string) (lines []string) {
	var empties []string
	for line := range strings.FieldsFuncSeq(output, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, remote := strings.CutPrefix(strings.TrimSpace(line), "remote:")
		line = strings.TrimSpace(line)
		if !remote {
			if slices.ContainsFunc(chatter, func(c string) bool { return strings.HasPrefix(line, c) }) {
				continue
			}
			line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		}
		switch {
		case line == "" || strings.Contains(line, "% ("): // a progress count
		case slices.ContainsFunc(empty, func(e string) bool { return strings.Contains(line, e) }):
			empties = append(empties, line)
		case !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return empties
	}
	return lines
}

// gathered is lines as one, in a form that can be shown. If they are too long, it leaves out some
// from the middle, but rather others than those with a URL: a server says there what to do.
func gathered(lines []string) string {
	room, kept := maxReason, make([]bool, len(lines))
	keep := func(i int) bool {
		if !kept[i] {
			need := len([]rune(lines[i])) + len("; ")
			if need > room {
				return false
			}
			kept[i], room = true, room-need
		}
		return true
	}
	for i, line := range lines {
		most := maxLine
		if strings.Contains(line, "://") {
			most = maxReason / 4
		}
		lines[i] = oneLine(line, most)
		if most > maxLine {
			keep(i)
		}
	}
	for i := range lines {
		if !keep(i) || !keep(len(lines)-1-i) {
			break
		}
	}
	var shown []string
	for i, line := range lines {
		switch {
		case kept[i]:
			shown = append(shown, line)
		case i == 0 || kept[i-1]:
			shown = append(shown, "…")
		}
	}
	return strings.Join(shown, "; ")
}

// OneLine makes a line that can be shown of a text of others: with visible control characters, with
// single spaces, and not too long.
func OneLine(text string) string { return oneLine(text, maxLine) }

// Whole is OneLine for an error that may tell all that git said.
func Whole(err error) string { return oneLine(err.Error(), 2*maxReason) }

func oneLine(text string, most int) string {
	text = visible.Line(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return text
}
