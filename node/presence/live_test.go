package presence

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: fifty hosts all tell all others at once that they have heard what was for all, and
// do nothing else.
func TestOnlyAFewSayAtOnceThatTheyHeard(t *testing.T) {
	now := time.Now()
	l := NewLive(func() time.Time { return now }, feed.NewEvents(time.Now))
	for i := range smallFleet + 1 {
		if l.Crowded() {
			t.Errorf("%d hosts are a crowd", i)
		}
		l.see(bus.Presence{Host: protocol.Name(fmt.Sprintf("host%d", i)), Live: true, Seen: now})
	}
	if !l.Crowded() {
		t.Errorf("%d hosts are no crowd", smallFleet+1)
	}
	now = now.Add(Lasts)
	if l.Crowded() {
		t.Error("hosts that are gone are a crowd")
	}
}

// A host that tells of very many messages, whether they exist or not, has what others told
// forgotten no sooner. It prevents: one host hides who has heard what.
func TestWhoTellsMostIsForgottenFirst(t *testing.T) {
	l := NewLive(time.Now, feed.NewEvents(time.Now))
	channel := protocol.DeriveChannel("record", "a", "b")
	path := func(i int) protocol.Path { return protocol.NewPath(channel, time.Unix(1e9, 0), uint32(i)) }
	var honest, lies []protocol.Path
	for i := range 3 * maxHeard {
		if i < 100 {
			honest = append(honest, path(i))
		} else {
			lies = append(lies, path(i))
		}
	}
	l.Hear("white", "", honest)
	l.Hear("eve", "", append(lies, honest[0]))
	for _, p := range honest {
		if by := l.Hearers(p); len(by) == 0 || by[len(by)-1] != "white" {
			t.Fatalf("%s was heard by %v", p, by)
		}
	}
	if len(l.heard) != maxHeard || len(l.order["eve"]) != maxHeard-len(honest) || len(l.Hearers(lies[0])) > 0 {
		t.Errorf("%d messages are remembered, %d of one host", len(l.heard), len(l.order["eve"]))
	}
	l.Hear("white", "", lies[len(lies)-1:])
	l.Hear("black", "", []protocol.Path{path(3*maxHeard + 1)})
	if by := l.Hearers(lies[len(lies)-1]); len(by) != 2 || len(l.heard) != maxHeard {
		t.Errorf("what two have told was heard by %v", by)
	}
}

// A host that says nothing any more, and no farewell, does not stay live for long.
func TestASilentHostIsAway(t *testing.T) {
	now := time.Now()
	l := NewLive(func() time.Time { return now }, feed.NewEvents(time.Now))
	l.see(bus.Presence{Host: "white", Live: true, Seen: now})
	now = now.Add(Lasts - 1)
	if _, live := l.PresenceOf("white"); !live {
		t.Error("a host is away before its time")
	}
	now = now.Add(1)
	if last, live := l.PresenceOf("white"); live || last.Seen.IsZero() {
		t.Errorf("a host that says nothing is live: %+v", last)
	}
}

// If a link has ended, the host behind it is away, or all hosts are, unless they have spoken since.
func TestGoneHostsAreAway(t *testing.T) {
	l := NewLive(time.Now, feed.NewEvents(time.Now))
	for _, host := range []protocol.Name{"white", "black"} {
		l.see(bus.Presence{Host: host, Live: true, Seen: time.Now()})
	}
	l.gone(time.Now().Add(-time.Hour), "")
	l.gone(time.Now(), "white")
	if _, live := l.PresenceOf("white"); live || l.connected() != 1 {
		t.Errorf("%d of two hosts are there, of which one is gone", l.connected())
	}
}

// An answer that comes late does not undo what has come since. A clock that was told counts for its
// host alone.
func TestClockOfAHostDecidesWhatIsFresh(t *testing.T) {
	now := time.Now()
	l := NewLive(func() time.Time { return now }, feed.NewEvents(time.Now))
	ahead := bus.Presence{Host: "white", Live: true, Sent: now.Add(10 * time.Hour), Seen: now}
	if l.believes(ahead) || !l.mayConfirm("white") || l.mayConfirm("white") {
		t.Error("a presence from another time is believed, or asked for twice at once")
	}
	if !l.setClock(ahead, 10*time.Hour-time.Second) || !l.believes(ahead) {
		t.Error("a presence is not believed although its host's clock is what it says")
	}
	if old := (bus.Presence{Host: "white", Live: true, Sent: now, Seen: now}); l.believes(old) {
		t.Error("what is ten hours old by the host's own clock is believed")
	}
	later := ahead
	later.Seen, later.Live = now.Add(time.Second), false
	l.see(later)
	if l.setClock(ahead, 10*time.Hour) {
		t.Error("a host that has left is live again by an answer to an earlier letter")
	}
	other := ahead
	if other.Host = "black"; l.believes(other) {
		t.Error("the clock of one host counts for another")
	}
}
