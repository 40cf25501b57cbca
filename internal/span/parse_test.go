package span

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * day, "1d12h": 36 * time.Hour, "0d5s": 5 * time.Second,
		"-3s": -3 * time.Second, "100000d": 100_000 * day,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "-1d", "1d-5s", "1.5d", "1d5", "7 d", "100001d", "99999999999999999999d", "1dd", "1h1d", "soon", "²d"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", text, got)
		}
	}
}
