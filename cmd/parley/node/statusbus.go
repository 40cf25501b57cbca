package node

import (
	"fmt"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
)

// busLasts is how long status shows what went wrong on the bus and is over.
const busLasts = time.Hour

// showBusTroubles shows what goes wrong on the bus, and what went wrong a while ago.
func showBusTroubles(v cli.View, b control.BusStatus, field func(name, value string)) {
	if b.Dropped > 0 {
		field("dropped", fmt.Sprintf("%s since start, because they came too fast; what is missing is asked for again", cli.Count(int(b.Dropped), "letter")))
	}
	if lately(b.Offended) {
		text := fmt.Sprintf("%s of hosts refused since start, %d unreadable", cli.Count(int(b.Letters), "letter"), b.Unreadable)
		if b.Letter != "" {
			text += "; refused last: " + b.Letter
		}
		v.Alarm(statusLabel, "bus", text)
	}
	if b.Held > 0 {
		field("held", fmt.Sprintf("%s of hosts whose key is not in the record yet; %d given up since start",
			cli.Count(b.Held, "message"), b.HeldDropped))
	}
	if b.Gaps > 0 {
		field("missed", fmt.Sprintf("%s of other hosts did not come over the bus and nobody had them yet: asked for again; %d left to git since start",
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
		v.Alarm(statusLabel, "refused", fmt.Sprintf("%s %s since start, the last: %s", cli.Count(r.Count, "message"), from, r.Last))
	}
}

func lately(at time.Time) bool { return time.Since(at) < busLasts }
