package with

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Work-with W22: ages have the seed's form. A time that is ahead has no age.
func TestAges(t *testing.T) {
	now := time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC)
	c := &call{view: cli.View{Now: func() time.Time { return now }}}
	for ago, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "now", time.Minute: "1 min ago", 5*time.Minute + 50*time.Second: "5 min ago", 59 * time.Minute: "59 min ago",
		time.Hour: "1h ago", 2*time.Hour + 59*time.Minute: "2h ago", 24 * time.Hour: "1d ago", 400 * 24 * time.Hour: "400d ago",
	} {
		if got := c.view.Age(now.Add(-ago)); got != want {
			t.Errorf("%s ago is %q, want %q", ago, got, want)
		}
	}
	if got := c.view.Age(time.Time{}); got != "—" {
		t.Errorf("never is %q", got)
	}
}

// Work-with W133, W182: dates are read without a shell's help, instants at any offset, days from
// their beginning in the zone of the program.
func TestUntil(t *testing.T) {
	bangkok := time.FixedZone("", 7*3600)
	for text, want := range map[string]string{
		"2027-04-20": "2027-04-19T17:00:00Z", "2027-04-20 15:30": "2027-04-20T08:30:00Z", "2027-04-20T15:30:00": "2027-04-20T08:30:00Z",
		"2027-04-20T15:30:00Z": "2027-04-20T15:30:00Z", "2027-04-20T15:30:00-05:00": "2027-04-20T20:30:00Z",
	} {
		got, err := cli.ParseUntil(text, bangkok)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "2027-13-01", "20/04/2027"} {
		if _, err := cli.ParseUntil(text, bangkok); err == nil || !strings.Contains(err.Error(), "--until") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Work-with W44: a score that was given some time ago is shown with what it is worth now. A
// terminal shows both in words, too.
func TestAScoreLater(t *testing.T) {
	var out bytes.Buffer
	c := &call{view: cli.View{Out: term.Screen{Writer: &out}, Err: term.Screen{Writer: &bytes.Buffer{}}, Zone: time.UTC, Now: time.Now, Command: func(words string) string { return words }}}
	one := control.Topic{
		With: "mawjs", Head: topic.Head{Name: "tmux design"}, Raw: score(0.95), Decayed: score(0.843), Lambda: topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, Status: "SYNCED", Colour: "amber",
		LastSync: time.Now().Add(-12 * time.Hour), Sparkline: []float64{0.2, 0.843},
	}
	if err := c.showTopic(one); err != nil {
		t.Fatal(err)
	}
	c.topicTable([]control.Topic{one}, false)
	for _, want := range []string{"raw 95% → decayed 84% (λ=0.01 intra-soul) SYNCED  ▂▇", "12h ago", "95%  84%    0.01  SYNCED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &out)
		}
	}
}

// It prevents: "answered in prose" stays when the check was made again and answered in its form.
func TestProseGoesOnceAnswered(t *testing.T) {
	prose := control.TopicCheck{Check: topic.Check{By: "skills", Of: "mawjs"}, Prose: pathOf(t, 1)}
	answered := control.TopicCheck{Check: topic.Check{By: "skills", Of: "mawjs"}, Answer: pathOf(t, 2)}
	mine := answered
	mine.By, mine.Of = "mawjs", "skills"
	for _, c := range []struct {
		checks []control.TopicCheck
		waits  bool
	}{{[]control.TopicCheck{prose}, true}, {[]control.TopicCheck{prose, answered}, false}, {[]control.TopicCheck{answered, prose}, true}, {[]control.TopicCheck{prose, mine}, true}} {
		var out bytes.Buffer
		s := &call{view: cli.View{Out: term.Screen{Writer: &out}, Now: time.Now}}
		s.waits(control.Topic{Checks: c.checks})
		if strings.Contains(out.String(), "answered in prose") != c.waits {
			t.Errorf("of %d checks: %s", len(c.checks), out.String())
		}
	}
}

func pathOf(t *testing.T, n uint32) protocol.Path {
	t.Helper()
	return protocol.NewPath("0f8fad5b-d9cb-469f-a165-70867728950e", time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC), n)
}
