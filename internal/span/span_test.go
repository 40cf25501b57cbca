package span

import (
	"math"
	"testing"
	"time"
)

func TestText(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {312 * time.Microsecond, "312µs"}, {10 * time.Second, "10s"}, {90 * time.Second, "1m30s"},
		{2 * time.Minute, "2m"}, {20 * time.Minute, "20m"}, {time.Hour, "1h"}, {36 * time.Hour, "36h"}, {36*time.Hour + time.Second, "36h0m1s"},
		{48 * time.Hour, "2 days"}, {76*time.Hour + time.Second, "3 days 4h"}, {71*time.Hour + 59*time.Minute, "3 days"},
		{366 * 24 * time.Hour, "366 days"}, {-time.Minute, "-1m"}, {-50 * time.Hour, "-2 days 2h"},
		{math.MinInt64, "-106751 days 23h"},
	} {
		if got := Text(test.d); got != test.want {
			t.Errorf("Text(%s) = %q, want %q", test.d, got, test.want)
		}
	}
}

// It prevents: a sentence of the node says 19:01:00Z where screens say 21:01:00 +02:00.
func TestAt(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	text := At(at)
	if back, err := time.ParseInLocation(Moment, text, time.UTC); err != nil || !back.Equal(at) || text[len(text)-1] == 'Z' || text != at.Local().Format(Moment) {
		t.Errorf("%s: %v", text, err)
	}
}
