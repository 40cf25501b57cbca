// Package hosts answers for the hosts of the fleet: who is there, at which addresses, with which keys
// and humans, and what the fleet has settled.
package hosts

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Options are what the parts need of the node. All are required.
type Options struct {
	Home      configs.Home
	Config    configs.Config
	Version   string
	Started   time.Time
	Now       func() time.Time
	Log       zerolog.Logger
	Folded    folded.State
	Record    *gitsync.Record
	Writer    *writing.Writer
	Decider   *writing.Decider
	SignsWith *atomic.Pointer[homes.Key] // this host's key
	Bus       func() *bus.Bus            // nil if there is none
	NatsBus   *atomic.Pointer[configs.System]
	Live      *presence.Live
	Lookout   *presence.Lookout
	Asker     *presence.Asker
	Announce  func() // tells the other hosts that this one is there
	Notices   *notices.Notices
	Roster    *agents.Roster
	Actor     func(by control.Caller, as string) (fleet.Who, error) // says who acts
	Find      func(message string) (*fleet.Item, error)
	Trace     bus.Service                         // tells what this host knows of messages
	Heed      func(context.Context)               // does what words of hosts ask for besides
	Served    func() []control.Agent              // the agents of this host
	Waiting   func(s *fleet.State) map[string]int // how many gates wait for each human
	AtWork    func() int                          // how many commands of agents run
	Drain     time.Duration                       // how long commands may go on when the node stops
	Nudge     func()                              // has agents run whose work waits
}

// Hosts are the parts of a node that are about hosts, their keys and their humans.
type Hosts struct {
	options    *Options
	Directory  *Directory
	Hubs       *hubs
	Own        *ownHost // what this host says of itself
	Keys       *keyWork
	Reporter   *reporter
	Questioner *questioner
	Rotator    *rotator
	Revoker    *revoker
	Remover    *remover
	Links      *linkOpener
	Humans     *humans
	Policies   *policies
}

// New gives each of them what it needs.
func New(o Options) *Hosts {
	h := &Hosts{options: &o, Directory: &Directory{&o}, Hubs: &hubs{&o, make(chan struct{}, 1)}, Humans: &humans{&o}}
	h.Own = &ownHost{&o, h.Hubs}
	h.Keys = &keyWork{Options: &o, hubs: h.Hubs, moved: make(chan struct{}, 1), seen: map[place]sight{}, said: map[protocol.HostKey]bool{}}
	h.Reporter = &reporter{&o}
	h.Questioner = &questioner{&o, h.Directory, h.Hubs, h.Reporter}
	h.Rotator = &rotator{Options: &o, own: h.Own}
	h.Revoker = &revoker{&o, h.Own}
	h.Remover = &remover{&o, h.Revoker}
	h.Links = &linkOpener{Options: &o, own: h.Own}
	h.Policies = &policies{&o, h.Humans}
	return h
}

// Moved has links and keys looked at again: a host has said something of itself.
func (h *Hosts) Moved() {
	wait.Nudge(h.Hubs.moved)
	wait.Nudge(h.Keys.moved)
}

// Trusted looks up a key in the record's history of keys, for the bus. An unknown key may belong to
// a host that has just joined. So the remote is looked at, and that host tries again by itself.
func (h *Hosts) Trusted(key string) (alias protocol.Name, ok bool) {
	h.options.Folded(func(s *fleet.State) { alias, ok = s.Keys().HostOfKey(key, h.options.Now()) })
	if !ok && key != h.options.SignsWith.Load().Public {
		h.options.Record.Ring()
	}
	return alias, ok
}

// Revoked returns the host to which a key belonged, by the record, until the key was revoked.
func (h *Hosts) Revoked(key string) (alias protocol.Name, ok bool) {
	h.options.Folded(func(s *fleet.State) { alias, ok = s.Keys().RevokedHost(key) })
	return alias, ok
}

// typed returns an error unless somebody has typed the phrase that confirms what cannot be undone.
func typed(phrase, want, what string) error {
	if phrase == want {
		return nil
	}
	return control.Errorf(control.KindRefused, "run the command at a terminal: it asks for the phrase",
		"cannot %s: it cannot be undone, and nobody has typed %q", what, want)
}
