package record

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// Describe is the commit message for messages: what the first one does, how many more there are,
// and a list of all.
func Describe(messages []gitsync.MessageFile) string {
	const most = 20
	if len(messages) == 0 {
		return "host file"
	}
	lines := make([]string, 0, most+1)
	for i, l := range messages {
		if i == most {
			lines = append(lines, fmt.Sprintf("… and %d more", len(messages)-most))
			break
		}
		lines = append(lines, describeOne(l))
	}
	if len(messages) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%s, and %d more\n\n%s", lines[0], len(messages)-1, strings.Join(lines, "\n"))
}

func describeOne(l gitsync.MessageFile) string {
	m, err := protocol.Decode(l.Path, l.Data)
	if err != nil {
		return l.Path.String()
	}
	return fmt.Sprintf("%s: %s → %s", m.Act, printable(m.From), printable(strings.Join(m.Names(), ", ")))
}

// printable makes a plain line of a text, whatever a name in it contains.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
