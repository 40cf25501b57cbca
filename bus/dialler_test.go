package bus

import (
	"testing"
	"time"
)

// A host that had just joined asked again only every three seconds or more, when the
// others had long fetched its key.
func TestPausesBetweenDials(t *testing.T) {
	key := []*DialError{{Cause: CauseRefused}, {Cause: CauseKey}}
	other := []*DialError{{Cause: CauseRefused}}
	for what, test := range map[string]struct {
		pause  time.Duration
		failed []*DialError
		age    time.Duration
		want   time.Duration
	}{
		"the first":                    {0, other, 0, minBackoff},
		"the next":                     {minBackoff, other, time.Second, 2 * minBackoff},
		"the longest":                  {maxBackoff, other, time.Hour, maxBackoff},
		"of a host that has joined":    {maxBackoff, key, time.Second, joinBackoff},
		"the first of such a host":     {0, key, 0, minBackoff},
		"of one that nobody will know": {maxBackoff, key, joinFor, maxBackoff},
	} {
		if got := longer(test.pause, test.failed, test.age); got != test.want {
			t.Errorf("%s: %s, want %s", what, got, test.want)
		}
	}
}
