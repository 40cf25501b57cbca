package presence

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// aloneCourier is a record that pushes for itself.
type aloneCourier struct{}

func (aloneCourier) CanPush() bool      { return false }
func (aloneCourier) SetPlace(int)       {}
func (aloneCourier) Back(protocol.Name) {}

// The first message on the bus of a host that has just joined is refused by hosts that do not have
// its key yet. It prevents: they take the host for away until it happens to speak again.
func TestAHostThatJoinedIsAskedFor(t *testing.T) {
	now := time.Now
	l, around := NewLive(now, feed.NewEvents(now)), NewLookout(false, 0)
	noBus := func() *bus.Bus { return nil }
	pr := New(Options{
		Host: "oracle-world", Now: now, Bus: noBus, Live: l, Lookout: around, Asker: NewAsker(noBus, l, now), Record: aloneCourier{},
		Twins: NewTwins("oracle-world", now(), now, zerolog.Nop(), notices.New(zerolog.Nop(), now, feed.NewEvents(now)), around),
	})
	announces := func() bool {
		select {
		case <-pr.greet:
			return true
		default:
			return false
		}
	}
	join := func(host protocol.Name) *fleet.Item {
		return &fleet.Item{File: keys.File{Message: protocol.Message{Act: protocol.ActHostJoin, Host: host}}}
	}
	pr.Missed(join("oracle-world")) // this host itself
	if announces() {
		t.Error("it asks for itself")
	}
	pr.Missed(join("white"))
	if want := []protocol.Name{"white"}; !announces() || !cmp.Equal(want, l.takeMissing()) || l.takeMissing() != nil {
		t.Error("it does not ask once for the host that joined")
	}
	heard := func(wants ...protocol.Name) {
		pr.SawHost(bus.Presence{Host: "white", Live: true, Run: "1", Sent: time.Now(), Seen: time.Now(), Wants: wants})
	}
	heard()
	if !announces() {
		t.Error("it does not greet a host that came")
	}
	pr.Missed(join("white"))
	heard("black")
	if announces() {
		t.Error("it asks for a host that it hears, or answers for another")
	}
	heard("black", "oracle-world")
	if !announces() {
		t.Error("it does not answer who wants to hear it")
	}
}

// It prevents: a letter that this home's own node sent before it was started anew, and that
// somebody repeats, counts as the letter of another node.
func TestAnOldLetterIsNoTwin(t *testing.T) {
	now, started := time.Now(), time.Now().Add(-time.Minute)
	clock := func() time.Time { return now }
	tw := NewTwins("leaf", started, clock, zerolog.Nop(), notices.New(zerolog.Nop(), clock, feed.NewEvents(clock)), NewLookout(false, 0))
	old := bus.Presence{Host: "leaf", Live: true, Run: "0badcafe", Since: started.Add(-time.Hour), Sent: started.Add(-time.Second)}
	if tw.met(old) || tw.near() || len(tw.Expelled) > 0 {
		t.Error("the old letter counts")
	}
	old.Sent = now
	if tw.met(old) || !tw.near() || len(tw.Expelled) != 1 {
		t.Error("another node that was there first does not keep this one out")
	}
}

// It prevents: agents are run although another node's message came after the look around had seen
// none and before it was over.
func TestTheLookAroundEndsWithWhatWasNoted(t *testing.T) {
	l := NewLookout(false, 0)
	l.noteForeign(&fleet.Item{})
	if l.endUnless() == nil || l.MayRun() {
		t.Error("agents are run although a message was noted")
	}
	l.end()
	if !l.MayRun() {
		t.Error("no agent is run although the look around is over")
	}
	alone := NewLookout(false, 0)
	if alone.endUnless() != nil || !alone.MayRun() {
		t.Error("no agent is run although nothing was noted")
	}
}
