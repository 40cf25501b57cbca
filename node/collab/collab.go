// Package collab is what a node does for agents that work on topics together: it says what they
// have agreed on and how far they are in sync, and writes what they decide. What holds follows from
// the record alone (fleet/topics). Here it is only asked for, by and for the agents that this host
// serves.
package collab

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
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
	// Agents are the agents that this host serves.
	Agents func() []configs.Agent
	// Do carries out a command in the way in which somebody has asked for it, and returns what was
	// written. It returns an error too if that does not count.
	Do func(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error)
	// Show shows a message.
	Show func(ctx context.Context, r control.ShowRequest) (control.Message, error)
	// Messages are reported when they enter the state.
	Messages *feed.Feeds[protocol.Path]
	// Live reports whether a host is reachable at the moment.
	Live func(host protocol.Name) bool
	// Lend frees the slot of an agent while it waits for another one's answer.
	Lend func(agent protocol.Name) (takeBack func())
	// Mail takes in unverified mail of somebody whom no host serves. What is there already is not
	// taken in again.
	Mail func(*protocol.Message) error
	// Write writes the files of one agent, by the present record.
	Write func(agent string) (notebook.Written, error)
	// Prose is what people wrote about an agent and a partner outside the record.
	Prose func(agent, partner string) string
	// Wrong tells the operator what is wrong with an agent's contacts.json; "" says that nothing
	// is.
	Wrong func(about, text string)
}

// Collab answers the verbs about topics. Its methods may be called concurrently.
type Collab struct {
	Options
	kind     *affair.Kind[topics.Topic]
	policies *affair.Kind[policy.Policy]
	parties  *affair.Kind[parties.Party]
	contacts *contacts
	friends  friends
	talks    talks
	Posts    Posts

	mu     sync.Mutex             // guards what follows
	silent map[side]protocol.Path // for each side, its last check that was waited for in vain
}

// New makes the part of a node.
func New(o Options) *Collab {
	c := &Collab{Options: o, kind: topics.Kind(o.RecordID), policies: policy.Kind(o.RecordID), parties: parties.Kind(o.RecordID), contacts: newContacts(), silent: map[side]protocol.Path{}}
	c.friends = friends{Options: &c.Options, files: map[string]contactsFile{}}
	c.Posts = Posts{Options: &c.Options, places: make(chan struct{}, maxAtOnce)}
	return c
}

// policy is what the fleet has settled. It is asked while the state is read.
func (c *Collab) policy(s *fleet.State) policy.Policy {
	return fleet.Value(s, c.policies, policy.KindName, time.Time{})
}

// topic is the topic in a channel, as it is now. It is asked while the state is read.
func (c *Collab) topic(s *fleet.State, channel string, p policy.Policy) topics.Topic {
	t := fleet.Value(s, c.kind, channel, c.Now())
	if p.Reprompt() {
		t = t.Reprompted()
	}
	return t
}

// all yields the topics of the record that are or were open, with their channels. It is asked while
// the state is read.
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

// pieceMessages is how many messages are counted while the state is read once. pieceTopics is how
// many topics or parties are folded. All of a year at once would hold up the whole node.
const (
	pieceMessages = 2000
	pieceTopics   = 2
)

// Start does in the background, at the node's start, what the first question would otherwise wait
// for.
func (c *Collab) Start() (stop func()) { return wait.Background(c.ahead) }

// ahead counts the messages and folds the topics and parties that have come since the last time. It
// does so in pieces, so that reading the state after it is short. It leaves out what comes in the
// meantime and, if nobody waits for it any more, the rest.
func (c *Collab) ahead(ctx context.Context) {
	for done := false; !done && ctx.Err() == nil; {
		c.Folded(func(s *fleet.State) { done = c.contacts.ahead(s, pieceMessages) })
	}
	foldAhead(ctx, c, c.kind)
	foldAhead(ctx, c, c.parties)
}

// foldAhead folds all affairs of a kind, in pieces.
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
