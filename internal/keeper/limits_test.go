package keeper

import (
	"testing"
	"time"
)

func TestLimitsRoundTrip(t *testing.T) {
	for _, l := range []Limits{
		{},
		{Nice: 19, Memory: 1 << 40, CPU: 90 * time.Minute, Files: 16, Processes: 200, NoNetwork: true},
	} {
		if got, ok := parseLimits(l.String()); !ok || got != l {
			t.Errorf("%s is read as %+v, %v", l, got, ok)
		}
	}
	for _, text := range []string{"", "0 0 0 0 0", "0 0 0 0 0 false 0", "-1 0 0 0 0 false", "0 0 0 0 0 maybe", "a 0 0 0 0 true"} {
		if got, ok := parseLimits(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
