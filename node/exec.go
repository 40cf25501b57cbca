package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// worker is the exec door of one agent: it runs the agent's command for each
// message, oldest first, as many at a time as the agent's tiers allow. Agents
// never wait for each other. Its goroutines run from start until the context
// given there ends.
type worker struct {
	n    *Node
	name protocol.Name
	wake chan struct{}
	work sync.WaitGroup
	end  context.CancelFunc

	// Guarded by the node's mu.
	agent   configs.Agent // as it is served now; what runs keeps what it began with
	queue   []*fleet.Item
	held    map[protocol.Path]bool      // queued or running
	running map[string]int              // by tier
	waits   map[protocol.Path]time.Time // until when, for what its host wrote before it
	expects map[protocol.Path]time.Time // until when, for the receipt that says what it answers
	paused  bool
}

// holePatience is how long a message waits for what the bus lost before it, so that an
// agent answers in order. What was lost is asked for meanwhile.
const holePatience = 2 * time.Second

// receiptFetches is for how many fetches a message waits for the receipt that may say
// that it is the answer to this agent's own: two programs that answer whatever they are
// sent would else never end.
const receiptFetches = 2

func newWorker(n *Node, a configs.Agent) *worker {
	return &worker{
		n: n, name: a.Name, agent: a, wake: make(chan struct{}, 1),
		held: map[protocol.Path]bool{}, running: map[string]int{}, waits: map[protocol.Path]time.Time{}, expects: map[protocol.Path]time.Time{}, paused: a.Paused,
	}
}

func (w *worker) who() fleet.Who { return w.n.me(w.name.String()) }

// limits are those of the agent. The caller holds the node's mu.
func (w *worker) limits() fleet.Limits {
	return fleet.Limits{MaxHops: w.n.cfg.MaxHops, RunsReplies: w.agent.RunReplies}
}

// add queues a message that the state says is this agent's to handle. The
// caller holds the node's mu.
func (w *worker) add(it *fleet.Item) {
	if w.n.state.Talk.Reaches(it, w.who()) && !w.n.state.Talk.Answerable(it) {
		w.n.notices.Once(it.Path.String(), "%s is from %q: no answer can be addressed to that name, so %s is not run for it", it.Path, it.From, w.agent.Name)
	}
	if it.Type == protocol.TypeRead && len(w.expects) > 0 {
		w.nudge() // it may be the receipt that a message waits for
	}
	if w.held[it.Path] || w.n.state.Talk.Handle(it, w.who(), w.limits()) == fleet.Ignore {
		return
	}
	w.held[it.Path] = true
	if _, hole := w.n.state.Chains.GapBefore(it); hole {
		w.waits[it.Path] = time.Now().Add(holePatience)
		time.AfterFunc(holePatience, w.nudge)
	}
	if w.n.state.Talk.AwaitsReceipt(it, w.who()) {
		patience := max(holePatience, receiptFetches*w.n.cfg.FetchInterval)
		w.expects[it.Path] = time.Now().Add(patience)
		time.AfterFunc(patience, w.nudge)
	}
	i, _ := slices.BinarySearchFunc(w.queue, it, byPlace)
	w.queue = slices.Insert(w.queue, i, it)
	w.nudge()
}

// nudge has the worker look at its queue.
func (w *worker) nudge() { wait.Nudge(w.wake) }

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
		defer w.n.slots.Leave(w.wake)
		for {
			select {
			case <-w.wake:
			case <-taking.Done():
				return
			}
			for taking.Err() == nil {
				j, ok := w.take()
				if !ok {
					break
				}
				w.work.Go(func() {
					w.handle(killing, j)
					w.release(j)
				})
			}
		}
	})
}

// job is a message that is being handled.
type job struct {
	it       *fleet.Item
	agent    configs.Agent
	tier     configs.Tier
	handling fleet.Handling
}

// take removes the oldest queued message that can be handled now: its tier has a free
// worker and, where the agent's command is to run, the host a free slot.
func (w *worker) take() (job, bool) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	j, at, ok := w.next()
	switch {
	case !ok:
		w.n.slots.Leave(w.wake)
		return job{}, false
	case j.handling == fleet.Run && !w.n.slots.Claim(w.wake):
		return job{}, false
	}
	w.queue = slices.Delete(w.queue, at, at+1)
	w.running[j.tier.Name]++
	return j, true
}

// next is the oldest queued message whose tier has a free worker. While the agent is
// paused, nobody can say who it is, or another node of this host may do the same, its
// mail waits. The caller holds the node's mu.
func (w *worker) next() (j job, at int, ok bool) {
	if w.paused || w.n.halts.any() || !w.n.lookout.MayRun() {
		return job{}, 0, false
	}
	waiting := w.awaited()
	for i, it := range w.queue {
		if first, waits := waiting[it.Host]; waits && it.Path.Compare(first) >= 0 {
			continue
		}
		if until, expected := w.expects[it.Path]; expected {
			if time.Now().Before(until) && w.n.state.Talk.AwaitsReceipt(it, w.who()) {
				continue
			}
			delete(w.expects, it.Path)
		}
		if tier := w.tierFor(it); w.running[tier.Name] < tier.Count {
			return job{it, w.agent, tier, w.n.state.Talk.Handle(it, w.who(), w.limits())}, i, true
		}
	}
	return job{}, 0, false
}

// awaited is, by host, the first message that waits for what its host wrote before it.
// The caller holds the node's mu.
func (w *worker) awaited() map[protocol.Name]protocol.Path {
	waiting := map[protocol.Name]protocol.Path{}
	for p, until := range w.waits {
		it, ok := w.n.state.Ledger.Item(p)
		hole := false
		if ok && time.Now().Before(until) {
			_, hole = w.n.state.Chains.GapBefore(it)
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
	name, _ := w.n.state.Talk.ChosenTier(it, w.who())
	for _, t := range w.agent.Tiers {
		if t.Name == name {
			return t
		}
	}
	return w.agent.Tiers[0]
}

func (w *worker) release(j job) {
	if j.handling == fleet.Run {
		w.n.slots.Release(w.wake)
	}
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	delete(w.held, j.it.Path)
	w.running[j.tier.Name]--
	w.nudge()
}

// handle does with one message what the rules say. Where the node stops before
// the result is stored, nothing was done and the next start does it.
func (w *worker) handle(ctx context.Context, j job) {
	it := j.it
	switch j.handling {
	case fleet.Receipt:
		w.keep(ctx, it, fleet.Acknowledge{As: w.who(), Of: it.Path})
	case fleet.Halt:
		w.keep(ctx, it, fleet.Stop{As: w.who(), At: it.Path, Body: fmt.Sprintf(
			"FAILED | the conversation was stopped: %d answers of agents in a row (max_hops is %d); %s was not run.\nA human can go on with: parley reply %s TEXT",
			w.n.hops(it), w.n.cfg.MaxHops, w.name, it.Path)})
	case fleet.Run:
		w.run(ctx, j)
	}
}

// hops is how many answers of agents in a row lead to the message.
func (n *Node) hops(it *fleet.Item) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.Talk.Hops(it)
}

// run asks the agent and stores its answer, or why there is none (R16).
func (w *worker) run(ctx context.Context, j job) {
	it := j.it
	asked, err := w.n.views.load(it)
	if err != nil {
		w.n.log.Error().Err(err).Stringer("path", it.Path).Msg("cannot read the message for its agent")
		return
	}
	result := w.execute(ctx, asked, j)
	if result.Failure == door.Canceled {
		return
	}
	w.n.log.Info().Stringer("agent", w.name).Stringer("path", it.Path).Stringer("failure", result.Failure).
		Stringer("elapsed", result.Elapsed.Round(time.Microsecond)).Msg("agent ran")
	answer := fleet.Answer{As: w.who(), To: it.Path, Body: result.Output, ByAgent: true}
	if result.Failure != door.None {
		answer.Act = protocol.ActFailed
		answer.Body = w.failure(result)
	} else if result.Truncated {
		answer.Body += fmt.Sprintf("\n\n[cut by parley: %s printed more than %d bytes]", w.name, len(result.Output))
	}
	w.keep(ctx, it, answer)
}

func (w *worker) failure(r door.Result) string {
	text := fmt.Sprintf("FAILED | %s: %s", w.name, r.Problem())
	if out := strings.TrimSpace(r.Output); out != "" {
		text += "\nIt had printed:\n" + out
	}
	return text
}

func (w *worker) execute(ctx context.Context, asked *protocol.Message, j job) door.Result {
	given, err := w.n.prompts.givenFor(j.agent, asked)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	return w.n.runner.run(ctx, j.agent, j.tier, given.Text, asked.Path,
		"PARLEY_FROM="+asked.From,
		"PARLEY_MESSAGE="+asked.Path.String(),
		"PARLEY_CHANNEL="+asked.Path.Channel().String(),
	)
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
		w.n.log.Error().Err(err).Stringer("agent", w.name).Stringer("path", it.Path).Msg("cannot store the agent's answer")
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
