package protocol

import (
	"fmt"
	"strconv"
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

// JitterFiles are the files of a record that say how long to wait after a rejected push. The
// fleet's file takes precedence over parley's (Crosstalk, JITTER.md).
var JitterFiles = []string{"local/JITTER.md", "upstream/JITTER.md"}

// DefaultJitter holds if a record has none of JitterFiles.
var DefaultJitter = Jitter{Base: 100 * time.Millisecond, Ceiling: 5 * time.Second}

// maxJitter bounds the pauses that a file may ask for.
const maxJitter = 10 * time.Minute

// maxJitterBytes bounds the file, in bytes.
const maxJitterBytes = 64 << 10

// Jitter says how long to wait after a push was rejected because another one came
// first: a random time below Limit.
type Jitter struct {
	Base, Ceiling time.Duration // whole milliseconds, Base at most Ceiling
}

// Limit is min(ceiling, base × 2^attempt). The first attempt is 1.
func (j Jitter) Limit(attempt int) time.Duration {
	limit := j.Base
	for range attempt {
		if limit *= 2; limit >= j.Ceiling {
			return j.Ceiling
		}
	}
	return limit
}

// ParseJitter reads a JITTER.md. For a field that the file leaves out, the value of DefaultJitter
// holds.
func ParseJitter(data []byte) (Jitter, error) {
	fs, _, err := document(data, maxJitterBytes)
	if err != nil {
		return Jitter{}, err
	}
	j := DefaultJitter
	for _, f := range []struct {
		key string
		to  *time.Duration
	}{{"backoff_base_ms", &j.Base}, {"backoff_ceiling_ms", &j.Ceiling}} {
		text := fs.text(f.key)
		if text == "" {
			continue
		}
		ms, err := strconv.ParseUint(text, 10, 32)
		if err != nil || ms < 1 || ms > uint64(maxJitter.Milliseconds()) {
			return Jitter{}, fmt.Errorf("field %s: %q is not a number of milliseconds from 1 to %d", f.key, text, maxJitter.Milliseconds())
		}
		*f.to = time.Duration(ms) * time.Millisecond
	}
	if j.Base > j.Ceiling {
		return Jitter{}, fmt.Errorf("backoff_base_ms (%d) is above backoff_ceiling_ms (%d)", j.Base.Milliseconds(), j.Ceiling.Milliseconds())
	}
	return j, nil
}
