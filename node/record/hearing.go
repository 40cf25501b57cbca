package record

import (
	"slices"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// Hearing tells the other hosts which of their messages are stored here (heard).
type Hearing struct {
	Host, Human protocol.Name
	Folded      folded.State
	Roster      *agents.Roster
	Live        *presence.Live
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
