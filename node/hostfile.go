package node

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// ownHost tells the fleet who is here, by signed messages, and by the host file of the seed that is
// made from them.
type ownHost struct {
	host, human protocol.Name
	now         func() time.Time
	log         zerolog.Logger
	folded      folded.State
	record      fileUpdater
	hubs        *hubs
	roster      *agents.Roster
	key         func() *homes.Key
	say         func(context.Context, fleet.Command) error // stores a command's messages and tells the others
}

// fileUpdater is the record, as far as it keeps files that are no messages.
type fileUpdater interface {
	UpdateFile(path string, update func(old []byte) ([]byte, error)) error
}

// says is what this host says of itself, from its own configuration alone.
func (o *ownHost) says() protocol.HostState {
	h := protocol.HostState{Host: o.host, Key: o.key().Public, Hostname: whereabouts.Hostname(), Addresses: o.hubs.addresses(), Humans: []protocol.Name{o.human}}
	for _, a := range o.roster.All() {
		h.Agents = append(h.Agents, hosted(a))
	}
	return h
}

// hosted is what the fleet is told about an agent: never its commands (R12).
func hosted(a configs.Agent) protocol.HostedAgent {
	h := protocol.HostedAgent{Name: a.Name, TakeoverAfter: a.TakeoverAfter, AsksRerun: a.Rerun == configs.RerunAsk}
	for _, t := range a.Tiers {
		h.Tiers = append(h.Tiers, protocol.Tier{Name: t.Name, Count: t.Count})
	}
	if a.Door == configs.DoorInbox {
		h.Tiers = []protocol.Tier{{Name: protocol.InboxTier, Count: 1}}
	}
	return h
}

// publish tells the fleet who is here, if that is news.
func (o *ownHost) publish(ctx context.Context) error {
	if err := o.say(ctx, fleet.Join{Host: o.says()}); err != nil {
		return err
	}
	return o.render()
}

// retire makes the file of a host that is out say so: programs that know no keys would go on
// writing to its agents. What counts is the revocation; the file only shows it.
func (o *ownHost) retire(alias protocol.Name) {
	var h *keys.Host
	o.folded(func(s *fleet.State) { h, _ = s.Keys().Host(alias) })
	says, since := protocol.HostState{Host: alias, Key: h.Key, Hostname: h.Hostname}, o.now()
	err := o.record.UpdateFile(protocol.HostFilePath(alias), func(old []byte) ([]byte, error) {
		return protocol.RetireHostFile(old, says, since)
	})
	if err != nil {
		o.log.Warn().Err(err).Msg("cannot say in the host's file that it is out")
	}
}

// retireLeft makes up for what revocations by this host have left, if its node ended before the
// files of the hosts that are out said so.
func (o *ownHost) retireLeft(read func(path string) ([]byte, bool, error)) {
	var out []protocol.Name
	o.folded(func(s *fleet.State) {
		for _, h := range s.Keys().AllHosts() {
			if all := h.Keys(); h.Out() && (all[len(all)-1].By == o.host.String() || strings.HasSuffix(all[len(all)-1].By, " at "+o.host.String())) {
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

// render has the next commit write into this host's file what the host says of itself at that time.
// What others have written there until then stays.
func (o *ownHost) render() error {
	return o.record.UpdateFile(protocol.HostFilePath(o.host), func(old []byte) ([]byte, error) {
		return protocol.UpdateHostFile(old, o.says())
	})
}

// answerTwin writes a message, by which the other node with this name learns of this one.
func (o *ownHost) answerTwin(ctx context.Context) {
	if err := o.say(ctx, fleet.Join{Host: o.says(), Again: true}); err != nil {
		o.log.Warn().Err(err).Msg("cannot tell the other node of this name to stay out")
	}
}
