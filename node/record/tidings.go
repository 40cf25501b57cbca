package record

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

// Tidings passes on what the record tells of itself, to followers of events and to the other hosts.
type Tidings struct {
	Events  *feed.Events
	Steps   *Steps
	Live    *presence.Live
	Lookout *presence.Lookout
	Placed  func()          // takes this host's place among the couriers anew, and tells the others
	Storing *sync.RWMutex   // held for reading from the storing of messages until they are folded
	Bus     func() *bus.Bus // nil if there is none
	Notices *notices.Notices
	Log     zerolog.Logger
}

// AboutFirstLook names the warning about a remote that was not seen before the start.
const AboutFirstLook = "the first look at the remote"

// Recorded tells that messages are committed, and pushed tells that the remote has them.
func (t *Tidings) Recorded(paths []protocol.Path) {
	if t.Events.Followed() { // a message is told before its stages: with this lock, those who stored these messages have folded them
		t.Storing.Lock()
		defer t.Storing.Unlock()
	}
	t.Steps.recorded(paths)
	t.reached(paths, protocol.StageRecorded)
}

func (t *Tidings) Pushed(paths []protocol.Path) {
	t.Steps.pushed(paths)
	t.reached(paths, protocol.StagePushed)
}

func (t *Tidings) reached(paths []protocol.Path, stage protocol.Stage) {
	t.Live.Changed(paths)
	t.Events.Reached(paths, stage, "")
}

// Trouble takes in that the remote can or cannot be used. The couriers are ranked anew, here and on
// the other hosts.
func (t *Tidings) Trouble(at gitsync.Trouble) {
	t.Events.Wrong("the remote", at.Text)
	if at.Kind == gitsync.KindNone || at.Pushing {
		t.Notices.Mended(AboutFirstLook)
	}
	t.Lookout.Fetched.Happened() // the messages of a fetch are told before its end
	t.Placed()
}

// Stuck tells why messages cannot be stored or committed, or that this is possible again.
func (t *Tidings) Stuck(step gitsync.Step, why error) {
	text := ""
	if why != nil {
		text = why.Error()
	}
	t.Events.Wrong(string(step), text)
}

// Moved tells the other hosts that there is something new to fetch.
func (t *Tidings) Moved() {
	if b := t.Bus(); b != nil {
		if err := b.Ring(); err != nil {
			t.Log.Debug().Err(err).Msg("cannot ring the bell")
		}
	}
}
