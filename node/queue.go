package node

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// queue is what waits for the command of one agent, oldest first, and what it is at. It
// is used only in looks at the state, so that what comes, what counts and what is taken
// have one order: no message is taken twice.
type queue struct {
	queueOptions
	who     fleet.Who
	agent   configs.Agent // as it is served now; what runs keeps what it began with
	wake    chan struct{} // holds a token where there is something to look at
	waiting []*fleet.Item
	held    map[protocol.Path]bool      // waiting or running
	running map[string]int              // by tier
	at      map[protocol.Path]*atWork   // what is being handled
	holes   map[protocol.Path]time.Time // until when, for what its host wrote before it
	expects map[protocol.Path]time.Time // until when, for the receipt that says what it answers
	pauses  map[protocol.Path]time.Time // until when, because an attempt failed
	paused  bool
}

// queueOptions are what the queues of a host have in common.
type queueOptions struct {
	maxHops         int
	receiptPatience time.Duration // how long a message waits for the receipt that may say what it answers
	notices         *notices.Notices
	steps           *steps
}

// holePatience is how long a message waits for what the bus lost before it, so that an
// agent answers in order. What was lost is asked for meanwhile.
const holePatience = 2 * time.Second

// job is a message that is being handled.
type job struct {
	it       *fleet.Item
	agent    configs.Agent
	tier     configs.Tier
	handling fleet.Handling
}

func newQueue(o queueOptions, who fleet.Who, a configs.Agent) *queue {
	return &queue{
		queueOptions: o, who: who, agent: a, wake: make(chan struct{}, 1), paused: a.Paused,
		held: map[protocol.Path]bool{}, running: map[string]int{}, holes: map[protocol.Path]time.Time{}, expects: map[protocol.Path]time.Time{},
		pauses: map[protocol.Path]time.Time{}, at: map[protocol.Path]*atWork{},
	}
}

func (q *queue) limits() fleet.Limits {
	return fleet.Limits{
		MaxHops: q.maxHops, RunsReplies: q.agent.RunReplies, Verified: q.agent.Accepts == configs.AcceptVerified, WakesOn: q.agent.WakesOn,
	}
}

// add queues a message that the state says is this agent's to handle.
func (q *queue) add(s *fleet.State, it *fleet.Item) {
	if s.Talk.Reaches(it, q.who) && !s.Talk.Answerable(it) {
		q.notices.Once(it.Path.String(), "%s is from %q: no answer can be addressed to that name, so %s is not run for it", it.Path, it.From, q.agent.Name)
	}
	if it.Type == protocol.TypeRead && len(q.expects) > 0 {
		q.nudge() // it may be the receipt that a message waits for
	}
	if q.held[it.Path] {
		return
	}
	switch s.Talk.Handle(it, q.who, q.limits()) {
	case fleet.Ignore:
		return
	case fleet.Leave:
		q.notices.Once("accepts "+q.who.Name, "%s is of %s, and no host signed it that serves that name: %[3]s is not run for such mail, which stays in its inbox "+
			"(parley inbox --as %[3]s); to let it run, also for what waits: parley agent set %[3]s --accepts anyone", it.Path, term.Line(it.From), q.agent.Name)
		return
	}
	q.held[it.Path] = true
	if _, hole := s.Chains.GapBefore(it); hole {
		q.holes[it.Path] = time.Now().Add(holePatience)
		time.AfterFunc(holePatience, q.nudge)
	}
	if s.Talk.AwaitsReceipt(it, q.who) {
		q.expects[it.Path] = time.Now().Add(q.receiptPatience)
		time.AfterFunc(q.receiptPatience, q.nudge)
	}
	q.insert(it)
	q.steps.queued(q.agent.Name, it.Path)
	q.nudge()
}

func (q *queue) insert(it *fleet.Item) {
	i, _ := slices.BinarySearchFunc(q.waiting, it, byPlace)
	q.waiting = slices.Insert(q.waiting, i, it)
}

// nudge has the worker look at the queue.
func (q *queue) nudge() { wait.Nudge(q.wake) }

func byPlace(a, b *fleet.Item) int {
	if c := a.Place.Compare(b.Place); c != 0 {
		return c
	}
	return a.Path.Compare(b.Path)
}

// next is the oldest message that waits and whose tier has a free worker, and where it
// stands. While the agent is paused its mail waits.
func (q *queue) next(s *fleet.State) (j job, at int, ok bool) {
	if q.paused {
		return job{}, 0, false
	}
	awaited := q.awaited(s)
	for i, it := range q.waiting {
		if first, waits := awaited[it.Host]; waits && it.Path.Compare(first) >= 0 {
			continue
		}
		if time.Now().Before(q.pauses[it.Path]) {
			continue
		}
		if until, expected := q.expects[it.Path]; expected {
			if time.Now().Before(until) && s.Talk.AwaitsReceipt(it, q.who) {
				continue
			}
			delete(q.expects, it.Path)
		}
		if tier := q.tierFor(s, it); q.running[tier.Name] < tier.Count {
			return job{it, q.agent, tier, s.Talk.Handle(it, q.who, q.limits())}, i, true
		}
	}
	return job{}, 0, false
}

// awaited is, by host, the first message that waits for what its host wrote before it.
func (q *queue) awaited(s *fleet.State) map[protocol.Name]protocol.Path {
	awaited := map[protocol.Name]protocol.Path{}
	for p, until := range q.holes {
		it, ok := s.Ledger.Item(p)
		hole := false
		if ok && time.Now().Before(until) {
			_, hole = s.Chains.GapBefore(it)
		}
		if !hole {
			delete(q.holes, p)
		} else if first, more := awaited[it.Host]; !more || p.Compare(first) < 0 {
			awaited[it.Host] = p
		}
	}
	return awaited
}

// tierFor is the tier that was chosen for the message; a tier that is no longer
// there gives way to the first.
func (q *queue) tierFor(s *fleet.State, it *fleet.Item) configs.Tier {
	name, _ := s.Talk.ChosenTier(it, q.who)
	for _, t := range q.agent.Tiers {
		if t.Name == name {
			return t
		}
	}
	return q.agent.Tiers[0]
}

// begin takes out the message that stands at a place, which is at work from now on.
func (q *queue) begin(j job, at int) {
	q.waiting = slices.Delete(q.waiting, at, at+1)
	delete(q.pauses, j.it.Path)
	q.running[j.tier.Name]++
	q.at[j.it.Path] = &atWork{j: j, done: make(chan struct{})}
}

// later puts a message back that is at work, for that long.
func (q *queue) later(j job, pause time.Duration) {
	q.pauses[j.it.Path] = time.Now().Add(pause)
	q.insert(j.it)
	time.AfterFunc(pause, q.nudge)
}

// end lets go of a message that was handled.
func (q *queue) end(j job) {
	if _, again := q.pauses[j.it.Path]; !again {
		delete(q.held, j.it.Path)
	}
	q.running[j.tier.Name]--
	close(q.at[j.it.Path].done)
	delete(q.at, j.it.Path)
	q.nudge()
}

// atWork is how many messages are handled at the moment.
func (q *queue) atWork() int { return len(q.held) - len(q.waiting) }
