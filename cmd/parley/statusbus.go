package main

import (
	"fmt"

	"github.com/parleyfleet/parley/node/control"
)

// busTroubles shows what went wrong on the bus since the start.
func (v view) busTroubles(b control.BusStatus, field func(name, value string)) {
	if b.Dropped > 0 {
		field("dropped", fmt.Sprintf("%s since start, because they came too fast; what is missing is asked for again", count(int(b.Dropped), "letter")))
	}
	if b.Unreadable > 0 || b.Letters > 0 {
		text := fmt.Sprintf("%s of hosts refused since start, %d unreadable", count(int(b.Letters), "letter"), b.Unreadable)
		if b.Letter != "" {
			text += "; refused last: " + b.Letter
		}
		v.alarm(statusLabel, "bus", text)
	}
	if b.Held > 0 || b.HeldDropped > 0 {
		field("held", fmt.Sprintf("%s of hosts whose key is not in the record yet; %d given up since start",
			count(b.Held, "message"), b.HeldDropped))
	}
	if b.Gaps > 0 || b.GapsLeft > 0 {
		field("missed", fmt.Sprintf("%s in what other hosts wrote, being asked for; %d left to git since start", count(b.Gaps, "hole"), b.GapsLeft))
	}
	for _, r := range b.Refused {
		from := "on the subjects of " + r.From.String()
		if r.From == "" {
			from = "on subjects of other hosts"
		}
		v.alarm(statusLabel, "refused", fmt.Sprintf("%s %s since start, the last: %s", count(r.Count, "message"), from, r.Last))
	}
}
