package protocol

import (
	"fmt"
	"strings"
	"time"
)

// ParseInstant reads a moment as people and language models write it: with a zone, or else in UTC.
// A day alone means its beginning. The time is kept to the millisecond.
func ParseInstant(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	zoned := strings.TrimSpace(strings.TrimSuffix(s, "UTC"))
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
	} {
		if t, err := time.Parse(layout, zoned); err == nil {
			if t = t.UTC().Truncate(time.Millisecond); t.Year() >= 1 && t.Year() <= 9999 { // JSON cannot state a year outside this range
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%.80q is no time such as 2026-04-20 or 2026-04-20T18:00:00Z", s)
}

func formatInstant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(TimestampLayout)
}
