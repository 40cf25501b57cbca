package talk

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// What a session waits for is said of the messages that wait for it too, and of no other: of those that
// would begin a turn, until they are read; of those that ask for an answer, until there is one.
func TestWhichMessagesWait(t *testing.T) {
	vs := &Views{&Options{Live: presence.NewLive(time.Now, feed.NewEvents(time.Now))}}
	for _, c := range []struct {
		what string
		act  protocol.Act
		p    fleet.Progress
		want bool
	}{
		{protocol.WaitsForTurns, protocol.ActHey, fleet.Progress{}, true},
		{protocol.WaitsForTurns, protocol.ActTell, fleet.Progress{}, false},
		{protocol.WaitsForTurns, protocol.ActHey, fleet.Progress{Read: true}, false},
		{protocol.WaitsForHuman, protocol.ActHey, fleet.Progress{Read: true}, true},
		{protocol.WaitsForHuman, protocol.ActNote, fleet.Progress{}, true},
		{protocol.WaitsForHuman, protocol.ActNote, fleet.Progress{Read: true}, false},
		{protocol.WaitsForHuman, protocol.ActHey, fleet.Progress{Read: true, Answered: true}, false},
	} {
		c.p.Name = "mawjs"
		vs.Live.Say("white", map[string]protocol.Waits{"mawjs": {For: c.what, Time: time.Unix(1, 0)}})
		it := &fleet.Item{File: keys.File{Message: protocol.Message{Act: c.act, Type: protocol.TypeText, To: []protocol.Address{{Name: "mawjs"}}}}}
		if w := vs.waits(it, "white", c.p); (w != nil) != c.want || vs.waits(it, "black", c.p) != nil {
			t.Errorf("%s, %s, %+v: it waits for %+v", c.what, c.act, c.p, w)
		}
	}
}
