package party

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// trusting is a standing that knows nobody.
type trusting struct{ Standing }

func (trusting) Trust(*fleet.State, string, string, []collab.Score) topic.Trust {
	return topic.TrustMedium
}

// Work-with W114: a member is dormant if its host was not heard for a day. Nobody says that of
// themselves. Work-with W128: a hidden member decays too.
func TestStatus(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	heard, live := now, true
	p := New(Options{Now: func() time.Time { return now }, At: func(protocol.Name, string) control.AgentState { return "" }, Seen: func(protocol.Name) (time.Time, bool) { return heard, live }}, trusting{})
	f := found{Party: parties.Party{Rules: protocol.DefaultPartyRules()}}
	for _, c := range []struct {
		said protocol.Presence
		ago  time.Duration
		live bool
		want string
	}{
		{protocol.PresenceActive, 0, true, "active"}, {protocol.PresenceBusy, 0, true, "busy"}, {protocol.PresenceAway, 0, true, "away"},
		{protocol.PresenceActive, time.Hour, false, "away"}, {protocol.PresenceActive, 24 * time.Hour, false, "dormant"}, {protocol.PresenceBusy, 30 * time.Hour, false, "dormant"},
		{protocol.PresenceHidden, 30 * time.Hour, false, "hidden"},
	} {
		heard, live = now.Add(-c.ago), c.live
		score := collab.Score{Sample: topic.Sample{At: now.Add(-100 * time.Hour), Raw: 1}}
		m := p.member(nil, f, party.Member{Name: "m", Host: "a", Presence: c.said}, map[string][]collab.Score{"m": {score}})
		if m.Status != c.want || !m.Decayed.Below(0.4) || m.Raw != protocol.NewScore(1) {
			t.Errorf("said to be %s %s ago it is shown as %s, worth %v", c.said, c.ago, m.Status, m.Decayed)
		}
	}
}
