package node

import (
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// tidings passes on what the record tells of itself, to followers of events and to the other hosts.
type tidings struct {
	events   *feed.Events
	steps    *steps
	live     *presence.Live
	lookout  *presence.Lookout
	presence *presence.Presence
	storing  *sync.RWMutex   // held for reading from the storing of messages until they are folded
	bus      func() *bus.Bus // nil if there is none
	notices  *notices.Notices
	log      zerolog.Logger
}

// recorded tells that messages are committed, and pushed tells that the remote has them.
func (t *tidings) recorded(paths []protocol.Path) {
	if t.events.Followed() { // a message is told before its stages: with this lock, those who stored these messages have folded them
		t.storing.Lock()
		defer t.storing.Unlock()
	}
	t.steps.recorded(paths)
	t.reached(paths, protocol.StageRecorded)
}

func (t *tidings) pushed(paths []protocol.Path) {
	t.steps.pushed(paths)
	t.reached(paths, protocol.StagePushed)
}

func (t *tidings) reached(paths []protocol.Path, stage protocol.Stage) {
	t.live.Changed(paths)
	t.events.Reached(paths, stage, "")
}

// trouble takes in that the remote can or cannot be used. The couriers are ranked anew, here and on
// the other hosts.
func (t *tidings) trouble(at gitsync.Trouble) {
	t.events.Wrong("the remote", at.Text)
	if at.Kind == gitsync.KindNone || at.Pushing {
		t.notices.Mended(aboutFirstLook)
	}
	t.lookout.Fetched.Happened() // the messages of a fetch are told before its end
	t.presence.TakePlace()
	t.presence.Announce()
}

// stuck tells why messages cannot be stored or committed, or that this is possible again.
func (t *tidings) stuck(step gitsync.Step, why error) {
	text := ""
	if why != nil {
		text = why.Error()
	}
	t.events.Wrong(string(step), text)
}

// moved tells the other hosts that there is something new to fetch.
func (t *tidings) moved() {
	if b := t.bus(); b != nil {
		if err := b.Ring(); err != nil {
			t.log.Debug().Err(err).Msg("cannot ring the bell")
		}
	}
}
