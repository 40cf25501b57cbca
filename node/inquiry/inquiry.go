// Package inquiry carries out inquiries on a node. Their rules are in fleet/inquiries: the record
// alone says what is to be done next, and this package does it. The host that coordinates an
// inquiry makes its calls. A host of a member runs that member, keeps its result in a spool until
// all members have ended, and tells it then (R53).
package inquiry

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/protocol"
)

// Options is what this part needs of its node.
type Options struct {
	RecordID string
	Host     protocol.Name
	Human    protocol.Name
	Now      func() time.Time
	Folded   folded.State
	Log      zerolog.Logger
	// Agents returns the agents that this host serves.
	Agents func() []configs.Agent
	// Do carries out a command as somebody asked for it, and returns what was written. It returns
	// an error also if what was written does not count.
	Do func(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error)
	// Find returns the message that a person names.
	Find func(message string) (*fleet.Item, error)
	// Load returns a message with its words, and File returns its file as it is in the record.
	Load func(it *fleet.Item) (*protocol.Message, error)
	File func(it *fleet.Item) ([]byte, error)
	// Signed returns an error if this host's human has a key and has not signed the decision.
	Signed func(d protocol.HumanDecision, sig string) error
	// Call runs the command of an agent that coordinates, for an inquiry.
	Call func(ctx context.Context, a configs.Agent, input string, because protocol.Path) door.Result
	// Count counts a run of an agent for an inquiry of another host. If the agent's budget has no room,
	// it counts nothing and says why.
	Count func(a configs.Agent, inquiry protocol.Path) (why string, err error)
	// Member runs the command of a member, alone in its place.
	Member func(ctx context.Context, a configs.Agent, run MemberRun) door.Result
	// Walls reports whether this host can keep a member that runs as this agent from seeing what
	// belongs to the node and to other members. If it cannot, the member runs all the same.
	Walls func(ctx context.Context, a configs.Agent) bool
	// Owner returns the user of the system as whom an agent runs, if the agent has one of its own.
	Owner func(a configs.Agent) (*place.Owner, error)
	// Remember keeps a finding as a memory of an agent, in the scope of a channel.
	Remember func(ctx context.Context, r control.AddMemoryRequest, as string) error
	// Seen returns when a host was heard last, and whether it is there now.
	Seen func(host protocol.Name) (last time.Time, live bool)
	// LackedBy returns what another host has said that it lacks, see bus.Presence.
	LackedBy func(host protocol.Name) string
	// StuckAt returns what another host has said that fails there, see bus.Presence.
	StuckAt func(host protocol.Name) []protocol.Stuck
	// Halted reports whether no command may be run at the moment.
	Halted func() bool
	// Wrong tells what is wrong with an inquiry; "" means that nothing is wrong any more.
	Wrong func(about, text string)
	// Messages tells of messages as they enter the state.
	Messages *feed.Feeds[protocol.Path]
	// Spool is the folder in which results wait until they may be told. Places is the folder in
	// which members work. Home is the home of the node, which nobody may have investigated.
	Spool, Places, Home string
}

// Inquiries answers the verbs about inquiries, and carries them out. Its methods may be called
// concurrently.
type Inquiries struct {
	Options
	Pool     Pool
	known    index
	material material
	spool    *spool
	nudge    chan struct{} // holds a token if all are to be looked at
	work     sync.WaitGroup
	counting sync.Mutex // held while a run is counted, so that all find room one by one

	mu   sync.Mutex // guards what follows
	live map[protocol.ChannelID]*going
}

// New makes this part of a node.
func New(o Options) *Inquiries {
	q := &Inquiries{
		Options: o, spool: &spool{dir: o.Spool, ended: map[string]kept{}}, nudge: make(chan struct{}, 1), live: map[protocol.ChannelID]*going{},
	}
	q.Pool = Pool{&q.Options, policy.Kind(o.RecordID)}
	q.known = index{Options: &q.Options, kind: inquiries.Kind(o.RecordID)}
	q.material = material{Options: &q.Options, known: &q.known}
	return q
}

// human returns the actor for this host's human. It is asked while the state is read.
func (q *Inquiries) human(s *fleet.State, hsig string) inquiries.Actor {
	a := inquiries.Actor{Record: q.RecordID, Me: q.Human.String(), Host: q.Host, Human: q.Human.String(), Hsig: hsig}
	if host, joined := s.Keys().Host(q.Host); joined {
		if key, counts, _ := host.HumanKeyNow(a.Human); counts {
			a.Key = key.Key
		}
	}
	return a
}

// index finds inquiries in the state.
type index struct {
	*Options
	kind *affair.Kind[inquiries.Inquiry]
	over sync.Map // by channel: inquiries that have ended, and are not looked at again
}

// in returns the inquiry in a channel. It is asked while the state is read.
func (x *index) in(s *fleet.State, channel protocol.ChannelID) inquiries.Inquiry {
	return fleet.Value(s, x.kind, channel.String(), x.Now())
}

// value returns the inquiry in a channel. Unlike in, it reads the state itself.
func (x *index) value(channel protocol.ChannelID) (v inquiries.Inquiry) {
	x.Folded(func(s *fleet.State) { v = x.in(s, channel) })
	return v
}

// all returns the inquiries of the record, the newest first. It is asked while the state is read.
func (x *index) all(s *fleet.State) []inquiries.Inquiry {
	return x.those(s, true)
}

// open returns the inquiries that are not known to be over. So a question about what waits now does
// not fold a thousand old ones. It is asked while the state is read.
func (x *index) open(s *fleet.State) []inquiries.Inquiry {
	return x.those(s, false)
}

// those returns the inquiries of the record, or only the open ones.
func (x *index) those(s *fleet.State, all bool) (list []inquiries.Inquiry) {
	for _, name := range s.Affairs(inquiries.KindName) {
		channel := protocol.ChannelID(name)
		if _, over := x.over.Load(channel); over && !all {
			continue
		}
		if v := x.in(s, channel); !v.Path.IsZero() {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b inquiries.Inquiry) int { return b.Path.Compare(a.Path) })
	return list
}

// find returns the inquiry that a person names. If `id` is "", that is the newest one that goes on,
// or else the newest of all. It is asked while the state is read.
func (x *index) find(s *fleet.State, id string) (inquiries.Inquiry, error) {
	if id == "" {
		for _, v := range x.open(s) {
			if !v.State.Over() {
				return v, nil
			}
		}
	}
	all := x.all(s)
	if id == "" {
		if len(all) > 0 {
			return all[0], nil
		}
		return inquiries.Inquiry{}, control.Errorf(control.KindNotFound, "begin one: parley frame QUESTION", "there is no inquiry")
	}
	var fit []inquiries.Inquiry
	for _, v := range all {
		if v.Path.String() == id || v.Path.RepoPath() == id {
			return v, nil
		}
		if strings.HasPrefix(v.Channel.String(), id) {
			fit = append(fit, v)
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return inquiries.Inquiry{}, control.Errorf(control.KindNotFound, "see all: parley frame list --all", "there is no inquiry %q", id)
	}
	return inquiries.Inquiry{}, control.Errorf(control.KindUsage, "give more of it: "+fit[0].Channel.String(), "%d inquiries begin with %q", len(fit), id)
}
