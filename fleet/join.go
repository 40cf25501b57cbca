package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Join brings a host and its key into the fleet, or tells the fleet that something has changed:
// whom the host serves, or where it is reached. If the record already says the same, it gives no
// message, unless Again is true.
type Join struct {
	Host  protocol.HostState
	Again bool
}

// joinAnew is what a host can do whose last key was revoked.
const joinAnew = "join again with a new home and another alias: parley --home DIR join URL --alias NAME"

func (c Join) decide(s *State, _ time.Time) ([]Draft, error) {
	h, joined := s.Keys().Host(c.Host.Host)
	switch {
	case !joined && s.Keys().Bearer(c.Host.Key) != "":
		alias := s.Keys().Bearer(c.Host.Key)
		return nil, refuse(Forbidden, "write alias: "+alias.String()+" in config.yaml; for another name, join with a new home",
			"the key of this home is that of the host %s, and a host keeps its name", alias)
	case !joined:
		return []Draft{s.hostDraft(protocol.ActHostJoin, c.Host)}, nil
	case h.Key != c.Host.Key:
		return nil, refuse(Forbidden, "choose another alias for this host",
			"the fleet has a host called %s already, with another key", c.Host.Host)
	case h.Out():
		return nil, refuse(Forbidden, joinAnew,
			"%s is out, and the fleet takes no word of it any more: %s", h.Alias, h.WhyOut())
	case !h.Announced(): // others have named it before it said a word
		return []Draft{s.hostDraft(protocol.ActHostJoin, c.Host)}, nil
	}
	if !c.Again && says(h, c.Host) {
		return nil, nil
	}
	news := c.Host
	news.Key = ""
	return []Draft{s.hostDraft(protocol.ActHostAgents, news)}, nil
}

// says reports whether the host has said all of that already.
func says(h *keys.Host, s protocol.HostState) bool {
	return len(h.Unread) == 0 && (s.Hostname == "" || h.Hostname == s.Hostname) && slices.Equal(h.Addresses, s.Addresses) &&
		slices.Equal(h.Humans, s.Humans) && slices.EqualFunc(h.Agents, s.Agents, equalAgents)
}

func equalAgents(a, b protocol.HostedAgent) bool {
	return a.Name == b.Name && slices.Equal(a.Tiers, b.Tiers) && a.TakeoverAfter == b.TakeoverAfter && a.AsksRerun == b.AsksRerun
}

// hostDraft is a message in which a host says something of itself or of others. It is addressed to
// the host's own name: every node reads it, and no program takes it for mail to a participant.
func (s *State) hostDraft(act protocol.Act, says protocol.HostWord) Draft {
	host := says.Speaker().String()
	return Draft{
		Message: protocol.Message{
			From: host,
			To:   []protocol.Address{{Name: host}},
			Type: protocol.TypeText,
			Act:  act,
			Body: protocol.FormatHostWord(act, says),
		},
		Channel: s.system,
	}
}
