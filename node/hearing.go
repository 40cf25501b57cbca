package node

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

// hearing tells the other hosts which of their messages are stored here (heard).
type hearing struct {
	host, human protocol.Name
	folded      folded.State
	roster      *agents.Roster
	live        *presence.Live
	bus         func() *bus.Bus // nil if there is none
	log         zerolog.Logger
}

// tellHeard tells the other hosts which messages are fsynced here. It does so at once if an agent
// or human of this host is addressed, else together with what comes in the next moment. Messages to
// all in a large fleet wait too, because there each host that hears them tells all others.
func (h *hearing) tellHeard(messages []gitsync.MessageFile) {
	var now, later []protocol.Path
	crowded := h.live.Crowded()
	h.folded(func(s *fleet.State) {
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
	h.live.HeardLater(later, h.publish)
	h.publish(now)
}

// concerns reports whether an agent or human of this host is addressed.
func (h *hearing) concerns(s *fleet.State, it *fleet.Item) bool {
	reaches := func(name protocol.Name) bool { return s.Talk.Reaches(it, fleet.Who{Name: name.String(), Host: h.host}) }
	return reaches(h.human) || slices.ContainsFunc(h.roster.All(), func(a configs.Agent) bool { return reaches(a.Name) })
}

func (h *hearing) publish(paths []protocol.Path) {
	b := h.bus()
	if b == nil || len(paths) == 0 {
		return
	}
	if err := b.PublishHeard(paths); err != nil {
		h.log.Debug().Err(err).Msg("cannot tell that messages were heard")
	}
}
