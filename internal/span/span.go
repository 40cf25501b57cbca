// Package span writes lengths of time as people say them.
package span

import (
	"fmt"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Moment is how times stand in sentences for people.
const Moment = "2006-01-02 15:04:05Z07:00"

// Text is d for people: "366 days", "3 days 4h", "36h", "1m30s", "2m". From two
// days on what is less than an hour is left out.
func Text(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Text(d.Abs())
	case d < 2*day:
		return Exact(d)
	}
	d = d.Round(time.Hour)
	if hours := d % day / time.Hour; hours > 0 {
		return fmt.Sprintf("%d days %dh", d/day, hours)
	}
	return fmt.Sprintf("%d days", d/day)
}

// Exact is d as time.ParseDuration reads it, without zeros that say nothing: "2m",
// not "2m0s".
func Exact(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
