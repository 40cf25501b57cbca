package presence

import (
	"testing"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/protocol"
)

func TestCourierPlace(t *testing.T) {
	pushes := func(names ...protocol.Name) []bus.Presence {
		var all []bus.Presence
		for _, n := range names {
			all = append(all, bus.Presence{Host: n, Pushes: true})
		}
		return append(all, bus.Presence{Host: "aa-cannot"})
	}
	for _, c := range []struct {
		able   bool
		others []bus.Presence
		want   int
	}{
		{true, pushes(), 1},
		{true, pushes("a", "z"), 2},
		{true, pushes("n", "z"), 1},
		{false, pushes("n", "z"), 3}, // after all that can push
		{false, pushes(), 0},         // nobody can push: each host is on its own
	} {
		if got := courierPlace("m", c.able, c.others); got != c.want {
			t.Errorf("able %v among %v: place %d, want %d", c.able, c.others, got, c.want)
		}
	}
}
