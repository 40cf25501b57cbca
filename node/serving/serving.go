package serving

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/promptlog"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/protocol"
)

// Options say for which host agents are served, and with what. All parts share them.
type Options struct {
	Config     configs.Config
	Home       configs.Home
	Host       protocol.Name
	Human      protocol.Name // of this host
	BegunIn    string        // where commands run for which no folder is named
	Started    time.Time
	Now        func() time.Time
	Log        zerolog.Logger
	RetryPause time.Duration        // after the first failed attempt; 0: as usual
	SyncRuns   func(*os.File) error // makes the log of runs survive a power cut; nil: (*os.File).Sync

	Attendance
	Folded    folded.State
	Record    Record
	Books     *books.Books
	Live      *presence.Live
	Indexer   *search.Indexer
	Messages  *feed.Feeds[protocol.Path]
	Events    *feed.Events
	Notices   *notices.Notices
	Metrics   *metrics.Metrics // nil: nobody reads them
	Trail     *trail.Trail
	Keepers   *keeper.Pool // nil: commands run alone
	Callers   *caller.Book
	Doorsteps *agents.Doorsteps
	Key       func() *homes.Key // the key from which fences are made
	Brought   *atomic.Int64     // messages that git has brought since the start

	Act  func(ctx context.Context, c fleet.Command, about protocol.Path) ([]protocol.Path, error) // stores what the command decides
	Do   func(ctx context.Context, c affair.Command) ([]protocol.Path, error)
	Find func(message string) (*fleet.Item, error) // finds a message by a path in the form that a person gives
	Load func(*fleet.Item) (*protocol.Message, error)
	// Shown is a message as it is shown in lists, even if its text cannot be read.
	Shown func(*fleet.Item) control.Message
	// Actor is the one who acts, or an error if the caller may not act as that one.
	Actor func(by control.Caller, as string) (fleet.Who, error)
	// Busy reports whether an agent has said that it is busy in the party of a channel before which
	// a message came.
	Busy func(s *fleet.State, agent string, of protocol.ChannelID) bool
	// There says in the agent's parties that it has come, or is away.
	There        func(ctx context.Context, by control.Caller, agent protocol.Name, away bool) error
	Halted       func() bool                     // reports whether no command may be run at the moment
	Publish      func(ctx context.Context) error // puts into the record what this host says of itself
	Announce     func()                          // says on the bus who is there
	AnnounceSoon func()
	Changed      func() // an agent is served in another way
}

// Record is what the record has to do where agents are served.
type Record interface {
	ID() string
	Tip() string
	Status() gitsync.Status
	Fetch(ctx context.Context) error
	FilesOf(commit string) (*gitsync.Files, error)
	Get(protocol.Path) ([]byte, error)
	ReadFile(path string) (data []byte, there bool, err error)
	Claim(ctx context.Context, name, text string) (bool, error)
	Unclaim(ctx context.Context, name string) error
	Claims() ([]gitsync.Claimed, error)
}

// Serving serves the agents of this host. It answers the verbs about them.
type Serving struct {
	*doors
	given     *promptlog.Log // what commands of agents were given
	attention *attention
	exams     *examinations
}

// tools are what those have in common who run commands.
type tools struct {
	*Options
	steps    steps
	slots    *agents.Slots // for commands
	runs     *runlog.Log   // what has become of runs of agents
	budgets  *budgets
	prompts  *prompts
	profiles *profiles
	Runner   *Runner
}

// New makes what serves agents. Nothing runs before Start.
func New(o Options) (sv *Serving, err error) {
	t := &tools{Options: &o, steps: steps{log: o.Log, metrics: o.Metrics, trail: o.Trail}, slots: agents.NewSlots(o.Config.Commands())}
	sv = &Serving{doors: &doors{tools: t, workers: map[protocol.Name]*worker{}}}
	if t.runs, err = runlog.Open(o.Home.Runs(), o.Now, o.SyncRuns); err != nil {
		return nil, err
	}
	if sv.given, err = promptlog.Open(o.Home.Prompts(), o.Now); err != nil {
		return nil, errors.Join(err, t.runs.Close())
	}
	t.profiles = openProfiles(t.Options)
	t.prompts = &prompts{Options: t.Options, profiles: t.profiles, given: sv.given, runs: t.runs}
	t.Runner = &Runner{Options: t.Options, walled: map[string]bool{}}
	t.budgets = newBudgets(t.Options, t.runs)
	sv.claims = newClaims(t.Options, newVigil(o.Now, o.Live, o.Started), sv.doors)
	sv.attention = &attention{tools: t, older: sv.doors.older, again: make(chan struct{}, 1), desks: map[protocol.Name]*callDesk{}}
	sv.exams = &examinations{Options: t.Options, older: sv.doors.older, again: make(chan struct{}, 1), at: map[exam]bool{}}
	return sv, nil
}

// Close undoes New.
func (sv *Serving) Close() error { return errors.Join(sv.runs.Close(), sv.given.Close()) }

// ForgetPrompts removes the prompts that are kept.
func (sv *Serving) ForgetPrompts() error { return sv.given.Forget() }

// Bindings are the verbs, each with the function that answers it.
func (sv *Serving) Bindings() []control.Binding {
	dead := &deadLetters{Options: sv.Options, claims: sv.claims}
	trials := &trials{Options: sv.Options, prompts: sv.prompts, Runner: sv.Runner}
	work := &workload{Options: sv.Options, doors: sv.doors}
	return []control.Binding{
		control.Agents.By(sv.Agents),
		control.ShowAgent.By(sv.Show),
		control.AddAgent.By(sv.Add),
		control.SetAgent.By(sv.Set),
		control.RemoveAgent.By(sv.Remove),
		control.PauseAgent.By(sv.Pause),
		control.Wake.By(sv.Wake),
		control.SetPresence.For(sv.say),
		control.ActorProfile.By(sv.profiles.Profile),
		control.ShowPrompt.For(sv.prompts.Prompt),
		control.TestAgent.By(trials.Test),
		control.Open.By(trials.Open),
		control.Queue.By(work.list),
		control.Cancel.For(work.cancel),
		control.DeadLetters.By(dead.list),
		control.RetryDead.For(dead.retry),
		control.DropDead.For(dead.drop),
	}
}

// Start serves agents until stop is called.
func (sv *Serving) Start() (stop func()) {
	stops := []func(){sv.claims.start(), sv.doors.start(), sv.attention.start(), sv.exams.start()}
	return func() {
		for i := range stops {
			stops[len(stops)-1-i]()
		}
	}
}

// Look has it checked which agents are to be woken, and which checks are to be answered.
func (sv *Serving) Look() {
	sv.attention.look()
	sv.exams.look()
}

// Fill queues what waits for agents and is not queued yet.
func (sv *Serving) Fill() { sv.doors.fillAll("") }

// RosterMoved says that a host may now serve other agents. It may be called while the state is
// read.
func (sv *Serving) RosterMoved() { sv.claims.rosterMoved() }

// LookForClaims claims the work of hosts that are gone, as is done now and then. It returns the
// number of agents whose mail was looked through.
func (sv *Serving) LookForClaims(ctx context.Context) (searched int) {
	searched = sv.claims.look(ctx)
	sv.claims.settle(ctx)
	return searched
}

// Owe notes a message of this host that nobody may be there to answer, and returns the names of
// those addressees. It is asked while the state is read.
func (sv *Serving) Owe(s *fleet.State, it *fleet.Item) []string { return sv.claims.owe(s, it) }

// Usage is how many commands run and wait here, and how many may run.
func (sv *Serving) Usage() (running, waiting, most int) { return sv.slots.Usage() }

// Warnings are what status says of mail that waits for a claim, and of profiles.
func (sv *Serving) Warnings() (all []string) {
	all = sv.claims.warnings()
	sv.Folded(func(s *fleet.State) { all = append(all, sv.profiles.warnings(s, sv.Roster.All())...) })
	return all
}

// Counts are how many messages wait for an agent's command and how many it is working on, with the
// time of the oldest that waits. It is asked while the state is read.
func (sv *Serving) Counts(agent protocol.Name) (waiting, working int, oldest time.Time) {
	w := sv.doors.workers[agent]
	if w == nil {
		return 0, 0, oldest
	}
	for p, t := range w.queue.tasks {
		if date := p.Time(); t.state != taken && (oldest.IsZero() || date.Before(oldest)) {
			oldest = date
		}
	}
	return w.queue.waiting(), w.queue.count[taken], oldest
}
