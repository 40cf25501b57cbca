package hosts

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/protocol"
)

// ownHost tells the fleet who is here, by signed messages, and by the host file of the seed that is
// made from them.
type ownHost struct {
	*Options
	hubs *hubs
}

func (o *ownHost) says() protocol.HostState {
	h := protocol.HostState{Host: o.Config.Alias, Key: o.SignsWith.Load().Public, Hostname: whereabouts.Hostname(), Addresses: o.hubs.Addresses(), Humans: []protocol.Name{o.Config.Human}}
	h.Agents = each.Of(o.Roster.Declared(), hosted)
	return h
}

// hosted is what the fleet is told about an agent: never its commands (R12).
func hosted(a configs.Agent) protocol.HostedAgent {
	h := protocol.HostedAgent{Name: a.Name, TakeoverAfter: a.TakeoverAfter, AsksRerun: a.Rerun == configs.RerunAsk}
	h.Tiers = each.Of(a.Tiers, func(t configs.Tier) protocol.Tier { return protocol.Tier{Name: t.Name, Count: t.Count} })
	if a.Session != "" {
		h.Tiers, h.TakeoverAfter = []protocol.Tier{{Name: protocol.SessionTier, Count: 1}}, protocol.NoTakeover
	} else if a.Door == configs.DoorInbox {
		h.Tiers = []protocol.Tier{{Name: protocol.InboxTier, Count: 1}}
	}
	return h
}

// Publish tells the fleet who is here, if that is news.
func (o *ownHost) Publish(ctx context.Context) error {
	if err := o.Decider.Say(ctx, fleet.Join{Host: o.says()}); err != nil {
		return err
	}
	return o.Render()
}

// retire makes the file of a host that is out say so: programs that know no keys would go on
// writing to its agents. What counts is the revocation; the file only shows it.
func (o *ownHost) retire(alias protocol.Name) {
	var h *keys.Host
	o.Folded(func(s *fleet.State) { h, _ = s.Keys().Host(alias) })
	says, since := protocol.HostState{Host: alias, Key: h.Key, Hostname: h.Hostname}, o.Now()
	err := o.Record.UpdateFile(protocol.HostFilePath(alias), func(old []byte) ([]byte, error) {
		return protocol.RetireHostFile(old, says, since)
	})
	if err != nil {
		o.Log.Warn().Err(err).Msg("cannot say in the host's file that it is out")
	}
}

// RetireLeft makes up for what revocations by this host have left, if its node ended before the
// files of the hosts that are out said so.
func (o *ownHost) RetireLeft(read func(path string) ([]byte, bool, error)) {
	var out []protocol.Name
	o.Folded(func(s *fleet.State) {
		for _, h := range s.Keys().AllHosts() {
			if all := h.Keys(); h.Out() && (all[len(all)-1].By == o.Config.Alias.String() || strings.HasSuffix(all[len(all)-1].By, " at "+o.Config.Alias.String())) {
				out = append(out, h.Alias)
			}
		}
	})
	for _, alias := range out {
		file, there, err := read(protocol.HostFilePath(alias))
		if _, said := protocol.HostFileRemoved(file); err == nil && there && !said {
			o.retire(alias)
		}
	}
}

// Render has the next commit write into this host's file what the host says of itself at that time.
// What others have written there until then stays.
func (o *ownHost) Render() error {
	return o.Record.UpdateFile(protocol.HostFilePath(o.Config.Alias), func(old []byte) ([]byte, error) {
		return protocol.UpdateHostFile(old, o.says())
	})
}

// AnswerTwin writes a message, by which the other node with this name learns of this one.
func (o *ownHost) AnswerTwin(ctx context.Context) {
	if err := o.Decider.Say(ctx, fleet.Join{Host: o.says(), Again: true}); err != nil {
		o.Log.Warn().Err(err).Msg("cannot tell the other node of this name to stay out")
	}
}
