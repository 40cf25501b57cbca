package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Two hosts whose clocks are a day apart talk as others do. Messages and answers go both ways, in
// one order on both hosts, and so do presence, questions and doors. Both say that the clocks
// differ.
func TestClocksADayApart(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	ahead := new(clock)
	ahead.forward(24 * time.Hour)
	white, _ := runNodeAt(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Hubs = "white", hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
	}), ahead.now)
	awaitMeeting(t, hub, white)
	addExec(t, hub, "here", "tr a-z A-Z")
	addExec(t, white, "there", "tr a-z A-Z")
	eventually(t, "the agents are known on both", func() bool {
		return hub.reading(func() bool { return hub.state.People.Known("there") }) && white.reading(func() bool { return white.state.People.Known("here") })
	})
	exchange := func(from *Node, to, body string) (question, answer protocol.Path) {
		m, err := control.Send.Ask(t.Context(), from, control.SendRequest{To: []string{to}, Body: body, HeardWithin: within})
		if err != nil || len(m.Heard) == 0 {
			t.Fatalf("heard by %v, %v", m.Heard, err)
		}
		return m.Path, answerTo(t, from, m.Path).Path
	}
	var order []protocol.Path
	for range 2 {
		q, a := exchange(hub, "there", "over there")
		order = append(order, q, a)
		q, a = exchange(white, "here", "back here")
		order = append(order, q, a)
	}
	for _, n := range []*Node{hub, white} {
		eventually(t, "everything is there", func() bool { return has(n, order[len(order)-1]) })
		var got []protocol.Path
		for _, m := range everything(t, n) {
			if slices.Contains(order, m.Path) {
				got = append(got, m.Path)
			}
		}
		for i := 0; i < len(order); i += 2 {
			if slices.Index(got, order[i]) > slices.Index(got, order[i+1]) {
				t.Errorf("on %s an answer stands before its question: %v", n.cfg.Alias, got)
			}
		}
	}
	eventually(t, "both have the same messages", func() bool {
		return slices.Equal(paths(everything(t, hub)), paths(everything(t, white)))
	})
	for n, says := range map[*Node]string{hub: "the clock of white is 24h ahead", white: "the clock of oracle-world is 24h behind"} {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || !strings.Contains(strings.Join(s.Warned, "\n"), says) {
			t.Errorf("%s warns of %q, %v; want %q", n.cfg.Alias, s.Warned, err, says)
		}
		other := map[*Node]string{hub: "white", white: "oracle-world"}[n]
		if _, err := control.PingHost.Ask(t.Context(), n, control.PingRequest{Alias: other, Within: within}); err != nil {
			t.Errorf("%s cannot ask %s: %v", n.cfg.Alias, other, err)
		}
	}
}

// The number of a start rises whatever the clock does, and also without its file.
func TestStartsRise(t *testing.T) {
	home := initHome(t, nil)
	now := time.Now()
	var last uint64
	for _, at := range []time.Time{now, now, now.Add(-24 * time.Hour), now.Add(time.Hour), {}} {
		number, err := homes.NextStart(home, at)
		if err != nil || number <= last {
			t.Errorf("the start at %s is %d, %v, after %d", at, number, err, last)
		}
		last = number
	}
}
