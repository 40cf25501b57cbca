package node

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/notify"
	"github.com/parleyfleet/parley/node/seats"
	"github.com/parleyfleet/parley/protocol"
)

// openCallers reads the key of tokens, or makes it, and the sessions of agent programs. From then on
// the node knows who calls.
func (n *Node) openCallers(o Options) error {
	key, err := homes.TokenKey(n.home)
	if err != nil {
		return err
	}
	n.seats = seats.New(seats.Options{
		Host: n.cfg.Alias, Human: n.cfg.Human, Fleet: n.cfg.Fleet, File: n.home.Sessions(), Words: o.Words, MaxHops: n.cfg.MaxHops, MaxRuns: n.cfg.MaxConversationRuns, MaxTurns: n.cfg.MaxTurns, Now: n.now,
		Log: n.log.With().Str("part", "sessions").Logger(), Folded: n.folded, Roster: &n.roster, Sessions: n.sessions, Messages: &n.messages,
		Load: func(it *fleet.Item) (*protocol.Message, error) { return n.talk.Views.Load(it) },
		Store: func(ctx context.Context, c fleet.Command, about protocol.Path) ([]protocol.Path, error) {
			return n.decider.Store(ctx, c, about)
		},
		Gave:     func(agent protocol.Name, p protocol.Path) { n.callers.Gave(agent, p) },
		Publish:  func(ctx context.Context) error { return n.hosts.Own.Publish(ctx) },
		Announce: func() { n.presence.AnnounceSoon() },
		Installed: func(program string) (path, home string) {
			if usual, err := configs.UsualHome(os.Getenv); err == nil {
				if p, ok := install.Find(program); ok {
					path, home, _ = p.Known(install.Data(usual)) // what cannot be read is not known
				}
			}
			return path, home
		},
		Wrong: n.notices.Stands,
		Notify: func(id, text string) {
			n.notify.Tell(notify.Matter{Kind: configs.NotifySession, ID: id, Text: text})
		},
		Woken: func(agent protocol.Name, paths []protocol.Path) { n.hearing.Woken(agent, paths) },
	})
	watch := agentprogram.Known
	if o.Unwatched {
		watch = nil
	}
	n.callers = caller.New(caller.Options{Key: key, Human: n.cfg.Human, Serves: n.roster.Since, Now: n.now, Seats: n.seats, Program: watch})
	n.actors = &agents.Actors{Host: n.cfg.Alias, Human: n.cfg.Human, Now: n.now, Roster: &n.roster, Callers: n.callers}
	return nil
}

// waits is what sessions on this host wait for, by the names of their agents.
func (n *Node) waits() map[string]protocol.Waits {
	waits := n.seats.Waits()
	for _, a := range n.roster.All() {
		if state, since := n.sessions.At(a.Name, time.Time{}); state == control.AgentWaiting {
			waits[a.Name.String()] = protocol.Waits{For: protocol.WaitsForHuman, Time: since.UTC()}
		}
	}
	return waits
}

// meet makes a session known that is written to, if it is one of this host. If other hosts say that
// they have it, and the record does not know it, it is addressed there (R68).
func (n *Node) meet(ctx context.Context, to string) (address string, err error) {
	a, err := protocol.ParseAddress(to)
	if err != nil {
		return "", nil // refused later, as any address is
	}
	if a.Host == "" || a.Host == n.cfg.Alias.String() {
		if err := n.seats.Declare(ctx, a.Name); err != nil {
			return "", err
		}
	}
	known := false
	var there []string
	n.folded(func(s *fleet.State) {
		known = a.Host == "" && s.People.Known(a.Name) || a.Host != "" && s.People.CheckHosted(a) == nil
		for _, h := range s.Keys().Hosts() {
			at := protocol.Address{Name: a.Name, Host: h.Alias.String()}
			if p, live := n.live.PresenceOf(h.Alias); live && slices.Contains(p.Sessions, a.Name) && (a.Host == "" || a == at) {
				there = append(there, at.String())
			}
		}
	})
	if known {
		return "", nil
	}
	if len(there) > 1 {
		return "", control.Errorf(control.KindUsage, "say which, such as "+there[0], "several sessions are called %q: %s", a.Name, strings.Join(there, ", "))
	}
	return strings.Join(there, ""), nil
}

// logRefused logs what a caller may not do. An agent that tries again and again does not fill the
// disk with it.
func (n *Node) logRefused() func(verb string, c control.Caller, why error) {
	const burst = 20
	log := n.log.Sample(&zerolog.BurstSampler{Burst: burst, Period: time.Minute})
	return func(verb string, c control.Caller, why error) {
		log.Warn().Str("verb", verb).Stringer("caller", c.Kind).Stringer("name", c.Name).Str("run", c.Run).Str("known_by", c.How).Msg(why.Error())
	}
}
