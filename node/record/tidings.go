package record

import (
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/trail"
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

// Hearing tells the other hosts which of their messages are stored here (heard).
type Hearing struct {
	Host, Human protocol.Name
	Folded      folded.State
	Roster      *agents.Roster
	Live        *presence.Live
	Trail       *trail.Trail
	Bus         func() *bus.Bus // nil if there is none
	Log         zerolog.Logger
}

// Tell tells the other hosts which messages are fsynced here. It does so at once if an agent
// or human of this host is addressed, else together with what comes in the next moment. Messages to
// all in a large fleet wait too, because there each host that hears them tells all others.
func (h *Hearing) Tell(messages []gitsync.MessageFile) {
	var now, later []protocol.Path
	crowded := h.Live.Crowded()
	h.Folded(func(s *fleet.State) {
		for _, l := range messages {
			it, ok := s.Ledger.Item(l.Path)
			switch {
			case !ok:
			case h.concerns(s, it) && !(crowded && it.ToAll()):
				now = append(now, l.Path)
			default:
				later = append(later, l.Path)
			}
		}
	})
	h.Live.HeardLater(later, h.publish)
	h.publish(now)
}

// concerns reports whether an agent or human of this host is addressed.
func (h *Hearing) concerns(s *fleet.State, it *fleet.Item) bool {
	reaches := func(name protocol.Name) bool { return s.Talk.Reaches(it, fleet.Who{Name: name.String(), Host: h.Host}) }
	return reaches(h.Human) || slices.ContainsFunc(h.Roster.All(), func(a configs.Agent) bool { return reaches(a.Name) })
}

func (h *Hearing) publish(paths []protocol.Path) {
	b := h.Bus()
	if b == nil || len(paths) == 0 {
		return
	}
	if err := b.PublishHeard(paths); err != nil {
		h.Log.Debug().Err(err).Msg("cannot tell that messages were heard")
	}
}

// Woken notes that the program of a session of an agent here took the bell for messages, and tells it
// to the other hosts (R69).
func (h *Hearing) Woken(agent protocol.Name, paths []protocol.Path) {
	for _, p := range paths {
		h.Trail.NoteOf(p, protocol.TraceWoken, agent)
	}
	h.Live.Hear(h.Host, agent, paths)
	if b := h.Bus(); b != nil {
		if err := b.PublishWoken(agent, paths); err != nil {
			h.Log.Debug().Err(err).Msg("cannot tell that a session was rung")
		}
	}
}
