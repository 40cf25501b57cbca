package node

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// worker is the exec door of one agent: it runs the agent's command for each
// message, oldest first, as many at a time as the agent's tiers allow. Agents
// never wait for each other. Its goroutines run from start until the context
// given there ends.
type worker struct {
	n     *Node
	agent configs.Agent
	wake  chan struct{}
	work  sync.WaitGroup
	end   context.CancelFunc

	// Guarded by the node's mu.
	queue   []*fleet.Item
	held    map[protocol.Path]bool      // queued or running
	running map[string]int              // by tier
	waits   map[protocol.Path]time.Time // until when, for what its host wrote before it
	paused  bool
}

// holePatience is how long a message waits for what the bus lost before it, so that an
// agent answers in order. What was lost is asked for meanwhile.
const holePatience = 2 * time.Second

func newWorker(n *Node, a configs.Agent) *worker {
	return &worker{
		n: n, agent: a, wake: make(chan struct{}, 1),
		held: map[protocol.Path]bool{}, running: map[string]int{}, waits: map[protocol.Path]time.Time{}, paused: a.Paused,
	}
}

func (w *worker) who() fleet.Who { return w.n.me(w.agent.Name.String()) }

func (w *worker) limits() fleet.Limits {
	return fleet.Limits{MaxHops: w.n.cfg.MaxHops, RunsReplies: w.agent.RunReplies}
}

// add queues a message that the state says is this agent's to handle. The
// caller holds the node's mu.
func (w *worker) add(it *fleet.Item) {
	if w.held[it.Path] || w.n.state.Handle(it, w.who(), w.limits()) == fleet.Ignore {
		return
	}
	w.held[it.Path] = true
	if _, hole := w.n.state.GapBefore(it); hole {
		w.waits[it.Path] = time.Now().Add(holePatience)
		time.AfterFunc(holePatience, w.nudge)
	}
	i, _ := slices.BinarySearchFunc(w.queue, it, byPlace)
	w.queue = slices.Insert(w.queue, i, it)
	w.nudge()
}

// nudge has the worker look at its queue.
func (w *worker) nudge() { nudge(w.wake) }

func byPlace(a, b *fleet.Item) int {
	if c := a.Place.Compare(b.Place); c != 0 {
		return c
	}
	return a.Path.Compare(b.Path)
}

// start takes messages until taking ends; commands that run then may go on
// until killing ends.
func (w *worker) start(taking, killing context.Context) {
	taking, w.end = context.WithCancel(taking)
	w.work.Go(func() {
		for {
			select {
			case <-w.wake:
			case <-taking.Done():
				return
			}
			for it, tier, ok := w.take(); ok; it, tier, ok = w.take() {
				w.work.Go(func() {
					w.handle(killing, it, tier)
					w.release(it, tier)
				})
			}
		}
	})
}

// take removes the oldest queued message whose tier has a free slot. While the
// agent is paused, or nobody can say who it is, its mail waits.
func (w *worker) take() (*fleet.Item, configs.Tier, bool) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	if w.paused || w.n.halted != "" || w.n.lost > 0 {
		return nil, configs.Tier{}, false
	}
	waiting := w.awaited()
	for i, it := range w.queue {
		if first, waits := waiting[it.Host]; waits && it.Path.Compare(first) >= 0 {
			continue
		}
		tier := w.tierFor(it)
		if w.running[tier.Name] < tier.Count {
			w.queue = slices.Delete(w.queue, i, i+1)
			w.running[tier.Name]++
			return it, tier, true
		}
	}
	return nil, configs.Tier{}, false
}

// awaited is, by host, the first message that waits for what its host wrote before it.
// The caller holds the node's mu.
func (w *worker) awaited() map[protocol.Name]protocol.Path {
	waiting := map[protocol.Name]protocol.Path{}
	for p, until := range w.waits {
		it, ok := w.n.state.Item(p)
		hole := false
		if ok && time.Now().Before(until) {
			_, hole = w.n.state.GapBefore(it)
		}
		if !hole {
			delete(w.waits, p)
		} else if first, more := waiting[it.Host]; !more || p.Compare(first) < 0 {
			waiting[it.Host] = p
		}
	}
	return waiting
}

// tierFor is the tier that was chosen for the message; a tier that is no longer
// there gives way to the first. The caller holds the node's mu.
func (w *worker) tierFor(it *fleet.Item) configs.Tier {
	name, _ := w.n.state.ChosenTier(it, w.who())
	for _, t := range w.agent.Tiers {
		if t.Name == name {
			return t
		}
	}
	return w.agent.Tiers[0]
}

func (w *worker) release(it *fleet.Item, tier configs.Tier) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	delete(w.held, it.Path)
	w.running[tier.Name]--
	w.nudge()
}

// handle does with one message what the rules say. Where the node stops before
// the result is stored, nothing was done and the next start does it.
func (w *worker) handle(ctx context.Context, it *fleet.Item, tier configs.Tier) {
	w.n.mu.Lock()
	handling := w.n.state.Handle(it, w.who(), w.limits())
	w.n.mu.Unlock()
	switch handling {
	case fleet.Receipt:
		w.keep(ctx, it, fleet.Acknowledge{As: w.who(), Of: it.Path})
	case fleet.Halt:
		w.keep(ctx, it, fleet.Stop{As: w.who(), At: it.Path, Body: fmt.Sprintf(
			"FAILED | the conversation was stopped: %d answers of agents in a row (max_hops is %d); %s was not run.\nA human can go on with: parley reply %s TEXT",
			it.Hops, w.n.cfg.MaxHops, w.agent.Name, it.Path)})
	case fleet.Run:
		w.run(ctx, it, tier)
	}
}

// run asks the agent and stores its answer, or why there is none (R16).
func (w *worker) run(ctx context.Context, it *fleet.Item, tier configs.Tier) {
	asked, err := w.n.loadItem(it)
	if err != nil {
		w.n.log.Error().Err(err).Stringer("path", it.Path).Msg("cannot read the message for its agent")
		return
	}
	result := w.execute(ctx, asked, tier)
	if result.Failure == door.Canceled {
		return
	}
	w.n.log.Info().Stringer("agent", w.agent.Name).Stringer("path", it.Path).Stringer("failure", result.Failure).
		Stringer("elapsed", result.Elapsed.Round(time.Microsecond)).Msg("agent ran")
	answer := fleet.Answer{As: w.who(), To: it.Path, Body: result.Output, ByAgent: true}
	if result.Failure != door.None {
		answer.Act = protocol.ActFailed
		answer.Body = w.failure(result)
	} else if result.Truncated {
		answer.Body += fmt.Sprintf("\n\n[cut by parley: %s printed more than %d bytes]", w.agent.Name, len(result.Output))
	}
	w.keep(ctx, it, answer)
}

func (w *worker) failure(r door.Result) string {
	text := fmt.Sprintf("FAILED | %s: %s", w.agent.Name, r.Problem())
	if out := strings.TrimSpace(r.Output); out != "" {
		text += "\nIt had printed:\n" + out
	}
	return text
}

func (w *worker) execute(ctx context.Context, asked *protocol.Message, tier configs.Tier) door.Result {
	given, err := w.n.givenFor(w.agent, asked)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	return w.n.runCommand(ctx, w.agent, tier, given.Text,
		"PARLEY_FROM="+asked.From,
		"PARLEY_MESSAGE="+asked.Path.String(),
		"PARLEY_CHANNEL="+asked.Path.Channel().String(),
	)
}

// runCommand runs the command of an agent's tier with an input.
func (n *Node) runCommand(ctx context.Context, a configs.Agent, tier configs.Tier, input string, env ...string) door.Result {
	argv, err := door.SplitCommand(tier.Exec)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	return door.Run(ctx, door.Command{
		Argv:         argv,
		Dir:          a.Dir,
		Stdin:        []byte(input),
		Placeholders: a.Input == configs.InputPrompt,
		Timeout:      cmp.Or(a.Timeout, n.cfg.CommandTimeout),
		MaxOutput:    n.cfg.MessageLimit / 2, // the rest is room for the frontmatter and for what failures add
		Env:          append(n.environment(a), env...),
	})
}

// environment tells a command which agent it is, and how it can use parley.
func (n *Node) environment(a configs.Agent) []string {
	return []string{
		"PATH=" + searchPath(),
		"PARLEY_HOME=" + n.home.Dir,
		"PARLEY_AGENT=" + a.Name.String(),
		"PARLEY_HOST=" + n.cfg.Alias.String(),
	}
}

// searchPath is the node's PATH with parley's own folder at its end, so that an
// agent can run parley wherever it was installed.
func searchPath() string {
	path := os.Getenv("PATH")
	if self, err := os.Executable(); err == nil {
		path += string(os.PathListSeparator) + filepath.Dir(self)
	}
	return path
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// keep stores the outcome of handling a message. What an agent said is not
// thrown away because a disk is full: storing is tried again until it works or
// the node stops.
func (w *worker) keep(ctx context.Context, it *fleet.Item, c fleet.Command) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		_, err := w.n.act(ctx, c, it.Path)
		if err == nil || ctx.Err() != nil {
			return
		}
		w.n.log.Error().Err(err).Stringer("agent", w.agent.Name).Stringer("path", it.Path).Msg("cannot store the agent's answer")
		if isRefusal(err) {
			// Nothing will make it good; without a receipt the next start would
			// run the agent again.
			if _, acknowledged := c.(fleet.Acknowledge); acknowledged {
				return
			}
			c = fleet.Acknowledge{As: w.who(), Of: it.Path}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}
