package topic_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

var noon = time.Date(2026, 4, 16, 12, 0, 0, 0, time.UTC)

// Work-with W123, W126, W127, W129, W130: a score decays by the hours since it was given; what was never
// given, is dated ahead or does not decay stays. The seed's example, 95% after 12 h at 0.01,
// is 84%.
func TestDecayed(t *testing.T) {
	for _, c := range []struct {
		raw    float64
		age    time.Duration
		lambda float64
		want   float64
	}{
		{0.95, 12 * time.Hour, 0.01, 0.843}, {0.95, 0, 0.01, 0.95}, {0.95, -time.Hour, 0.01, 0.95}, {0.95, 1000 * time.Hour, 0, 0.95},
		{1, 69*time.Hour + 19*time.Minute, 0.01, 0.5}, {0, time.Hour, 0.1, 0}, {0.71, 12 * time.Hour, 0.05, 0.39}, {1, 100000 * time.Hour, 0.1, 0},
	} {
		if got := (topic.Lambda{Value: c.lambda}).Decayed(c.raw, noon.Add(-c.age), noon); got != c.want {
			t.Errorf("%v after %s at %v is %v, want %v", c.raw, c.age, c.lambda, got, c.want)
		}
	}
	if got := (topic.Lambda{Value: 0.1}).Decayed(0.8, time.Time{}, noon); got != 0.8 {
		t.Errorf("a score of no time is %v", got)
	}
}

// Work-with W124, W125: the party's rule, then new, intra-soul, cross-soul; an unknown soul is another
// one. A rule of 0 is a rule.
func TestLambda(t *testing.T) {
	zero, rule := 0.0, 0.2
	for _, c := range []struct {
		sessions    int
		soul, other string
		rule        *float64
		want        topic.Lambda
		half        float64
	}{
		{0, "nat", "nat", nil, topic.Lambda{Value: 0.10, Tier: topic.TierNew}, 6.9},
		{4, "nat", "nat", nil, topic.Lambda{Value: 0.10, Tier: topic.TierNew}, 6.9},
		{5, "nat", "nat", nil, topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, 69.3},
		{5, "nat", "bo", nil, topic.Lambda{Value: 0.05, Tier: topic.TierCross}, 13.9},
		{9, "", "", nil, topic.Lambda{Value: 0.05, Tier: topic.TierCross}, 13.9},
		{0, "nat", "nat", &rule, topic.Lambda{Value: 0.2, Tier: topic.TierRule}, 3.5},
		{9, "nat", "nat", &zero, topic.Lambda{Value: 0, Tier: topic.TierRule}, 0},
	} {
		got := topic.LambdaFor(c.sessions, c.soul, c.other, c.rule)
		if half := math.Round(got.HalfLife()*10) / 10; got != c.want || half != c.half {
			t.Errorf("%+v: got %+v, half-life %v", c, got, half)
		}
	}
	if cross := (topic.Lambda{Value: 0.05}); cross.Faded(noon.Add(-41*time.Hour), noon) || !cross.Faded(noon.Add(-42*time.Hour), noon) || cross.Faded(time.Time{}, noon) {
		t.Error("a score fades after three half-lives, and not one that was never given")
	}
}

// Work-with W18, W19: words by the raw score, colours by the decayed one; the bounds belong
// to the upper band, and nothing is red.
// Work-with W115, W116: the colours of decayed scores, whose bounds belong to the upper one.
func TestBands(t *testing.T) {
	for score, want := range map[float64]string{
		1: "SYNCED green 1", 0.9: "SYNCED green 0.91", 0.899: "PARTIAL amber 0.909", 0.7: "PARTIAL amber 0.73", 0.699: "DEGRADED cyan 0.729",
		0.5: "DEGRADED cyan 0.55", 0.499: "DESYNC gray 0.549", 0: "DESYNC gray 0.1",
	} {
		if got := fmt.Sprint(topic.StatusOf(protocol.NewScore(score)), " ", topic.ColourOf(protocol.NewScore(score)), " ", topic.Opacity(score)); got != want {
			t.Errorf("%v: got %s, want %s", score, got, want)
		}
	}
}

// Work-with W135, W141: the last seven, each worth what it is worth now.
func TestSparkline(t *testing.T) {
	var history []topic.Sample
	for i := range 9 {
		history = append(history, topic.Sample{At: noon.Add(time.Duration(i-9) * time.Hour), Raw: float64(i) / 10, Lambda: 0.1})
	}
	want := []float64{0.099, 0.165, 0.243, 0.335, 0.444, 0.573, 0.724}
	if diff := cmp.Diff(want, topic.Sparkline(history, noon)); diff != "" {
		t.Error(diff)
	}
	if got := topic.Sparkline(nil, noon); len(got) != 0 {
		t.Errorf("no history has %v", got)
	}
}

// R21: which sessions there were by a time, and after a day of UTC; trust follows from sessions, messages
// and the last five raw scores.
func TestSessionsAndTrust(t *testing.T) {
	day := func(d, h int) time.Time { return time.Date(2026, 4, d, h, 0, 0, 0, time.UTC) }
	sessions := topic.Sessions{day(1, 10), day(3, 1), time.Date(2026, 4, 5, 1, 0, 0, 0, time.FixedZone("", 2*3600))} // the last one is on the 4th
	for at, want := range map[time.Time]int{day(1, 9): 0, day(1, 10): 1, day(3, 0): 1, day(3, 1): 2, day(5, 0): 3} {
		if got := sessions.Until(at); got != want {
			t.Errorf("%d sessions until %s, want %d", got, at, want)
		}
	}
	for at, want := range map[time.Time]int{{}: 3, day(1, 0): 2, day(1, 23): 2, day(2, 0): 2, day(3, 0): 1, day(4, 0): 0} {
		if got := sessions.After(at); got != want {
			t.Errorf("%d sessions after the day of %s, want %d", got, at, want)
		}
	}
	good, bad := []float64{0, 0.9, 0.9, 0.9, 0.9, 0.9}, []float64{1, 1, 1, 1, 0.1, 0.1}
	for _, c := range []struct {
		sessions, messages int
		raws               []float64
		want               topic.Trust
	}{
		{9, 99, nil, topic.TrustUncalibrated}, {4, 99, good, topic.TrustInitial}, {5, 32, good, topic.TrustMedium},
		{5, 33, good, topic.TrustHigh}, {5, 33, bad, topic.TrustMedium}, {5, 33, []float64{0.7}, topic.TrustHigh},
	} {
		if got := topic.TrustIn(c.sessions, c.messages, c.raws); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	if topic.Soul("", "x", "nat") != "x" || topic.Soul("", "", "nat") != "nat" {
		t.Error("a soul is the file's, else that of the contacts, else the human")
	}
}
