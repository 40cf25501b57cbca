package protocol

import (
	"fmt"
	"strconv"
	"time"
)

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
