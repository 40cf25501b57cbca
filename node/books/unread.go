package books

import (
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// SayUnread warns once about lines that cannot be read in what hosts have last told the fleet of
// themselves. The other lines count.
func (b *Books) SayUnread(hosts ...*keys.Host) {
	for _, h := range hosts {
		if len(h.Unread) > 0 {
			about := "unread " + h.Alias.String() + " " + protocol.Hash([]byte(strings.Join(h.Unread, "\n")))
			b.o.Notices.Once(about, "the host %s says of itself what this version of parley cannot read, and the rest counts: %s", h.Alias, UnreadText(h.Unread))
		}
	}
}

// UnreadText shows the first of some lines.
func UnreadText(lines []string) string {
	const few, most = 3, 100
	shown := make([]string, 0, few+1)
	for i, line := range lines {
		if i == few {
			shown = append(shown, "…")
			break
		}
		if runes := []rune(line); len(runes) > most {
			line = string(runes[:most]) + "…"
		}
		shown = append(shown, line)
	}
	return strings.Join(shown, "; ")
}

// UnreadLines are the lines that cannot be read in a message in which a host tells of itself. For
// any other message there are none.
func UnreadLines(it *fleet.Item, data []byte) []string {
	if it.Act != protocol.ActHostJoin && it.Act != protocol.ActHostAgents {
		return nil
	}
	m, err := protocol.Decode(it.Path, data)
	if err != nil {
		return nil
	}
	says, err := protocol.ParseHost(m.Body)
	if err != nil {
		return nil
	}
	return says.Unread
}
