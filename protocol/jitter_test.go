package protocol

import (
	"strings"
	"testing"
	"time"
)

func TestParseJitter(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		file string
		want Jitter
		err  string
	}{
		"both":          {file: "backoff_base_ms: 20\nbackoff_ceiling_ms: \"900\"\n", want: Jitter{20 * ms, 900 * ms}},
		"one":           {file: "backoff_ceiling_ms: 200\n", want: Jitter{100 * ms, 200 * ms}},
		"others":        {file: "note: slow line\n", want: DefaultJitter},
		"zero":          {file: "backoff_base_ms: 0\n", err: "from 1 to"},
		"a year":        {file: "backoff_ceiling_ms: 31536000000\n", err: "from 1 to"},
		"words":         {file: "backoff_base_ms: soon\n", err: "number of milliseconds"},
		"upside down":   {file: "backoff_base_ms: 9000\n", err: "above backoff_ceiling_ms"},
		"no YAML":       {file: "backoff_base_ms: [\n", err: "frontmatter"},
		"of any length": {file: strings.Repeat("#\n", maxJitterBytes), err: "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseJitter([]byte("---\n" + c.file + "---\n\nWords.\n"))
			if c.err == "" && (err != nil || got != c.want) {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// The table of the seed's JITTER.md.
func TestJitterLimits(t *testing.T) {
	for attempt, want := range []int64{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		if got := DefaultJitter.Limit(attempt).Milliseconds(); got != want {
			t.Errorf("attempt %d: %d ms, want %d", attempt, got, want)
		}
	}
	if got := DefaultJitter.Limit(1 << 20); got != DefaultJitter.Ceiling {
		t.Errorf("attempt without number: %s", got)
	}
}
