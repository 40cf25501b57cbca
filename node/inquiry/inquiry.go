// Package inquiry carries out inquiries on a node. Their rules are in fleet/inquiries: what is
// to be done next follows from the record alone, and here it is done. The host that coordinates
// an inquiry makes its calls; a host of a member runs that member, keeps its result in a spool
// until all have ended, and tells it then (R53).
package inquiry

import (
	"context"
	"errors"
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

// Options is what the part needs of its node.
type Options struct {
	RecordID string
	Host     protocol.Name
	Human    protocol.Name
	Now      func() time.Time
	Folded   folded.State
	Log      zerolog.Logger
	// Agents are those that this host serves.
	Agents func() []configs.Agent
	// Do carries out a command as somebody asked for it, and returns what was written. It is
	// an error too where that does not count.
	Do func(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error)
	// Find is the message that a person names.
	Find func(message string) (*fleet.Item, error)
	// Load is a message with its words, and File its file as it is in the record.
	Load func(it *fleet.Item) (*protocol.Message, error)
	File func(it *fleet.Item) ([]byte, error)
	// Signed refuses what this host's human decides and has not signed, where they have a key.
	Signed func(d protocol.HumanDecision, sig string) error
	// Call runs the command of an agent that coordinates, for an inquiry.
	Call func(ctx context.Context, a configs.Agent, input string, because protocol.Path) door.Result
	// Member runs the command of a member, alone in its place.
	Member func(ctx context.Context, a configs.Agent, run MemberRun) door.Result
	// Walls reports whether this host can keep a member that runs as an agent from seeing what
	// is the node's and other members'. Where it cannot the member runs all the same.
	Walls func(a configs.Agent) bool
	// Owner is the user of the system as whom an agent runs that has one of its own.
	Owner func(a configs.Agent) (*place.Owner, error)
	// Remember keeps a finding as a memory of an agent, in the scope of a channel.
	Remember func(ctx context.Context, r control.AddMemoryRequest, as string) error
	// Seen is when a host was heard last, and whether it is there now.
	Seen func(host protocol.Name) (last time.Time, live bool)
	// LackedBy is what another host has said that it lacks, as bus.Presence has it.
	LackedBy func(host protocol.Name) string
	// Halted reports that no command may be run at the moment.
	Halted func() bool
	// Wrong tells what is wrong with an inquiry, "" for nothing any more.
	Wrong func(about, text string)
	// Messages are told as they enter the state.
	Messages *feed.Feeds[protocol.Path]
	// Spool is the folder in which results wait until they may be told, and Places that in
	// which members work.
	Spool, Places string
}

// Inquiries answers the verbs about inquiries, and carries them out. Its methods may be called
// concurrently.
type Inquiries struct {
	Options
	kind     *affair.Kind[inquiries.Inquiry]
	policies *affair.Kind[policy.Policy]
	spool    *spool
	nudge    chan struct{} // holds a token when all are to be looked at
	work     sync.WaitGroup
	taking   sync.RWMutex // read-held from when what is investigated is taken until it is used

	mu   sync.Mutex // guards what follows
	live map[protocol.ChannelID]*going
	over map[protocol.ChannelID]bool // what has ended is not looked at again
}

// New is the part of a node.
func New(o Options) *Inquiries {
	return &Inquiries{
		Options: o, kind: inquiries.Kind(o.RecordID), policies: policy.Kind(o.RecordID), spool: &spool{dir: o.Spool, ended: map[string]kept{}}, nudge: make(chan struct{}, 1),
		live: map[protocol.ChannelID]*going{}, over: map[protocol.ChannelID]bool{},
	}
}

// in is the inquiry in a channel. It is asked in a look at the state.
func (q *Inquiries) in(s *fleet.State, channel protocol.ChannelID) inquiries.Inquiry {
	return fleet.Value(s, q.kind, channel.String(), q.Now())
}

// value is the same, with a look of its own.
func (q *Inquiries) value(channel protocol.ChannelID) (v inquiries.Inquiry) {
	q.Folded(func(s *fleet.State) { v = q.in(s, channel) })
	return v
}

// all are the inquiries of the record, the newest first. It is asked in a look at the state.
func (q *Inquiries) all(s *fleet.State) []inquiries.Inquiry {
	return q.those(s, func(protocol.ChannelID) bool { return true })
}

// open are those that are not known to be over: a thousand old ones are not folded for a question
// about what waits now. It is asked in a look at the state.
func (q *Inquiries) open(s *fleet.State) []inquiries.Inquiry {
	return q.those(s, func(channel protocol.ChannelID) bool { return !q.hasEnded(channel) })
}

func (q *Inquiries) those(s *fleet.State, which func(protocol.ChannelID) bool) (all []inquiries.Inquiry) {
	for _, name := range s.Affairs(inquiries.KindName) {
		channel := protocol.ChannelID(name)
		if !which(channel) {
			continue
		}
		if v := q.in(s, channel); !v.Path.IsZero() {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b inquiries.Inquiry) int { return b.Path.Compare(a.Path) })
	return all
}

// find is the inquiry that a person names; "" is the newest one that goes on, else the newest.
// It is asked in a look at the state.
func (q *Inquiries) find(s *fleet.State, id string) (inquiries.Inquiry, error) {
	if id == "" {
		for _, v := range q.open(s) {
			if !v.State.Over() {
				return v, nil
			}
		}
	}
	all := q.all(s)
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

// settled is what the fleet has settled of a policy. It is asked in a look at the state.
func (q *Inquiries) settled(s *fleet.State, key string) string {
	value, _ := fleet.Value(s, q.policies, policy.KindName, time.Time{}).Value(key)
	return value
}

// served is an agent of this host that runs commands.
func (q *Inquiries) served(name string) (configs.Agent, bool) {
	for _, a := range q.Agents() {
		if a.Name.String() == name && a.Door == configs.DoorExec && len(a.Tiers) > 0 {
			return a, true
		}
	}
	return configs.Agent{}, false
}

// actor is who acts for an agent of this host. What this host does not declare speaks as the
// host (see inquiries.Member).
func (q *Inquiries) actor(agent string) inquiries.Actor {
	a := inquiries.Actor{Record: q.RecordID, Me: q.Host.String(), Host: q.Host}
	if _, served := q.served(agent); served {
		a.Me = agent
	}
	return a
}

// human is this host's human as who acts. It is asked in a look at the state.
func (q *Inquiries) human(s *fleet.State, hsig string) inquiries.Actor {
	a := inquiries.Actor{Record: q.RecordID, Me: q.Human.String(), Host: q.Host, Human: q.Human.String(), Hsig: hsig}
	if host, joined := s.Keys().Host(q.Host); joined {
		if key, counts, _ := host.HumanKeyNow(a.Human); counts {
			a.Key = key.Key
		}
	}
	return a
}

// problem is an error of a command as it is told: a refusal says what to try.
func problem(doing string, err error) error {
	var r *fleet.Refusal
	if err == nil || !errors.As(err, &r) {
		return err
	}
	kinds := map[fleet.RefusalKind]control.Kind{
		fleet.Forbidden: control.KindRefused, fleet.Unknown: control.KindNotFound, fleet.Senseless: control.KindUsage,
	}
	return control.Errorf(kinds[r.Kind], r.Hint, "cannot %s: %s", doing, r.Reason)
}
