package node

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/catchup"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/entry"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/record"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// stopTime is how long it may take in all until a node has stopped. What the last push has not sent
// by then stays in the journal.
const stopTime = 4500 * time.Millisecond

// Run serves until `ctx` ends or Stop is called, and then drains: it takes no new message, lets
// running commands finish, commits everything that is stored, and tries one push. `ready` is called
// once the node answers on its socket.
func (n *Node) Run(ctx context.Context, ready func()) error {
	ctx, n.stop = context.WithCancel(ctx)
	defer n.stop()
	var down teardown
	defer down.run()

	n.lookFirst(ctx)
	if err := n.hosts.Own.Publish(ctx); err != nil {
		why := control.AsError(writing.AsError(err))
		return control.Errorf(why.Kind, why.Hint, "cannot enter the fleet: %s", why.Message)
	}
	n.hosts.Own.RetireLeft(n.record.ReadFile)
	if err := n.home.DropAside(); err != nil {
		n.log.Warn().Err(err).Msg("what a join has put aside is still there")
	}
	gone := n.watchHome(ctx)
	open := make(chan struct{})
	served, err := n.serveControl(open, &down)
	if err != nil {
		return err
	}
	if err := n.serveMetrics(&down); err != nil {
		return err
	}
	down.push(n.freezer.Start())
	recordFailed := n.runRecord(&down)
	n.startIndex(&down)
	down.push(n.talk.Redactor.Start())
	if err := n.startBus(ctx, &down); err != nil {
		return err
	}
	// Nothing that the bus loses stays lost. It ends before the bus.
	down.push(wait.Background(n.entry.RetryAlways, n.mender.TellHeads, n.mender.MendAlways, n.asker.Run))
	if err := n.hosts.Own.Publish(ctx); err != nil { // now it is known at which addresses the host is reached
		if why := n.twins.Out(); why != nil { // a fetch has told meanwhile to whom the name belongs
			return why
		}
		return fmt.Errorf("cannot tell the fleet where this host is reached: %w", err)
	}
	down.push(wait.Background(n.sessions.Watch))
	down.push(n.seats.Start())
	down.push(n.serving.Start()) // before the bus and the record, so that the last answers of agents are still stored and sent
	down.push(n.collab.Start())
	n.parties.Start(ctx)
	down.push(n.parties.StartPosting())
	down.push(n.parties.Watch())
	down.push(n.inquiries.Start())
	down.push(n.watchForHuman())
	down.push(n.notebook.Start())
	close(open)
	go n.presence.AnnounceAlways(ctx)
	go n.hosts.Hubs.Watch(ctx)
	go n.lookAround(ctx)
	down.push(n.hosts.Keys.Start())
	n.hosts.Hubs.SayUnknown()
	n.log.Info().Stringer("host", n.cfg.Alias).Stringer("fleet", n.cfg.Fleet).Str("record", n.record.ID()).Msg("node is up")
	ready()
	select {
	case <-ctx.Done():
	case err = <-served:
	case err = <-recordFailed:
	case err = <-n.twins.Expelled:
	case err = <-gone:
		n.log.Error().Msg(err.Error())
	}
	n.log.Info().Msg("node is stopping")
	n.record.StopBy(time.Now().Add(stopTime))
	return err
}

// lookFirst looks at the remote before this host writes anything. A home that was put back from a
// backup does not have the last messages of this host. What follows an older one would fork its
// chain.
func (n *Node) lookFirst(ctx context.Context) {
	if n.cfg.Remote == "" {
		return
	}
	looking, done := context.WithTimeout(ctx, firstLook)
	defer done()
	if err := n.record.Fetch(looking); err != nil && ctx.Err() == nil {
		n.log.Warn().Err(err).Msg("the remote was not seen before the start")
		n.notices.Wrong(record.AboutFirstLook, "the remote could not be looked at before the start: if this home was put back from a backup, what this host says now may contradict what it said before; "+
			"then stop it until the remote can be reached")
	}
}

// firstLook bounds how long a start waits for the remote.
const firstLook = 3 * time.Second

// homePoll is the time between two looks at whether the home is still there.
const homePoll = time.Second

// watchHome tells when the home is gone. The node ends then: it would work on as a ghost that
// nobody can reach, with a key that a node in its place may have too.
func (n *Node) watchHome(ctx context.Context) <-chan error {
	gone := make(chan error, 1)
	go func() { // ends with ctx, or with the home
		for wait.Sleep(ctx, homePoll) {
			if err := n.standing.Check(); err != nil {
				gone <- err
				return
			}
		}
	}()
	return gone
}

// serveControl opens the control sockets, and answers on them once `open` is closed. Whoever asks
// earlier waits, because a node without its bus and its doors would give wrong answers. It is the
// last part to end. So if the socket is gone, the node has drained.
func (n *Node) serveControl(open <-chan struct{}, down *teardown) (<-chan error, error) {
	listener, err := control.Listen(n.home.Socket())
	if err != nil {
		return nil, err
	}
	agents, err := control.Listen(n.home.AgentSocket())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	served := make(chan error, 1)
	info := control.Info{Version: n.version, API: control.API, Errors: log.New(n.log, "", 0), Refused: n.logRefused()}
	serve := func(l net.Listener, judge func(control.Calling) (control.Caller, error)) {
		info := info
		info.Judge = judge
		serving.Go(func() { // ends with ctx
			select {
			case <-open:
			case <-ctx.Done(): // a start that failed: nobody is answered as if the node ran
				_ = l.Close()
				return
			}
			if err := control.Serve(ctx, l, n.verbs, info); err != nil {
				select {
				case served <- err:
				default: // another one has failed before
				}
			}
		})
	}
	serve(listener, n.callers.Judge)
	serve(agents, n.callers.JudgeAgent)
	n.doorsteps.Open(func(l net.Listener) { serve(l, n.callers.JudgeAgent) })
	down.push(func() {
		n.doorsteps.Close()
		cancel()
		serving.Wait()
		n.doorsteps.Remove()
	})
	return served, nil
}

// teardown is a stack of steps that end a running node. They are run once, the last one first.
type teardown struct{ steps []func() }

func (t *teardown) push(step func()) { t.steps = append(t.steps, step) }

func (t *teardown) run() {
	for i := len(t.steps) - 1; i >= 0; i-- {
		t.steps[i]()
	}
	t.steps = nil
}

// runRecord commits, fetches and pushes in the background. It ends when nobody writes any more.
func (n *Node) runRecord(down *teardown) <-chan error {
	failed := make(chan error, 1)
	end := wait.Background(func(ctx context.Context) {
		if err := n.record.Run(ctx); err != nil && ctx.Err() == nil {
			failed <- fmt.Errorf("the record has stopped: %w", err)
		}
	})
	down.push(func() {
		n.writer.Close()
		end()
	})
	return failed
}

func (n *Node) startBus(ctx context.Context, down *teardown) error {
	id, err := homes.ServerID(n.home)
	if err != nil {
		return err
	}
	system, login, err := homes.ExistingSystem(n.cfg.Bus)
	if err != nil {
		return control.Errorf(control.KindFailed, "see bus in "+n.home.Config(), "cannot start the bus: %v", err)
	}
	for _, warning := range system.Warnings {
		n.notices.Wrong(warning, "%s", warning)
	}
	o := bus.Options{
		Config: bus.Config{
			Listen: n.cfg.Bus.Listen, Links: n.cfg.Bus.LinksAddress(), Advertise: n.cfg.Bus.Advertise, URL: system.URL, Login: login},
		Fleet: n.cfg.Fleet, Alias: n.cfg.Alias, RecordID: n.record.ID(), Key: n.signsWith.Load().Pair, Former: n.hosts.Rotator.Former(), Trusted: n.hosts.Trusted, Revoked: n.hosts.Revoked,
		ServerID: id, Log: n.log.With().Str("part", "bus").Logger(), Now: n.now, Services: n.hosts.Reporter.Services(), Streams: []bus.Stream{n.carrying.Stream(), inviter{n}.stream()},
		Discovery: bus.Discovery{Version: n.version, Agents: n.roster.Count},
		Handlers: bus.Handlers{
			Message: n.entry.LetIn,
			Heard: func(host, agent protocol.Name, paths []protocol.Path) {
				if fresh := n.live.Hear(host, agent, paths); agent == "" {
					n.steps.Heard(fresh, host)
				}
			},
			Bell:     func(protocol.Name) { n.record.Ring() },
			Heads:    n.mender.HeardHeads,
			Presence: n.presence.SawHost,
			Linked:   n.linked,
			Unlinked: n.presence.Unlinked,
		},
		QueueBytes: n.queueBytes,
	}
	o.Heard = func(host protocol.Name) bool { _, live := n.live.PresenceOf(host); return live }
	if system.URL == "" {
		o.Hubs = n.hosts.Hubs.List
	}
	b, err := bus.Start(ctx, o)
	if err != nil {
		hint := "see bus in " + n.home.Config()
		if try := homes.ListenHint(err, "parley fleet listen "); try != "" {
			hint = try + "; " + hint
		}
		return control.Errorf(control.KindFailed, hint, "%v", err)
	}
	n.bus.Store(b)
	if system.URL != "" {
		n.natsBus.Store(&system)
	}
	down.push(func() {
		n.presence.Leave()
		if err := b.Close(); err != nil {
			n.log.Debug().Err(err).Msg("the bus did not close cleanly")
		}
	})
	return nil
}

// startIndex lets messages be found by their words. Without an index, everything else works.
func (n *Node) startIndex(down *teardown) {
	stop, err := n.talk.Indexer.Start()
	if err != nil {
		n.log.Error().Err(err).Msg("messages cannot be searched")
		n.notices.Wrong("search", "messages cannot be searched: %v", err)
		return
	}
	down.push(stop)
}

// openCatchup makes the parts that bring what the bus has lost, to this host and to the others.
func (n *Node) openCatchup() {
	n.entry = entry.New(entry.Options{
		Fleet: n.cfg.Fleet, Limit: n.cfg.MessageLimit, Folded: n.folded, Examine: func(p protocol.Path, data []byte) fleet.Examined { return n.state.Examine(p, data) }, Held: n.held, Refusals: n.refusals,
		Seen: func(p protocol.Path) { n.traceEntry(p, byBus) },
		Ring: n.record.Ring,
		Receive: func(messages []gitsync.MessageFile, examined []fleet.Examined) int {
			return n.receive(messages, examined, byBus)
		},
		Judged: n.serving.Fill,
	})
	n.mender = catchup.NewMender(catchup.MenderOptions{
		Host: n.cfg.Alias, Folded: n.folded, Live: n.live, Record: n.record, Bus: n.currentBus, LetIn: n.entry.LetInResent, Came: n.serving.Nudge, Log: n.log,
	})
}

// lookAround lets agents run once another node with this node's name would have answered.
func (n *Node) lookAround(ctx context.Context) {
	n.twins.LookAround(ctx, n.cfg.Remote != "", n.natsBus.Load() != nil || len(n.hosts.Hubs.List()) > 0, 3*n.cfg.FetchInterval+2*n.cfg.PushEvery())
	n.goOn()
}

// linked tells a host that this host can reach now that it is there.
func (n *Node) linked() {
	n.presence.Announce()
	n.lookout.Linked.Happened()
	n.mender.Linked()
}

func (n *Node) currentBus() *bus.Bus { return n.bus.Load() }

// Stop answers control.Stop.
func (n *Node) Stop(context.Context) (control.None, error) {
	n.stop()
	return control.None{}, nil
}
