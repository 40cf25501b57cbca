package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	inquiryrules "github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/redactions"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/catchup"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/entry"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/hosts"
	"github.com/parleyfleet/parley/node/inquiry"
	"github.com/parleyfleet/parley/node/invite"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/notebook"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/notify"
	"github.com/parleyfleet/parley/node/party"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/record"
	"github.com/parleyfleet/parley/node/seats"
	"github.com/parleyfleet/parley/node/serving"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/node/statecache"
	"github.com/parleyfleet/parley/node/talk"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Options say which node to open. Home and Version are required.
type Options struct {
	Home    configs.Home
	Version string
	Log     zerolog.Logger
	Now     func() time.Time // nil: time.Now

	// Progress is called while a record is read without the cache. It is told how many of about how
	// many messages have been read; nil: nobody is told.
	Progress func(done, total int)

	// Dir is the folder in which the node was started. Agents that have no folder run there, as long
	// as it is there; "": in the user's home.
	Dir string

	// Moved says that the home belongs in the place where it is now, and that the home of which it
	// looks like a copy is gone for good.
	Moved bool

	// Keeper has keepers run the commands of agents: everything that such a command starts is then
	// known as that agent's, on Linux.
	Keeper bool

	// Words are those of commands: no session of an agent program is called so.
	Words []string
	// Unwatched says that what an agent program starts counts as its user's own, also if the program
	// is no session known to the node.
	Unwatched bool

	anew       bool                 // everything that can be computed is thrown away first
	acceptLoss bool                 // what the disk has lost is given up
	remote     *string              // used instead of that of the configuration, and runs of git may take long; nil: that of the configuration
	queueBytes int                  // see bus.Options
	builtin    bool                 // see gitsync.Options
	affairs    []affair.Any         // folded besides those that every node folds
	retryPause time.Duration        // 0: as usual
	syncRuns   func(*os.File) error // makes the log of runs survive a power cut; nil: (*os.File).Sync
	lookTimes  int                  // how many times longer than usual a start may look around; 0: once
}

// Node is one host of a fleet.
type Node struct {
	place
	company
	servants
	gaps
	together
	care
	signsWith  atomic.Pointer[homes.Key]      // this host's key
	verbs      control.Answers                // what answers each verb
	bus        atomic.Pointer[bus.Bus]        // nil until Run starts it
	natsBus    atomic.Pointer[configs.System] // the existing NATS system in use; nil if the server is our own
	queueBytes int                            // bytes that may wait where messages come in from the bus; 0: the default of bus
	stop       context.CancelFunc             // ends Run; nil until then
	notices    *notices.Notices               // what status warns of
	events     *feed.Events
	messages   feed.Feeds[protocol.Path] // as they enter the state
	steps      record.Steps              // of messages, as followers are told of them
	metricsAt  string                    // the URL where metrics are read, "" for none; set before Run answers anybody
	hosts      *hosts.Hosts              // the parts about hosts, their keys and humans
	talk       *talk.Talk                // the parts with which people and agents of this host talk
	storing    sync.RWMutex              // held for reading from the storing of messages until they are folded

	folded folded.State // reads the state, for parts
	mu     sync.Mutex   // guards what follows
	state  *fleet.State
}

// place is where and as whom a node runs.
type place struct {
	home     configs.Home
	cfg      configs.Config
	version  string
	log      zerolog.Logger
	now      func() time.Time
	started  time.Time
	lock     *flock.Flock
	standing homes.Standing // which folder the home is
	begunIn  string         // see Options.Dir
}

// company knows which other hosts are there.
type company struct {
	live     *presence.Live
	lookout  *presence.Lookout
	twins    *presence.Twins
	asker    *presence.Asker
	presence *presence.Presence
	invites  *invite.Book // who may join by a line
}

type servants struct {
	roster     agents.Roster // the agents that are served here
	actors     *agents.Actors
	callers    *caller.Book
	keepers    *keeper.Pool      // the keepers of commands; nil: commands run alone
	doorsteps  *agents.Doorsteps // sockets of agents that run as other users
	sessions   *sessions.Book    // the sessions of agents that ask for their mail
	seats      *seats.Book       // the sessions of agent programs
	serving    *serving.Serving
	attendance serving.Attendance
	brought    atomic.Int64 // messages that git has brought since the start
}

// gaps let messages in from the bus, and get what it has lost.
type gaps struct {
	held     *entry.Held
	refusals *entry.Refusals
	entry    *entry.Entry
	mender   *catchup.Mender
}

// together carries out what agents and humans do in topics, parties and inquiries, and tells of it.
type together struct {
	collab    *collab.Collab // what agents work on together
	parties   *party.Parties
	inquiries *inquiry.Inquiries
	notify    *notify.Notifier // notifies the human of this host
	notebook  *notebook.Keeper
}

// care is what keeps the record whole, and the state that is folded from it.
type care struct {
	record      *gitsync.Record
	carrying    *carrying // how hosts carry it to each other
	anchor      keys.Anchor
	system      protocol.ChannelID // the channel where the hosts and their keys are told
	writer      *writing.Writer
	decider     *writing.Decider
	books       *books.Books
	flaws       *books.Flaws // of files of the record that are no messages
	cache       *statecache.Cache
	freezer     *statecache.Freezer
	halts       record.Halts
	losses      *record.Losses
	hearing     *record.Hearing
	tidings     *record.Tidings
	withholding *record.Withholding
	audits      *record.Audits
	recordView  *record.View
}

// Open takes the home's lock, opens its record and folds the fleet's state from it. After Open,
// nothing runs yet, and no other host is told. Close undoes it.
func Open(ctx context.Context, o Options) (_ *Node, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	events := feed.NewEvents(o.Now)
	n := &Node{
		place:   place{home: o.Home, begunIn: o.Dir, version: o.Version, log: o.Log, now: o.Now, started: o.Now()},
		company: company{live: presence.NewLive(o.Now, events), lookout: presence.NewLookout(o.Moved, o.lookTimes)},
		gaps:    gaps{held: entry.NewHeld(o.Now), refusals: entry.NewRefusals(o.Log, o.Now)},
		care:    care{cache: statecache.New(o.Home.StateCache(), o.kinds)},
		events:  events, queueBytes: o.queueBytes, notices: notices.New(o.Log, o.Now, events),
	}
	n.sessions = sessions.New(o.Now, nil)
	n.steps.Trail = trail.New(o.Now)
	n.folded = func(read func(*fleet.State)) {
		n.mu.Lock()
		defer n.mu.Unlock()
		read(n.state)
	}
	n.attendance = serving.Attendance{Roster: &n.roster, Sessions: n.sessions}
	n.asker = presence.NewAsker(n.currentBus, n.live, n.now)
	n.flaws, n.doorsteps = books.NewFlaws(n.notices), agents.NewDoorsteps(o.Keeper)
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	opened, err := n.openHome(o)
	if err != nil {
		return nil, err
	}
	if err := n.openRecord(ctx, o); err != nil {
		return nil, err
	}
	if err := n.openServing(o); err != nil {
		return nil, err
	}
	n.openAffairs()
	n.audits = &record.Audits{Record: n.record, Folded: n.folded, Now: n.now}
	n.withholding = &record.Withholding{
		Host: n.cfg.Alias, System: n.system, Record: n.record, Shared: n.record.Shared, Folded: n.folded, Views: n.talk.Views, Say: n.decider.Say, Log: n.log,
		Heeded: map[protocol.Path]bool{}, Logged: map[protocol.Path]string{},
	}
	n.recordView = &record.View{Dir: n.home.Record(), Record: n.record, Folded: n.folded}
	n.losses.Name()
	if o.acceptLoss {
		if err := n.record.AcceptLoss(ctx); err != nil {
			return nil, err
		}
	}
	if o.anew {
		if err := n.discard(); err != nil {
			return nil, err
		}
	}
	n.openCatchup() // before the fold: what the record tells during a long fold may leave holes
	if err := n.fold(ctx, o.Progress); err != nil {
		return nil, err
	}
	if err := n.hosts.Rotator.Finish(); err != nil {
		return nil, err
	}
	n.notices.Opened(opened)
	if n.invites, err = (inviter{n}).open(); err != nil {
		return nil, err
	}
	if n.verbs, err = control.BindAll(writing.AsError, append(n.bindings(), n.serving.Bindings()...)...); err != nil {
		return nil, err
	}
	return n, nil
}

// openHome checks the home, takes its lock, and reads what the operator decided. It returns the
// files that were open to other users before.
func (n *Node) openHome(o Options) (opened []configs.Opened, err error) {
	if err := n.home.Check(); err != nil {
		return nil, err
	}
	noted, err := homes.CheckOrigin(n.home, o.Moved)
	if err != nil {
		return nil, err
	}
	cfg, err := homes.LoadConfig(n.home)
	if err != nil {
		return nil, err
	}
	if o.remote != nil {
		cfg.Remote = *o.remote
	}
	n.cfg, n.steps.Log = cfg, n.log
	if cfg.Metrics != "" {
		n.steps.Metrics = metrics.New(n.version, watched{n}, door.Failures()...)
	}
	n.twins = presence.NewTwins(cfg.Alias, n.started, n.now, n.log, n.notices, n.lookout)
	if n.lock, err = homes.TakeLock(n.home); err != nil {
		return nil, err
	}
	if n.standing, err = homes.StandOn(n.home); err != nil {
		return nil, err
	}
	if opened, err = n.home.Tighten(); err != nil {
		return nil, err
	}
	if !noted {
		if err := homes.NoteOrigin(n.home, n.now(), o.Moved, n.log); err != nil {
			return nil, err
		}
	}
	served, err := configs.ReadAgents(n.home.Agents())
	if err != nil {
		return nil, err
	}
	if o.Keeper {
		n.keepers = &keeper.Pool{}
	}
	n.roster.Set(served)
	if err := n.doorsteps.CheckAll(served); err != nil {
		return nil, err
	}
	if err := agents.CheckLimits(o.Keeper, served...); err != nil {
		return nil, err
	}
	if err := n.openCallers(o); err != nil {
		return nil, err
	}
	if o.Keeper {
		keeper.EndLeft(n.callers.RunPrefix)
		if count := n.callers.EndLeft(); count > 0 {
			n.log.Warn().Int("processes", count).Msg("ended what commands of agents had left when this node and their keepers were killed")
		}
	}
	key, err := homes.HostKey(n.home)
	if err != nil {
		return nil, control.Errorf(control.KindFailed, "bring it back from a backup; without it this host cannot come back, only join with a new home "+
			"under another name: parley --home DIR join URL --alias NAME", "%v", err)
	}
	n.signsWith.Store(key)
	return opened, nil
}

func (n *Node) openServing(o Options) (err error) {
	n.serving, err = serving.New(serving.Options{
		Config: n.cfg, Home: n.home, Host: n.cfg.Alias, Human: n.cfg.Human, BegunIn: n.begunIn, Started: n.started, Now: n.now, Log: n.log,
		RetryPause: o.retryPause, SyncRuns: o.syncRuns, Attendance: n.attendance, Folded: n.folded, Record: n.record, Books: n.books, Live: n.live,
		Indexer: n.talk.Indexer, Messages: &n.messages, Events: n.events, Notices: n.notices, Metrics: n.steps.Metrics, Trail: n.steps.Trail, Keepers: n.keepers,
		Callers: n.callers, Doorsteps: n.doorsteps, Key: n.signsWith.Load, Brought: &n.brought,
		Act: n.decider.Store, Do: n.decider.Do, Find: n.talk.Views.Item, Load: n.talk.Views.Load, Shown: n.talk.Views.Listed, Actor: n.actors.Actor,
		Busy: func(s *fleet.State, agent string, of protocol.ChannelID) bool { return n.parties.Busy(s, agent, of) },
		There: func(ctx context.Context, by control.Caller, agent protocol.Name, away bool) error {
			return n.parties.There(ctx, by, agent, away)
		},
		Halted:  func() bool { return n.halts.Any() || !n.lookout.MayRun() },
		Publish: n.hosts.Own.Publish, Announce: n.presence.Announce, AnnounceSoon: n.presence.AnnounceSoon, Changed: func() { n.inquiries.Look() },
	})
	return err
}

// openAffairs makes the parts that carry out affairs, and those that tell humans of them.
func (n *Node) openAffairs() {
	n.collab = collab.New(collab.Options{
		RecordID: n.record.ID(), Host: n.cfg.Alias, Human: n.cfg.Human, Now: n.now, Folded: n.folded, Agents: n.roster.All, Do: n.decider.DoFor,
		Show: n.talk.Views.Show, Messages: &n.messages, Lend: n.serving.Lend, Live: func(host protocol.Name) bool { _, live := n.live.PresenceOf(host); return live },
		Write: func(agent string) (notebook.Written, error) { return n.notebook.Write(agent) },
		Prose: func(agent, partner string) string { return n.notebook.Prose(agent, partner) },
		Wrong: n.notices.Stands, Mail: n.mail,
	})
	n.parties = party.New(party.Options{
		RecordID: n.record.ID(), Host: n.cfg.Alias, Human: n.cfg.Human, Now: n.now, Folded: n.folded, Agents: n.roster.All, Do: n.decider.DoFor,
		File: n.talk.Views.File, Signed: n.hosts.Humans.Signed, Post: n.collab.Posts.Post,
		Send: func(ctx context.Context, by control.Caller, r control.SendRequest) (control.Message, error) {
			return n.talk.Outbox.Send(ctx, by, r)
		},
		Messages: &n.messages, Events: n.events, Current: n.home.Current(), Log: n.log.With().Str("part", "parties").Logger(),
		Seen: n.lastSeen,
		At: func(host protocol.Name, agent string) control.AgentState {
			if host == n.cfg.Alias {
				return n.attendance.StateOf(agent)
			}
			return n.hosts.Directory.PresenceOf(host, protocol.Name(agent))
		},
	}, n.collab)
	n.inquiries = inquiry.New(inquiry.Options{
		RecordID: n.record.ID(), Host: n.cfg.Alias, Human: n.cfg.Human, Now: n.now, Folded: n.folded, Agents: n.roster.All, Do: n.decider.DoFor,
		Find: n.talk.Views.Item, Load: n.talk.Views.Load, File: n.talk.Views.File, Signed: n.hosts.Humans.Signed, Messages: &n.messages, Log: n.log.With().Str("part", "inquiries").Logger(),
		Call: n.serving.Runner.Call, Count: n.serving.Count, Member: n.serving.Runner.Member, Walls: n.serving.Runner.CanWall, Owner: agents.OwnerOf,
		Remember: func(ctx context.Context, r control.AddMemoryRequest, as string) error {
			r.As = as
			_, err := n.talk.Shelves.AddMemory(ctx, control.Itself(), r)
			return err
		},
		LackedBy: func(host protocol.Name) string {
			last, _ := n.live.PresenceOf(host)
			return last.Lacks
		},
		StuckAt: func(host protocol.Name) []protocol.Stuck {
			last, _ := n.live.PresenceOf(host)
			return last.Stuck
		},
		Seen: n.lastSeen, Halted: n.serving.Halted, Spool: n.home.Spool(), Places: n.home.Members(), Home: n.home.Dir,
		Wrong: n.notices.Stands,
	})
	n.notify = notify.New(notify.Options{
		Commands: n.cfg.Notify, Config: n.home.Config(), Host: n.cfg.Alias, Dir: n.begunIn, File: n.home.Notified(), Now: n.now,
		Waits: func(gate string) (waits bool) {
			n.folded(func(s *fleet.State) {
				if p, err := protocol.ParsePath(gate); err == nil {
					g, open := n.gateAt(s, p)
					waits = open && g.Outcome != "deferred"
				}
			})
			return waits
		},
		Changed: n.notifyOfGates, Wrong: n.notices.Stands,
	})
	n.notebook = notebook.New(notebook.Options{
		Agents: n.roster.All, Book: n.collab.Book, Concerned: n.collab.Concerned, Messages: &n.messages, Log: n.log.With().Str("part", "notebook").Logger(),
		Wrong: n.notices.Stands,
	})
}

func (n *Node) openRecord(ctx context.Context, o Options) error {
	n.tidings = &record.Tidings{Events: n.events, Steps: &n.steps, Live: n.live, Lookout: n.lookout, Storing: &n.storing, Bus: n.currentBus, Notices: n.notices, Log: n.log,
		Placed: func() { n.presence.TakePlace(); n.presence.Announce() }}
	n.carrying = newCarrying(n)
	remote, err := homes.RemoteOf(n.home, n.cfg)
	if err != nil {
		return err
	}
	opened, err := homes.OpenRecord(ctx, n.home, n.cfg.Alias, gitsync.Options{
		Dir:           n.home.Dir,
		Remote:        remote,
		Dial:          n.carrying.Dial,
		Others:        n.carrying.others,
		Builtin:       o.builtin,
		Author:        homes.Author(n.cfg),
		FetchInterval: n.cfg.FetchInterval,
		PushInterval:  n.cfg.PushEvery(),
		Grace:         n.cfg.CourierGrace,
		Patient:       o.remote != nil,
		Looking:       o.Progress,
		Log:           n.log.With().Str("part", "record").Logger(),
		Now:           n.now,
		Prefer:        n.prefer,
		Signed:        n.signed,
		Known:         n.known,
		Describe:      record.Describe,
		Here:          n.standing.Check,
		Check:         func(read func(string) ([]byte, bool, error)) error { return books.CheckIdentity(read, n.cfg) },
		Events: gitsync.Events{
			Arrived:  n.arrived,
			Arriving: n.arriving,
			Files:    func(paths []string) { n.books.Changed(paths) },
			Recorded: n.tidings.Recorded,
			Pushed:   n.tidings.Pushed,
			Moved:    n.tidings.Moved,
			Trouble:  n.tidings.Trouble,
			Damaged:  func(why string) { n.losses.Damaged(why) },
			Stuck:    n.tidings.Stuck,
			Notice:   n.notices.News,
		},
	}, n.log)
	if err != nil {
		return err
	}
	n.record = opened
	n.writer = writing.New(writing.Options{
		Host: n.cfg.Alias, Limit: n.cfg.MessageLimit, RecordID: opened.ID(), Record: opened, Publish: n.publish, SignsWith: &n.signsWith, Storing: &n.storing,
		Examine: func(p protocol.Path, data []byte) fleet.Examined { return n.state.ExamineOwn(p, data) },
		Last: func() (last *keys.File, ok bool) {
			n.folded(func(s *fleet.State) { last, ok = s.Chains.LastOf(n.cfg.Alias) })
			return last, ok
		},
	})
	n.decider = writing.NewDecider(n.folded, n.now, n.writer, func(ctx context.Context, name string) error { return n.seats.Declare(ctx, name) })
	n.hosts = hosts.New(hosts.Options{
		Home: n.home, Config: n.cfg, Version: n.version, Started: n.started, Now: n.now, Log: n.log, Folded: n.folded, Record: opened,
		Writer: n.writer, Decider: n.decider, SignsWith: &n.signsWith, Bus: n.currentBus, NatsBus: &n.natsBus, Live: n.live, Lookout: n.lookout,
		Asker: n.asker, Announce: func() { n.presence.Announce() }, Notices: n.notices, Roster: &n.roster, Actor: n.actors.Actor,
		Find: func(message string) (*fleet.Item, error) { return n.talk.Views.Item(message) },
		Trace: func(ctx context.Context, host protocol.Name, question []byte) ([]byte, error) {
			return n.talk.Tracer.Answer(ctx, host, question)
		},
		Heed: func(ctx context.Context) { n.withholding.Heed(ctx) }, Served: func() []control.Agent { return n.serving.Views("") }, Waiting: n.gatesWaiting,
		AtWork: func() int { return n.serving.AtWork() }, Nudge: func() { n.serving.Nudge() }, Drain: serving.DrainTime,
	})
	if err := books.NoteIdentity(opened); err != nil {
		return err
	}
	start, err := homes.NextStart(n.home, n.started)
	if err != nil {
		n.log.Warn().Err(err).Msg("other hosts may take this start for an earlier one, if the clock was put back")
	}
	n.presence = presence.New(presence.Options{
		Host: n.cfg.Alias, Version: n.version, Started: n.started, Start: start, Now: n.now, Log: n.log,
		Bus: n.currentBus, Live: n.live, Lookout: n.lookout, Twins: n.twins, Asker: n.asker, Record: opened, Agents: n.roster.Names, Unsaid: n.roster.Unsaid, At: n.attendance.States,
		Lacks: func() string { return n.inquiries.Pool.Lacks() }, Stuck: func() []protocol.Stuck { return n.inquiries.Stuck() }, Waits: n.waits, AnswerTwin: n.hosts.Own.AnswerTwin,
	})
	n.hearing = &record.Hearing{
		Host: n.cfg.Alias, Human: n.cfg.Human, Folded: n.folded, Roster: &n.roster, Live: n.live, Trail: n.steps.Trail, Bus: n.currentBus, Log: n.log,
	}
	n.books = books.New(books.Options{
		Config: n.cfg, Record: opened, Folded: n.folded, Log: n.log, Notices: n.notices,
		RenderOwn: n.hosts.Own.Render,
		Lost: func(paths []string) {
			if err := opened.NoteLost(paths); err != nil {
				n.log.Error().Err(err).Msg("the next start does not know all that was lost")
			}
			n.losses.Tell()
		},
	})
	if n.anchor, err = anchorOf(opened); err != nil {
		return err
	}
	n.state, n.system = n.cache.Empty(n.anchor), protocol.SystemChannel(opened.ID())
	n.talk = talk.New(talk.Options{
		Config: n.cfg, Words: n.home.SearchIndex(), Now: n.now, Log: n.log, Folded: n.folded, Record: opened, Decider: n.decider, Books: n.books, Live: n.live,
		Asker: n.asker, Hosts: n.hosts.Directory, Actors: n.actors, Sessions: n.sessions, Messages: &n.messages, Happened: n.events, Trail: n.steps.Trail,
		Worked:  func(paths []protocol.Path) [][]protocol.TraceStep { return n.serving.Traces(paths) },
		Hinders: func(p protocol.Path) []protocol.TraceStep { return hinders(n, p) },
		Bus:     n.currentBus,
		Lend:    func(agent protocol.Name) (takeBack func()) { return n.serving.Lend(agent) },
		Owe:     func(s *fleet.State, it *fleet.Item) []string { return n.serving.Owe(s, it) },
		Meet:    n.meet,
		Gates:   func(s *fleet.State, it *fleet.Item) *control.GateChange { return gateChange(n, s, it) },
		Signed:  n.hosts.Humans.Signed, Cleared: n.home.Redacted(), Forget: func() error { return forget(n) },
	})
	n.freezer = statecache.NewFreezer(statecache.FreezerOptions{
		Cache: n.cache, Record: opened, Folded: n.folded, Storing: &n.storing, Flaws: n.flaws, Holed: n.halts.NotWhole, Notices: n.notices, Log: n.log,
	})
	n.losses = &record.Losses{
		Record: opened, Anchor: n.anchor, Cache: n.cache, Folded: n.folded, Halts: &n.halts, Lookout: n.lookout,
		Events: n.events, Mended: n.goOn, Log: n.log,
	}
	return nil
}

// fold makes the state of the record, and reads the record's other files.
func (n *Node) fold(ctx context.Context, progress func(done, total int)) error {
	l := statecache.Loader{
		Record: n.record, Anchor: n.anchor, Cache: n.cache, Freezer: n.freezer, Folded: n.folded, NameLost: n.losses.Name, Flaws: n.flaws,
		Notices: n.notices, Log: n.log,
		Reading: &statecache.Reading{Socket: n.home.Socket(), Version: n.version, Progress: progress, Log: n.log},
		Begin: func(s *fleet.State) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.state = s
		},
	}
	if err := l.Load(ctx); err != nil {
		return err
	}
	n.folded(func(s *fleet.State) { n.books.SayUnread(s.Keys().Hosts()...) })
	err := n.books.Read()
	if errors.Is(err, gitsync.ErrDamaged) { // a list of such files
		if err = n.record.Recover(ctx); err == nil {
			n.losses.Name()
			err = n.books.Read()
		}
	}
	if err == nil {
		err = n.books.MakeAnew()
	}
	n.losses.Tell()
	return err
}

// kinds are the affairs that a node folds. The affair of runs of agents is not among them: fleet
// itself adds it.
func (o Options) kinds(recordID string) []affair.Any {
	return append([]affair.Any{topics.Kind(recordID), parties.Kind(recordID), inquiryrules.Kind(recordID), policy.Kind(recordID), redactions.Kind(recordID)}, o.affairs...)
}

// anchorOf is where the history of the record's keys begins, as the record's first commit says. A
// record that was begun by another program or by an earlier version does not say it.
func anchorOf(record *gitsync.Record) (keys.Anchor, error) {
	a := keys.Anchor{RecordID: record.ID()}
	data, ok, err := record.RootFile(protocol.FounderPath)
	if err != nil || !ok {
		return a, err
	}
	if a.Founder, err = protocol.ParseFounder(data); err != nil {
		return a, fmt.Errorf("cannot use the record: its first commit %s does not say who began it: %w", record.ID(), err)
	}
	return a, nil
}

// Close releases the home. To end a running node, the caller ends the context of Run.
func (n *Node) Close() error {
	var errs []error
	if n.keepers != nil {
		n.keepers.Close()
	}
	if n.writer != nil { // the node did not get as far as running
		n.writer.Close()
	}
	if n.record != nil {
		errs = append(errs, n.record.Close())
	}
	if n.serving != nil {
		errs = append(errs, n.serving.Close())
	}
	errs = append(errs, n.cache.Close())
	if n.lock != nil {
		errs = append(errs, n.lock.Unlock())
	}
	return errors.Join(errs...)
}

// prefer is the record's rule for two files of one path. The record may ask while it is being
// opened and nothing is folded yet. Then the file with the smaller hash stays, and the fold
// corrects that.
func (n *Node) prefer(p protocol.Path, a, b []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == nil {
		return protocol.Hash(a) <= protocol.Hash(b)
	}
	return n.state.Prefer(p, a, b)
}

func (n *Node) signed(p protocol.Path, data []byte) bool {
	m, err := protocol.Decode(p, data)
	if err != nil {
		return false
	}
	signature, err := protocol.CheckSignature(m, n.record.ID(), data)
	return err == nil && signature == protocol.SignatureValid
}

// known reports whether a host of the fleet signed a file, with a key that counts for it.
func (n *Node) known(p protocol.Path, data []byte) (counts bool) {
	if n.signed(p, data) {
		n.folded(func(s *fleet.State) {
			if s != nil { // it is folded by now
				ex := s.Examine(p, data)
				m := ex.Signed()
				counts = m != nil && s.Keys().KnowsKey(m.Host, m.Key) && s.Admits([]fleet.Examined{ex})[0] == nil
			}
		})
	}
	return counts
}

func (n *Node) lastSeen(host protocol.Name) (time.Time, bool) {
	if host == n.cfg.Alias {
		return n.now(), true
	}
	last, live := n.live.PresenceOf(host)
	return last.Seen, live
}
