package control

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// It prevents: lengths of time are numbers of nanoseconds in some answers and text in others.
func TestSecondsAreANumberOfSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 250 * time.Millisecond: "0.25", 412 * time.Microsecond: "0.000412", -90 * time.Second: "-90", time.Nanosecond: "0.000000001",
		366 * 24 * time.Hour: "31622400",
	} {
		data, err := json.Marshal(Seconds(d))
		if err != nil || string(data) != want {
			t.Errorf("%s is %s, %v; want %s", d, data, err, want)
		}
	}
	for range 1000 { // hosts measure less than months
		d := time.Duration(rand.Int64N(int64(90*24*time.Hour))) - 45*24*time.Hour
		data, err := json.Marshal(Seconds(d))
		if err != nil {
			t.Fatal(err)
		}
		var got Seconds
		if err := json.Unmarshal(data, &got); err != nil || got.Duration() != d {
			t.Errorf("%s became %s, %v", d, got.Duration(), err)
		}
	}
	for _, bad := range []string{`"1s"`, `1e300`, `{}`, `true`} {
		var got Seconds
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was read as %s", bad, got.Duration())
		}
	}
	if _, err := json.Marshal(Seconds(math.MinInt64)); err != nil {
		t.Error(err)
	}
}
