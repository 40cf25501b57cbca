package serving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// However many messages ask for it, the vigil looks once a second which hosts are there. The first
// message after a sleep notices the sleep.
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

// A remote that takes minutes to answer a claim is no sleep of this host. It prevents: hosts that
// are gone count as heard after it, and what they had to do is never taken over.
func TestASlowRemoteIsNoSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := claimsAt("hub", fleet.New(keys.Anchor{}), slowRemote{})
		v := c.vigil
		c.want(work{agent: "mawjs"}, "white")
		stop := c.start()
		time.Sleep(2 * slowAnswer)
		if !v.woke.Equal(began) {
			t.Errorf("it counts as having slept until %s after its start", v.woke.Sub(began))
		}
		stop()
	})
}

// slowAnswer is how long a slow remote takes.
const slowAnswer = 10 * time.Minute

type slowRemote struct{ *gitsync.Record }

func (slowRemote) Claim(context.Context, string, string) (bool, error) {
	time.Sleep(slowAnswer)
	return false, errors.New("no answer")
}

func (slowRemote) Status() gitsync.Status { return gitsync.Status{} }

// A host whose clock is wrong, and that is heard only by what it writes, is silent since its last
// message came. It prevents: by the date of its messages such a host is always gone, or is never
// heard, and its work is taken over while it works.
func TestSilenceDoesNotFollowOthersClocks(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	v := newVigil(now, presence.NewLive(now, feed.NewEvents(now)), at)
	channel := protocol.DeriveChannel("record", "nat", "mawjs")
	v.silent("white", protocol.NewPath(channel, at, 1))
	for i, by := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		p := protocol.NewPath(channel, at.Add(by), uint32(2+i))
		at = at.Add(20 * time.Minute)
		if s := v.silent("white", p); s != 0 {
			t.Errorf("its message of %s has just come, and it is silent for %s", p.Time(), s)
		}
		at = at.Add(3 * time.Minute)
		if s := v.silent("white", p); s != 3*time.Minute {
			t.Errorf("three minutes after its message of %s it is silent for %s", p.Time(), s)
		}
	}
}
