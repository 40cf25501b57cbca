// Package collab is what a node does for agents that work on topics together: it says what
// they have agreed on and how far they are in sync, and writes what they decide. What holds
// follows from the record alone (fleet/topics); here it is only asked for, by and for one of
// those whom this host serves.
package collab

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/issues"
	"github.com/parleyfleet/parley/node/notebook"
	"github.com/parleyfleet/parley/protocol"
)

// Options is what the part needs of its node.
type Options struct {
	RecordID string
	Host     protocol.Name
	Human    protocol.Name
	Now      func() time.Time
	Folded   folded.State
	// Agents are those that this host serves.
	Agents func() []configs.Agent
	// Do carries out a command as somebody asked for it, and returns what was written. It is
	// an error too where that does not count.
	Do func(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error)
	// Messages are told as they enter the state.
	Messages *feed.Feeds[protocol.Path]
	// Live reports whether a host is there at the moment.
	Live func(host protocol.Name) bool
	// Lend frees the slot of an agent while it waits for another one's answer.
	Lend func(agent protocol.Name) (takeBack func())
	// Write writes the files of one agent as the record is now.
	Write func(agent string) (notebook.Written, error)
	// Prose is what people wrote of an agent and a partner beside the record.
	Prose func(agent, partner string) string
	// Wrong tells the operator what is wrong with an agent's contacts.json; "" that nothing is.
	Wrong func(agent, text string)
}

// Collab answers the verbs about topics. Its methods may be called concurrently.
type Collab struct {
	Options
	kind     *affair.Kind[topics.Topic]
	policies *affair.Kind[policy.Policy]
	parties  *affair.Kind[parties.Party]
	contacts *contacts
	friends  friends
	gh       issues.GH

	places  chan struct{} // one for each topic that asks gh
	posting sync.Mutex    // held while something is told on an issue

	mu     sync.Mutex             // guards what follows
	silent map[side]protocol.Path // the last check of each that was waited for in vain
}

// New is the part of a node.
func New(o Options) *Collab {
	return &Collab{Options: o, kind: topics.Kind(o.RecordID), policies: policy.Kind(o.RecordID), parties: parties.Kind(o.RecordID), contacts: newContacts(), friends: friends{files: map[string]contactsFile{}}, places: make(chan struct{}, maxAtOnce), silent: map[side]protocol.Path{}}
}

// policy is what the fleet has settled. It is asked in a look at the state.
func (c *Collab) policy(s *fleet.State) policy.Policy {
	return fleet.Value(s, c.policies, policy.KindName, time.Time{})
}

// topic is the one in a channel, as it stands now. It is asked in a look at the state.
func (c *Collab) topic(s *fleet.State, channel string, p policy.Policy) topics.Topic {
	t := fleet.Value(s, c.kind, channel, c.Now())
	if p.Reprompt() {
		t = t.Reprompted()
	}
	return t
}

// all yields the topics of the record that are open or were, with their channels. It is
// asked in a look at the state.
func (c *Collab) all(s *fleet.State) func(yield func(protocol.ChannelID, topics.Topic) bool) {
	return func(yield func(protocol.ChannelID, topics.Topic) bool) {
		p := c.policy(s)
		for _, name := range s.Affairs(c.kind.Name) {
			if t := c.topic(s, name, p); !t.Opened.IsZero() && !yield(protocol.ChannelID(name), t) {
				return
			}
		}
	}
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

// pieceMessages and pieceTopics are how many messages are counted and how many topics or
// parties are folded in one look: a year of them would hold up the whole node.
const (
	pieceMessages = 2000
	pieceTopics   = 2
)

// Start does at the node's start what the first question would otherwise wait for, beside
// all else.
func (c *Collab) Start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { c.ahead(ctx) }) // stop ends it
	return func() {
		cancel()
		running.Wait()
	}
}

// ahead has all messages counted and all topics and parties folded that came since the last
// look, in pieces, so that the look that follows is short. What comes meanwhile is left to
// that one, and so is the rest where nobody waits for it any more.
func (c *Collab) ahead(ctx context.Context) {
	for done := false; !done && ctx.Err() == nil; {
		c.Folded(func(s *fleet.State) { done = c.contacts.ahead(s, pieceMessages) })
	}
	foldAhead(ctx, c, c.kind)
	foldAhead(ctx, c, c.parties)
}

// foldAhead has all affairs of a kind folded, in pieces.
func foldAhead[V any](ctx context.Context, c *Collab, kind *affair.Kind[V]) {
	var names []string
	c.Folded(func(s *fleet.State) { names = s.Affairs(kind.Name) })
	for piece := range slices.Chunk(names, pieceTopics) {
		if ctx.Err() != nil {
			return
		}
		c.Folded(func(s *fleet.State) {
			for _, name := range piece {
				fleet.Value(s, kind, name, c.Now())
			}
		})
	}
}
