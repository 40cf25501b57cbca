package node

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/presence"
)

// However many messages ask for it, it is looked once a second who is there; a sleep is
// noticed by the first of them.
func TestVigilLooksOnceASecond(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	v := newVigil(now, presence.NewLive(now, feed.NewEvents(now)), at)
	for _, step := range []struct {
		by     time.Duration
		looked bool
	}{{lookEach - 1, false}, {1, true}, {lookEach / 2, false}, {lookEach / 2, true}, {-time.Hour, true}, {0, false}, {3 * time.Hour, true}} {
		at = at.Add(step.by)
		before := v.looked
		v.look()
		if looked := !v.looked.Equal(before); looked != step.looked {
			t.Errorf("%s later it is looked: %v", step.by, looked)
		}
	}
	if !v.woke.Equal(at) || !v.missed("white", time.Hour, at) {
		t.Errorf("three hours of sleep went unnoticed: awake since %s", v.woke)
	}
}
