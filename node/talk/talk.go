// Package talk answers people and agents of a host who send messages, and who look at what was said.
package talk

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/hosts"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Options are what the parts need of the node. All are required.
type Options struct {
	Config   configs.Config
	Words    string // the folder of the index of words
	Now      func() time.Time
	Log      zerolog.Logger
	Folded   folded.State
	Record   *gitsync.Record
	Decider  *writing.Decider
	Books    *books.Books
	Live     *presence.Live
	Asker    *presence.Asker
	Hosts    *hosts.Directory
	Actors   *agents.Actors
	Sessions *sessions.Book
	Messages *feed.Feeds[protocol.Path] // as they enter the state
	Happened *feed.Events
	Trail    *trail.Trail

	Worked func([]protocol.Path) [][]protocol.TraceStep // the steps that agents' work has taken here
	// Hinders is what else is in the way of a message here, as steps of its trace.
	Hinders func(protocol.Path) []protocol.TraceStep
	Bus     func() *bus.Bus                             // returns nil if there is none
	Lend    func(agent protocol.Name) (takeBack func()) // lets others run while an agent waits
	Owe     func(*fleet.State, *fleet.Item) []string    // the addressees whom no host serves any more
	// Meet makes a session of an agent program known that is called so, if the record does not know it
	// yet. It returns its address if another host has it.
	Meet  func(ctx context.Context, name string) (address string, err error)
	Gates func(*fleet.State, *fleet.Item) *control.GateChange // what a message asks a human, or answers

	Signed  func(d protocol.HumanDecision, sig string) error // whether a decision of this host's human is signed as it must be
	Forget  func() error                                     // removes prompts that are kept, and what quotes messages elsewhere
	Cleared string                                           // the file that says for which redacted texts that was done
}

// Talk is the parts of a node with which people and agents of its host talk, and look at what was said.
type Talk struct {
	Indexer  *search.Indexer
	Views    *Views
	Outbox   *outbox
	Inbox    *inbox
	Waiter   *waiter
	Logbook  *logbook
	Narrator *narrator
	Shelves  *shelves
	Finder   *finder
	Tracer   *tracer
	Redactor *redactor
}

type tools struct {
	*Options
	views *Views
}

// New makes the parts.
func New(o Options) *Talk {
	t := &tools{&o, &Views{&o}}
	indexer := search.NewIndexer(search.IndexerOptions{Dir: o.Words, RecordID: o.Record.ID(), Folded: o.Folded, Load: t.views.loadAt, Log: o.Log})
	out, trace := &outbox{tools: t}, &tracer{t}
	return &Talk{
		Indexer: indexer, Views: t.views, Outbox: out, Inbox: &inbox{t}, Waiter: &waiter{t}, Logbook: &logbook{t},
		Narrator: &narrator{t}, Shelves: &shelves{tools: t}, Finder: &finder{t, indexer}, Tracer: trace,
		Redactor: &redactor{tools: t, tracer: trace, outbox: out, indexer: indexer, came: make(chan struct{}, 1)},
	}
}
