package protocol_test

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// Work-with W41: a score is the same whole percent on every screen and in every file, and that is
// the one which the result itself names. It prevents: 63% on the screen and 62% in a file.
func TestPercentIsOneNumber(t *testing.T) {
	for x, want := range map[float64]string{0.625: "63%", 0.575: "58%", 0.285: "29%", 0.005: "1%", 0.004: "0%", 0.994: "99%", 0.995: "100%", 0: "0%", 1: "100%", -1: ""} {
		if got := protocol.NewScore(x).Percent(); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
	for _, c := range []struct {
		scores []float64
		want   string // of the mean
	}{{[]float64{1, 1, 0.5, 0}, "63%"}, {[]float64{0.624, 0.625}, "63%"}, {[]float64{0.574, 0.575, 0.575}, "58%"}, {nil, ""}} {
		r := protocol.SyncResult{Rows: []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "A9"}, Score: protocol.NewScore(1)}}} // rests on nothing
		var all []protocol.Score
		for _, x := range c.scores {
			r.Rows = append(r.Rows, protocol.SyncRow{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(x), Evidence: "notes.md"})
			all = append(all, protocol.NewScore(x))
		}
		if got := protocol.MeanScore(all).Percent(); got != c.want {
			t.Errorf("the mean of %v is %q, want %q", c.scores, got, c.want)
		}
		if text := protocol.AnswerSync.Format(r); c.want != "" && !strings.Contains(text, "OVERALL: "+c.want+" ") {
			t.Errorf("the mean of %v is %s, and the result says\n%s", c.scores, c.want, text)
		}
	}
}
