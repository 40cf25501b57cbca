// Package span writes lengths of time as people say them.
package span

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Moment is the layout of times for people, on screens and in sentences.
const Moment = "2006-01-02 15:04:05 -07:00"

// At is a time for people, in the local zone.
func At(t time.Time) string { return t.Local().Format(Moment) }

// Text is `d` as text for people: "366 days", "3 days 4h", "36h", "1m30s", "2m". From two days on,
// what is less than an hour is left out.
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

// Exact is `d` in the form that time.ParseDuration reads, without zeros that say nothing: "2m", not
// "2m0s".
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

const maxDays = 100_000 // time.Duration can hold a little more

// Parse reads what people write: "30s", "1h30m", and days as well: "7d", "1d12h".
func Parse(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a length of time: write it with its unit, such as 30s, 5m, 2h or 7d", text)
	var days uint64
	rest := text
	if before, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(before, 10, 64)
		if err != nil || n > maxDays {
			return 0, wrong
		}
		days, rest = n, after
		rest = cmp.Or(rest, "0s")
	}
	d, err := time.ParseDuration(rest)
	if err != nil || days > 0 && d < 0 {
		return 0, wrong
	}
	return time.Duration(days)*day + d, nil
}
