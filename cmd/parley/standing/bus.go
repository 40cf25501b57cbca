package standing

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// Links says where this host is on the bus, how its links stand, and what goes wrong there.
func Links(s control.Status) []Line {
	text := busText(s.Bus)
	if unlinked(s) {
		text += ", and no host is known that takes links: hosts meet through git alone; on one that others reach: parley fleet listen ADDRESS:PORT"
	}
	all := []Line{{Name: "bus", Text: text}}
	for _, link := range s.Bus.Peers {
		all = append(all, LinkLine(link))
	}
	return append(all, busTroubles(s.Bus)...)
}

func busText(b control.BusStatus) string {
	if b.URL != "" {
		text := "the NATS system at " + b.URL + ", " + b.As
		if b.Context != "" {
			text += " (context " + b.Context + ")"
		}
		return text
	}
	var parts []string
	if b.Clients != "" {
		parts = append(parts, "NATS clients at "+b.Clients)
	}
	if b.Links != "" {
		parts = append(parts, "other hosts at "+b.Links+toldAddresses(b))
	}
	if len(parts) == 0 {
		return "in process, no port"
	}
	return strings.Join(parts, ", ")
}

func toldAddresses(b control.BusStatus) string {
	all := strings.HasPrefix(b.Links, "0.0.0.0:") || strings.HasPrefix(b.Links, "[::]:")
	switch {
	case len(b.Advertised) == 0 && all:
		return " (this machine has no address that they could use: name one at bus.advertise)"
	case len(b.Advertised) == 0, len(b.Advertised) == 1 && b.Advertised[0] == b.Links:
		return ""
	}
	return " (they are told " + strings.Join(b.Advertised, ", ") + ")"
}

// LinkLine says how a link stands.
func LinkLine(l control.LinkStatus) Line {
	line := Line{Name: "link", Text: linkText(l)}
	if !l.Up && l.Problem != "" {
		line.Level = causes.Yellow
	}
	return line
}

// linkText is that in words.
func linkText(l control.LinkStatus) string {
	peer := l.Peer
	if l.Host != "" && l.Address != "" {
		peer = fmt.Sprintf("%s at %s", l.Host, l.Address)
	}
	away := l.RTT.Duration().Round(10 * time.Microsecond)
	switch {
	case l.Up && l.Problem != "":
		return fmt.Sprintf("%s, up, %s away; %s", peer, away, l.Problem)
	case l.Up && l.RTT > 0:
		return fmt.Sprintf("%s, up, %s away", peer, away)
	case l.Up:
		return peer + ", up"
	case l.Connecting && (l.HalfUp || l.Problem == ""):
		return peer + ", connecting"
	case l.Connecting:
		return fmt.Sprintf("%s, connecting; so far: %s", peer, l.Problem)
	case l.HalfUp:
		return fmt.Sprintf("%s, half up: %s", peer, l.Problem)
	case l.Problem != "":
		return fmt.Sprintf("%s, down: %s", peer, l.Problem)
	}
	return peer + ", connecting" // the first try has not ended
}

func busTroubles(b control.BusStatus) (all []Line) {
	add := func(level causes.Level, name, text string) {
		all = append(all, Line{Name: name, Text: text, Level: level})
	}
	if b.Dropped > 0 {
		add("", "dropped", fmt.Sprintf("%s since start, because they came too fast; what is missing is asked for again", cli.Count(int(b.Dropped), "letter")))
	}
	if lately(b.Offended) {
		text := fmt.Sprintf("%s of hosts refused since start, %d unreadable", cli.Count(int(b.Letters), "letter"), b.Unreadable)
		if b.Letter != "" {
			text += "; refused last: " + b.Letter
		}
		add(causes.Yellow, "bus", text)
	}
	if b.Held > 0 {
		add("", "held", fmt.Sprintf("%s of hosts whose key is not in the record yet; %d given up since start",
			cli.Count(b.Held, "message"), b.HeldDropped))
	}
	if b.Gaps > 0 {
		add("", "missed", fmt.Sprintf("%s of other hosts did not come over the bus and nobody had them yet: asked for again; %d left to git since start",
			cli.Count(b.Gaps, "message"), b.GapsLeft))
	}
	for _, r := range b.Refused {
		if !lately(r.At) {
			continue
		}
		from := "on the subjects of " + r.From.String()
		if r.From == "" {
			from = "on subjects of other hosts"
		}
		add(causes.Yellow, "refused", fmt.Sprintf("%s %s since start, the last: %s", cli.Count(r.Count, "message"), from, r.Last))
	}
	return all
}
