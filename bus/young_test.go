package bus

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a host that has just joined and says first of itself that a hub does not accept its
// key, or that a link is half up. Both are over before anybody has read it.
func TestAYoungLinkIsNoTrouble(t *testing.T) {
	f := newFleet()
	hub := newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	leaf := newHost(t, f, "white")
	f.forget(t, leaf.opts.Key) // the hub has not yet read that the host has joined
	leaf.opts.Hubs = hubsOf(t, hub)
	var later atomic.Bool
	leaf.opts.Now = func() time.Time {
		if later.Load() {
			return time.Now().Add(quietFor)
		}
		return time.Now()
	}
	leaf.start(t)
	awaitTrue(t, "the hub has refused it", func() bool { return len(leaf.dialler.problems()) > 0 })
	if l := onlyLink(t, leaf); time.Since(l.Since) < quietFor && (!l.Young || l.Problem != "") {
		t.Errorf("in the first moment the link is %+v", l)
	}
	later.Store(true)
	awaitTrue(t, "it is said when it lasts", func() bool {
		l := onlyLink(t, leaf)
		return !l.Young && strings.Contains(l.Problem, "does not accept this host's key")
	})
}

// Presence letters that several goroutines send at once come in the order of their numbers. It
// prevents: an honest host's letter that is taken for a repeated one and counted as refused.
func TestPresencesAreSentInOrder(t *testing.T) {
	f := newFleet()
	hub := newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	leaf := newHost(t, f, "white")
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t)
	awaitUp(t, leaf)
	const each = 50
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range each {
				if err := leaf.Announce(Presence{Live: true, Run: "0badcafe", Start: 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	awaitTrue(t, "the last has come", func() bool {
		hub.mu.Lock()
		defer hub.mu.Unlock()
		return hub.presence[protocol.Name("white")].Count == 8*each
	})
	if n := hub.Offences().Refused; n != 0 {
		t.Errorf("%d of %d letters were refused: %s", n, 8*each, hub.Offences().Last)
	}
}
