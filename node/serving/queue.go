package serving

import (
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/turns"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// queue holds what waits for the command of one agent, and what is at work. Those who wrote to the
// agent take turns, with the oldest message of each. It is used only while the state is read. So
// what comes, what counts and what is taken have one order, and no message is taken twice.
type queue struct {
	*tools
	claims  *claims
	who     fleet.Who
	agent   configs.Agent    // as it is served now; what runs keeps the settings with which it began
	wake    chan struct{}    // holds a token if there is something to look at
	lines   map[string]*line // what can be taken, by tier
	aside   map[protocol.Path]*fleet.Item
	over    heldBack
	held    map[protocol.Path]bool      // waiting or running
	running map[string]int              // by tier
	at      map[protocol.Path]*atWork   // what is being handled
	holes   map[protocol.Path]time.Time // until when a message waits for what its host wrote before it
	expects map[protocol.Path]time.Time // until when a message waits for the receipt that says what it answers
	pauses  map[protocol.Path]time.Time // until when a message waits because an attempt failed
	unread  map[protocol.Path]int       // how often the text of a waiting message could not be read
	paused  bool
	stalled stall
	quiet   time.Time // when the queue is nudged because quiet hours may be over; zero: never
}

// line is what waits for one tier.
type line = turns.Queue[*fleet.Item, bond]

// bond is what keeps messages of several authors in their order: the conversation. Messages that
// nobody vouches for have a bond of their own in it, so that they hold up nothing else.
type bond struct {
	root       protocol.Path
	unverified bool
}

// holePatience is how long a message waits for messages before it that the bus lost, so that an
// agent answers in order. Meanwhile, the lost messages are asked for.
const holePatience = 2 * time.Second

// job is a message that is being handled.
type job struct {
	it       *fleet.Item
	agent    configs.Agent
	tier     configs.Tier
	handling fleet.Handling
	caused   bool       // an agent caused it, so that a run counts against budgets
	tell     *overspent // if not nil, the message is not handled: its sender is told that it waits, and why
}

func newQueue(t *tools, c *claims, who fleet.Who, a configs.Agent) *queue {
	return &queue{
		tools: t, claims: c, who: who, agent: a, wake: make(chan struct{}, 1), paused: a.Paused,
		lines: map[string]*line{}, aside: map[protocol.Path]*fleet.Item{}, over: newHeldBack(),
		held: map[protocol.Path]bool{}, running: map[string]int{}, holes: map[protocol.Path]time.Time{}, expects: map[protocol.Path]time.Time{},
		pauses: map[protocol.Path]time.Time{}, unread: map[protocol.Path]int{}, at: map[protocol.Path]*atWork{},
	}
}

// receiptFetches is for how many fetches a message waits for a receipt. The receipt may say that
// the message answers one of this agent's own. Without it, two programs that answer whatever they
// get would never stop.
const receiptFetches = 2

// receiptPatience is how long a message waits for the receipt that may say what it answers.
func (q *queue) receiptPatience() time.Duration {
	return max(holePatience, receiptFetches*q.Config.FetchInterval)
}

// isBusy reports whether the agent has said that it is busy in the party of the message.
func (q *queue) isBusy(s *fleet.State, it *fleet.Item) bool {
	return it.Act == protocol.ActTell && q.Busy(s, q.agent.Name.String(), it.Path.Channel())
}

func (q *queue) limits() fleet.Limits { return limitsOf(q.agent, q.Config.MaxHops) }

// limitsOf returns what the operator allows an agent.
func limitsOf(a configs.Agent, maxHops int) fleet.Limits {
	return fleet.Limits{Reads: a.Door == configs.DoorInbox, MaxHops: maxHops, RunsReplies: a.RunReplies, Verified: a.Accepts == configs.AcceptVerified, Examined: a.Examiner == configs.ExaminerMechanical, WakesOn: a.WakesOn}
}

// add queues a message if the state says that this agent has to handle it.
func (q *queue) add(s *fleet.State, it *fleet.Item) {
	if s.Talk.Reaches(it, q.who) && !s.Talk.Answerable(it) {
		q.Notices.Once(it.Path.String(), "%s is from %q: no answer can be addressed to that name, so %s is not run for it", it.Path, it.From, q.agent.Name)
	}
	if it.Type == protocol.TypeRead && len(q.expects) > 0 {
		q.nudge() // it may be the receipt that a message waits for
	}
	q.reopened(s, it)
	if q.held[it.Path] {
		return
	}
	switch s.Talk.Handle(it, q.who, q.limits()) {
	case fleet.Ignore:
		return
	case fleet.Leave:
		why := "no host signed it that serves that name"
		if it.Unattended {
			why = "its host could not tell which program wrote it in that name (unattended)"
		}
		q.Notices.Once("accepts "+q.who.Name+" "+why, "%s is of %s, and %[4]s: %[3]s is not run for such mail, which stays in its inbox "+
			"(parley inbox --as %[3]s); to let it run, also for what waits: parley agent set %[3]s --accepts anyone", it.Path, visible.Line(it.From), q.agent.Name, why)
		return
	}
	q.held[it.Path] = true
	if _, hole := s.Chains.GapBefore(it); hole {
		q.holes[it.Path] = time.Now().Add(holePatience)
		time.AfterFunc(holePatience, q.nudge)
	}
	if s.Talk.AwaitsReceipt(it, q.who) {
		q.expects[it.Path] = time.Now().Add(q.receiptPatience())
		time.AfterFunc(q.receiptPatience(), q.nudge)
	}
	q.put(s, it)
	q.steps.queued(q.agent.Name, it.Path)
	q.nudge()
}

// put has a message wait for its tier. Authors whom a host vouches for take turns. All messages that nobody
// vouches for have one turn together, because anybody can take their authors' names.
func (q *queue) put(s *fleet.State, it *fleet.Item) {
	tier := q.tierFor(s, it).Name
	l := q.lines[tier]
	if l == nil {
		l = turns.New[*fleet.Item, bond](func(a, b *fleet.Item) bool { return byPlace(a, b) < 0 })
		q.lines[tier] = l
	}
	author := it.Author().Name
	if !s.Talk.Vouched(it) {
		l.Put(it, bond{s.Talk.Root(it), true}, "", author)
		return
	}
	l.Put(it, bond{root: s.Talk.Root(it)}, author+"@"+it.Host.String(), author)
}

// serve gives the queue the settings with which the agent is served now.
func (q *queue) serve(s *fleet.State, a configs.Agent) {
	q.agent = a
	lines := q.lines
	q.lines = map[string]*line{}
	for _, l := range lines {
		for _, it := range l.All() {
			q.put(s, it)
		}
	}
	q.nudge()
}

// nudge has the worker look at the queue.
func (q *queue) nudge() { wait.Nudge(q.wake) }

func byPlace(a, b *fleet.Item) int {
	if c := a.Place.Compare(b.Place); c != 0 {
		return c
	}
	return a.Path.Compare(b.Path)
}

// next returns the message to be handled next: its author has the turn, and its tier has a free
// worker. While the agent is paused, its mail waits.
func (q *queue) next(s *fleet.State) (j job, ok bool) {
	if q.paused || q.isStalled() {
		return job{}, false
	}
	awaited := q.awaited(s)
	for p, it := range q.aside {
		if q.at[p] == nil && !q.waits(s, it, awaited) { // a message to be tried again counts as at work until its attempt has ended
			delete(q.aside, p)
			q.put(s, it)
		}
	}
	q.reopen(s)
	for {
		l, it := q.first()
		if it == nil {
			return job{}, false
		}
		if q.waits(s, it, awaited) {
			l.Take()
			q.aside[it.Path] = it
			continue
		}
		j := job{it: it, agent: q.agent, tier: q.tierFor(s, it), handling: s.Talk.Handle(it, q.who, q.limits())}
		if q.lines[j.tier.Name] != l && q.running[j.tier.Name] >= j.tier.Count {
			l.Take()
			q.put(s, it) // another tier was chosen for it after it came
			continue
		}
		if j.handling != fleet.Run {
			return j, true
		}
		j.caused = s.Talk.Caused(it, q.who)
		switch spent := q.spent(s, j); {
		case spent == nil:
			return j, true
		case spent.only:
			l.Take()
			q.over.soon = append(q.over.soon, it)
			q.budgets.waiting[q] = true
		default:
			l.Take()
			if q.hold(spent, it) {
				j.tell = spent
				return j, true
			}
		}
	}
}

// first returns the message whose turn it is among the tiers that have a free worker, and the line
// in which it stands; nil if there is none.
func (q *queue) first() (in *line, it *fleet.Item) {
	for tier, l := range q.lines {
		next, ok := l.Next()
		if ok && q.running[tier] < q.count(tier) && (it == nil || byPlace(next, it) < 0) {
			in, it = l, next
		}
	}
	return in, it
}

// count is how many workers a tier has. A tier that no longer exists is replaced by the first one.
func (q *queue) count(tier string) int {
	for _, t := range q.agent.Tiers {
		if t.Name == tier {
			return t.Count
		}
	}
	return q.agent.Tiers[0].Count
}

// waits reports whether a message waits for anything but its turn.
func (q *queue) waits(s *fleet.State, it *fleet.Item, awaited map[protocol.Name]protocol.Path) bool {
	if first, waits := awaited[it.Host]; waits && it.Path.Compare(first) >= 0 {
		return true
	}
	if time.Now().Before(q.pauses[it.Path]) || q.isQuiet() && q.restsFor(s, it) || q.isBusy(s, it) {
		return true
	}
	if until, expected := q.expects[it.Path]; expected {
		if time.Now().Before(until) && s.Talk.AwaitsReceipt(it, q.who) {
			return true
		}
		delete(q.expects, it.Path)
	}
	return s.Talk.Handle(it, q.who, q.limits()) == fleet.Run && q.claims.due(s, it, q.agent)
}

// awaited returns for each host its first message that waits for what the host wrote before it.
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

// tierFor returns the tier that was chosen for the message. A tier that no longer exists is
// replaced by the first one.
func (q *queue) tierFor(s *fleet.State, it *fleet.Item) configs.Tier {
	name, _ := s.Talk.ChosenTier(it, q.who)
	for _, t := range q.agent.Tiers {
		if t.Name == name {
			return t
		}
	}
	return q.agent.Tiers[0]
}

// begin takes out the message that is next. From then on it is at work.
func (q *queue) begin(j job) {
	for _, l := range q.lines {
		if next, ok := l.Next(); ok && next == j.it {
			l.Take()
			break
		}
	}
	delete(q.pauses, j.it.Path)
	q.running[j.tier.Name]++
	q.at[j.it.Path] = &atWork{j: j, done: make(chan struct{})}
	if j.caused {
		q.budgets.begin(q.who, j.it)
	}
}

// later puts a message that is at work back into the queue, for `pause`.
func (q *queue) later(j job, pause time.Duration) {
	q.pauses[j.it.Path] = time.Now().Add(pause)
	q.aside[j.it.Path] = j.it
	time.AfterFunc(pause, q.nudge)
}

// end removes a message that was handled.
func (q *queue) end(j job) {
	if q.aside[j.it.Path] == nil { // else it was put back
		delete(q.held, j.it.Path)
	}
	q.running[j.tier.Name]--
	close(q.at[j.it.Path].done)
	delete(q.at, j.it.Path)
	if j.caused {
		q.budgets.end(q.who, j.it)
	}
	q.nudge()
}

// waiting is how many messages wait.
func (q *queue) waiting() int {
	n := len(q.aside) + q.over.len()
	for _, l := range q.lines {
		n += l.Len()
	}
	return n
}

// remove takes out a waiting message, wherever it is; nil if no message of that path waits.
func (q *queue) remove(p protocol.Path) *fleet.Item {
	if it := q.aside[p]; it != nil {
		delete(q.aside, p)
		return it
	}
	for _, l := range q.lines {
		if it, ok := l.Remove(func(it *fleet.Item) bool { return it.Path == p }); ok {
			return it
		}
	}
	return q.over.remove(p)
}

// all returns what waits, in no order.
func (q *queue) all() (all []*fleet.Item) {
	for _, it := range q.aside {
		all = append(all, it)
	}
	for _, l := range q.lines {
		all = append(all, l.All()...)
	}
	return append(all, q.over.all()...)
}

// atWork is how many messages are handled at the moment.
func (q *queue) atWork() int { return len(q.held) - q.waiting() }
