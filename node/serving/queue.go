package serving

import (
	"cmp"
	"slices"
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
	agent   configs.Agent // as it is served now; what runs keeps the settings with which it began
	wake    chan struct{} // holds a token if there is something to look at
	tasks   map[protocol.Path]*task
	count   [states]int      // of tasks, by state
	delayed [delays]int      // of tasks, by why they are delayed
	lines   map[string]*line // what can be taken, by tier
	running map[string]int   // by tier
	paused  bool
	stalled stall
	quiet   time.Time   // when the queue is nudged because quiet hours may be over; zero: never
	warned  bool        // status says that messages wait for the agent's budget
	again   *time.Timer // when messages that wait for it are looked at again; nil: never
	looked  bool        // nothing has come since the last look that could make room in conversations
}

// task is a message that the agent has to handle.
type task struct {
	it     *fleet.Item
	state  taskState
	until  [delays]time.Time // until when it waits at the longest, by why; zero: it does not
	unread int               // how often its text could not be read
	spent  string            // why a budget has no room for it
	root   protocol.Path     // of the conversation, if it is the budget of that
	work   *atWork           // nil: it is not being handled
	again  bool              // it came once more while it was handled
}

type taskState int

const (
	inLine   taskState = iota // waits for its turn
	aside                     // waits for anything else; its last attempt may still be ending
	soon                      // waits for what is under way: a budget may have room then
	overHour                  // waits for the agent's budget
	overTalk                  // waits for the budget of its conversation
	taken                     // is being handled
	states
)

// delay is why a task waits for some time.
type delay int

const (
	forHole    delay = iota // its host wrote something before it that is not here
	forReceipt              // a receipt may say that it answers something
	forRetry                // an attempt failed
	delays
)

type line = turns.Queue[*task, bond]

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
		tasks: map[protocol.Path]*task{}, lines: map[string]*line{}, running: map[string]int{},
	}
}

// receiptFetches is for how many fetches a message waits for a receipt. The receipt may say that
// the message answers one of this agent's own. Without it, two programs that answer whatever they
// get would never stop.
const receiptFetches = 2

// isBusy reports whether the agent has said that it is busy in the party of the message.
func (q *queue) isBusy(s *fleet.State, it *fleet.Item) bool {
	return it.Act == protocol.ActTell && q.Busy(s, q.agent.Name.String(), it.Path.Channel())
}

func (q *queue) limits() fleet.Limits { return limitsOf(q.agent, q.Config.MaxHops) }

func limitsOf(a configs.Agent, maxHops int) fleet.Limits {
	return fleet.Limits{Reads: a.Door == configs.DoorInbox, MaxHops: maxHops, RunsReplies: a.RunReplies, Verified: a.Accepts == configs.AcceptVerified, Examined: a.Examiner == configs.ExaminerMechanical, WakesOn: a.WakesOn}
}

// add queues a message if the state says that this agent has to handle it.
func (q *queue) add(s *fleet.State, it *fleet.Item) {
	if s.Talk.Reaches(it, q.who) && !s.Talk.Answerable(it) {
		q.Notices.Once(it.Path.String(), "%s is from %q: no answer can be addressed to that name, so %s is not run for it", it.Path, it.From, q.agent.Name)
	}
	if it.Type == protocol.TypeRead && q.delayed[forReceipt] > 0 {
		q.nudge() // it may be the receipt that a message waits for
	}
	q.reopened(s, it)
	if t := q.tasks[it.Path]; t != nil {
		t.again = t.state == taken
		q.nudge() // what it waited for may be over, such as a claim once somebody has it tried again
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
	t := &task{it: it}
	q.tasks[it.Path] = t
	q.count[t.state]++
	if _, hole := s.Chains.GapBefore(it); hole {
		q.delay(t, forHole, holePatience)
	}
	if s.Talk.AwaitsReceipt(it, q.who) {
		q.delay(t, forReceipt, max(holePatience, receiptFetches*q.Config.FetchInterval))
	}
	q.put(s, t)
	q.steps.queued(q.agent.Name, it.Path)
	q.nudge()
}

func (q *queue) delay(t *task, why delay, by time.Duration) {
	q.goOn(t, why)
	q.delayed[why]++
	t.until[why] = q.Now().Add(by)
	time.AfterFunc(by, q.nudge)
}

func (q *queue) goOn(t *task, why delay) {
	if !t.until[why].IsZero() {
		q.delayed[why]--
		t.until[why] = time.Time{}
	}
}

func (q *queue) set(t *task, to taskState) {
	q.count[t.state]--
	q.count[to]++
	t.state = to
}

func (q *queue) in(states ...taskState) (all []*task) {
	number := 0
	for _, state := range states {
		number += q.count[state]
	}
	if number == 0 {
		return nil
	}
	for _, t := range q.tasks {
		if slices.Contains(states, t.state) {
			all = append(all, t)
		}
	}
	return all
}

// put has a task wait for its tier. Authors whom a host vouches for take turns. All messages that nobody
// vouches for have one turn together, because anybody can take their authors' names.
func (q *queue) put(s *fleet.State, t *task) {
	root := t.root
	t.root, t.spent = protocol.Path{}, ""
	q.set(t, inLine)
	q.talkOver(root)
	tier := q.tierFor(s, t.it).Name
	l := q.lines[tier]
	if l == nil {
		l = turns.New[*task, bond](func(a, b *task) bool { return byPlace(a, b) < 0 })
		q.lines[tier] = l
	}
	author := t.it.Author().Name
	if !s.Talk.Vouched(t.it) {
		l.Put(t, bond{s.Talk.Root(t.it), true}, "", author)
		return
	}
	l.Put(t, bond{root: s.Talk.Root(t.it)}, author+"@"+t.it.Host.String(), author)
}

// serve gives the queue the settings with which the agent is served now.
func (q *queue) serve(s *fleet.State, a configs.Agent) {
	q.agent = a
	lines := q.lines
	q.lines = map[string]*line{}
	for _, l := range lines {
		for _, t := range l.All() {
			q.put(s, t)
		}
	}
	q.nudge()
}

func (q *queue) nudge() { wait.Nudge(q.wake) }

func byPlace(a, b *task) int {
	return cmp.Or(a.it.Place.Compare(b.it.Place), a.it.Path.Compare(b.it.Path))
}

// next returns the message to be handled next: its author has the turn, and its tier has a free
// worker. While the agent is paused, its mail waits.
func (q *queue) next(s *fleet.State) (j job, ok bool) {
	if q.paused || q.isStalled() {
		return job{}, false
	}
	awaited := q.awaited(s)
	for _, t := range q.in(aside) {
		if t.work == nil && !q.waits(s, t, awaited) { // a message to be tried again waits until its attempt has ended
			q.put(s, t)
		}
	}
	q.reopen(s)
	for {
		l, t := q.first()
		if t == nil {
			return job{}, false
		}
		if q.waits(s, t, awaited) {
			l.Take()
			q.set(t, aside)
			continue
		}
		it := t.it
		j := job{it: it, agent: q.agent, tier: q.tierFor(s, it), handling: s.Talk.Handle(it, q.who, q.limits())}
		if q.lines[j.tier.Name] != l && q.running[j.tier.Name] >= j.tier.Count {
			l.Take()
			q.put(s, t) // another tier was chosen for it after it came
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
			q.set(t, soon)
			q.budgets.waiting[q] = true
		default:
			l.Take()
			if q.hold(spent, t) {
				j.tell = spent
				return j, true
			}
		}
	}
}

// first returns the task whose turn it is among the tiers that have a free worker, and the line
// in which it stands; nil if there is none.
func (q *queue) first() (in *line, t *task) {
	for tier, l := range q.lines {
		next, ok := l.Next()
		if ok && q.running[tier] < q.tier(tier).Count && (t == nil || byPlace(next, t) < 0) {
			in, t = l, next
		}
	}
	return in, t
}

// tier is the tier of that name. One that no longer exists is replaced by the first one.
func (q *queue) tier(name string) configs.Tier {
	i := slices.IndexFunc(q.agent.Tiers, func(t configs.Tier) bool { return t.Name == name })
	return q.agent.Tiers[max(i, 0)]
}

// waits reports whether a task waits for anything but its turn.
func (q *queue) waits(s *fleet.State, t *task, awaited map[protocol.Name]protocol.Path) bool {
	it := t.it
	if first, waits := awaited[it.Host]; waits && it.Path.Compare(first) >= 0 {
		return true
	}
	if q.isDelayed(t, forRetry) || q.isQuiet() && q.restsFor(s, it) || q.isBusy(s, it) {
		return true
	}
	if q.isDelayed(t, forReceipt) && s.Talk.AwaitsReceipt(it, q.who) {
		return true
	}
	q.goOn(t, forReceipt)
	return s.Talk.Handle(it, q.who, q.limits()) == fleet.Run && q.claims.due(s, it, q.agent)
}

func (q *queue) isDelayed(t *task, why delay) bool { return q.Now().Before(t.until[why]) }

// awaited returns for each host its first message that waits for what the host wrote before it.
func (q *queue) awaited(s *fleet.State) map[protocol.Name]protocol.Path {
	awaited := map[protocol.Name]protocol.Path{}
	if q.delayed[forHole] == 0 {
		return awaited
	}
	for p, t := range q.tasks {
		it, ok := s.Ledger.Item(p)
		hole := false
		if ok && q.isDelayed(t, forHole) {
			_, hole = s.Chains.GapBefore(it)
		}
		if !hole {
			q.goOn(t, forHole)
		} else if first, more := awaited[it.Host]; !more || p.Compare(first) < 0 {
			awaited[it.Host] = p
		}
	}
	return awaited
}

// tierFor is the tier that was chosen for the message.
func (q *queue) tierFor(s *fleet.State, it *fleet.Item) configs.Tier {
	name, _ := s.Talk.ChosenTier(it, q.who)
	return q.tier(name)
}

// begin takes out the message that is next. From then on it is at work.
func (q *queue) begin(j job) {
	t := q.tasks[j.it.Path]
	for _, l := range q.lines {
		if next, ok := l.Next(); ok && next == t {
			l.Take()
			break
		}
	}
	q.goOn(t, forRetry)
	q.running[j.tier.Name]++
	q.set(t, taken)
	t.work = &atWork{j: j, done: make(chan struct{})}
	if j.caused {
		q.budgets.begin(q.who, j.it)
	}
}

func (q *queue) later(j job, pause time.Duration) {
	t := q.tasks[j.it.Path]
	q.delay(t, forRetry, pause)
	q.set(t, aside)
}

// end ends the handling of a message. Unless the message was put back, it is done. What came once
// more meanwhile is looked at again: somebody may have it tried again once it was given up.
func (q *queue) end(s *fleet.State, j job) {
	t := q.tasks[j.it.Path]
	q.running[j.tier.Name]--
	close(t.work.done)
	if t.work = nil; t.state == taken {
		q.drop(t)
		if t.again {
			q.add(s, t.it)
		}
	}
	if j.caused {
		q.budgets.end(q.who, j.it)
	}
	q.nudge()
}

func (q *queue) drop(t *task) {
	for why := range delays {
		q.goOn(t, why)
	}
	q.readable(t)
	q.count[t.state]--
	delete(q.tasks, t.it.Path)
	q.talkOver(t.root)
}

func (q *queue) waiting() int { return len(q.tasks) - q.count[taken] }
