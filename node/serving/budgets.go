package serving

import (
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// budgets bound how many runs agents may cause (R13): runs of one agent in an hour, and runs in one
// conversation since a human last spoke in it. It is used only while the state is read.
type budgets struct {
	*Options
	runs    *runlog.Log
	begun   map[fleet.Work]*fleet.Item // work that agents have caused and that is under way
	started map[fleet.Work]bool        // that part of it which the log of runs counts
	telling map[protocol.Path]bool     // conversations for which somebody is being told
	waiting map[*queue]bool            // queues with messages that wait for what is under way
}

func newBudgets(o *Options, runs *runlog.Log) *budgets {
	return &budgets{
		Options: o, runs: runs,
		begun: map[fleet.Work]*fleet.Item{}, started: map[fleet.Work]bool{}, telling: map[protocol.Path]bool{},
		waiting: map[*queue]bool{},
	}
}

func (b *budgets) begin(who fleet.Who, it *fleet.Item) {
	b.begun[fleet.Work{Who: who, For: it.Path}] = it
}

func (b *budgets) end(who fleet.Who, it *fleet.Item) {
	w := fleet.Work{Who: who, For: it.Path}
	delete(b.begun, w)
	delete(b.started, w)
	for q := range b.waiting {
		q.nudge()
	}
	clear(b.waiting)
}

// noted says that the log of runs now counts that work.
func (b *budgets) noted(who fleet.Who, it *fleet.Item) {
	if w := (fleet.Work{Who: who, For: it.Path}); b.begun[w] != nil {
		b.started[w] = true
	}
}

// starting is how many runs of an agent have begun that the log does not count yet.
func (b *budgets) starting(who fleet.Who) (n int) {
	for w := range b.begun {
		if w.Who == who && !b.started[w] {
			n++
		}
	}
	return n
}

// pending is how much work is under way here in a conversation about which the record says nothing
// yet. Nobody here knows what is under way on other hosts: it counts as soon as the record has a
// message that came of it (R13). So several hosts can each begin the last allowed run.
func (b *budgets) pending(s *fleet.State, root protocol.Path) (n int) {
	for w, it := range b.begun {
		if s.Talk.Root(it) == root && !s.Talk.Counted(it, w) {
			n++
		}
	}
	return n
}

// overspent is a budget that has no room for another run.
type overspent struct {
	only bool          // only because of what is under way: it may have room in a moment
	talk bool          // it is the budget of the conversation; otherwise the agent's
	root protocol.Path // of the conversation
	told bool          // somebody has been told already
	act  protocol.WordAct[protocol.RunWord]
	why  string // the reason, with what to do
}

// spent is the budget that has no room for a run; nil if all have room.
func (q *queue) spent(s *fleet.State, j job) *overspent {
	if !j.caused {
		return nil
	}
	b := q.budgets
	hour := b.runs.Budget(q.agent.Name)
	switch starting := b.starting(q.who); {
	case hour.Starts >= b.Config.MaxRuns:
		return &overspent{
			told: !hour.Told.IsZero(), act: protocol.RunHeld,
			why: b.whyHour(q.agent.Name, hour),
		}
	case hour.Starts+starting >= b.Config.MaxRuns:
		return &overspent{only: true}
	}
	talk := s.Talk.Conversation(j.it)
	switch {
	case talk.Runs >= b.Config.MaxConversationRuns:
		return &overspent{
			talk: true, root: talk.Root, told: talk.Told || b.telling[talk.Root], act: protocol.TalkHeld,
			why: fmt.Sprintf("agents have had each other run %d times in this conversation since a human last spoke in it (max_conversation_runs is %d); "+
				"what is more waits until a human writes in it, as with: parley reply %s TEXT, or says: parley agent resume %s --conversation %[3]s",
				talk.Runs, b.Config.MaxConversationRuns, visible.Shell(j.it.Path.String()), q.agent.Name),
		}
	case talk.Runs+b.pending(s, talk.Root) >= b.Config.MaxConversationRuns:
		return &overspent{only: true}
	}
	return nil
}

func (b *budgets) whyHour(agent protocol.Name, hour runlog.Budget) string {
	return fmt.Sprintf("agents have had %s run %d times within an hour (max_runs is %d); what is more waits, and goes on by itself as that time passes, "+
		"or at once with: parley agent resume %[1]s", agent, hour.Starts, b.Config.MaxRuns)
}

// Count counts a run that another host's inquiry has caused, if the agent's budget has room for it.
// Unlike the rest, it is not asked while the state is read.
func (sv *Serving) Count(a configs.Agent, inquiry protocol.Path) (why string, err error) {
	if hour := sv.runs.Budget(a.Name); hour.Starts >= sv.Config.MaxRuns {
		return sv.budgets.whyHour(a.Name, hour), nil
	}
	job := runlog.Job{Path: inquiry, Agent: a.Name}
	if _, err = sv.runs.Start(job, a.Tiers[0].Name, true); err == nil {
		err = sv.runs.Note(job, runlog.Entry{Step: runlog.Done}) // the inquiry says what became of it
	}
	return "", err
}

// hold makes a message wait for a budget. It reports whether somebody has to be told: once for each
// budget, not for each message.
func (q *queue) hold(spent *overspent, t *task) (tell bool) {
	q.steps.held(q.agent.Name, t.it.Path, spent.talk)
	t.spent = spent.why
	if spent.talk {
		if others := q.overIn(spent.root); len(others) > 0 {
			t.spent = others[0].spent
		} else {
			q.Notices.Wrong(q.waitsIn(spent.root), "%s waits: %s", q.agent.Name, spent.why)
		}
		t.root = spent.root
		q.set(t, overTalk)
		if !spent.told {
			q.budgets.telling[spent.root] = true
		}
		return !spent.told
	}
	q.set(t, overHour)
	if q.warned {
		return false
	}
	q.warned = true
	q.Notices.Wrong(q.waitsAnHour(), "%s waits: %s", q.agent.Name, spent.why)
	q.lookInTime()
	return !spent.told
}

func (q *queue) overIn(root protocol.Path) []*task {
	return slices.DeleteFunc(q.in(overTalk), func(t *task) bool { return t.root != root })
}

// talkOver takes the warning back if nothing waits for the budget of a conversation any more.
func (q *queue) talkOver(root protocol.Path) {
	if !root.IsZero() && len(q.overIn(root)) == 0 {
		q.Notices.Mended(q.waitsIn(root))
	}
}

// lookInTime arranges another look for the time when the first run that counts against the agent's
// budget no longer counts. If a clock was put back, that is later than it seemed.
func (q *queue) lookInTime() {
	if q.again != nil {
		q.again.Stop()
	}
	first := q.runs.Budget(q.agent.Name).First
	q.again = time.AfterFunc(max(first.Add(time.Hour).Sub(q.Now()), firstPause), q.nudge)
}

// hourOver takes the warning back if nothing waits for the agent's budget any more.
func (q *queue) hourOver() {
	if q.warned && q.count[overHour] == 0 {
		q.warned = false
		q.again.Stop()
		q.Notices.Mended(q.waitsAnHour())
	}
}

// waitsIn and waitsAnHour are the subjects of warnings.
func (q *queue) waitsIn(root protocol.Path) string { return q.who.Name + " in " + root.String() }
func (q *queue) waitsAnHour() string               { return "the runs of " + q.who.Name }

// reopened has messages looked at again whose conversation has room, because a human has spoken in
// it. The first message of that conversation may have come after they began to wait.
func (q *queue) reopened(s *fleet.State, it *fleet.Item) {
	if q.count[overTalk]+q.count[soon] == 0 || it.Type != protocol.TypeText || s.Talk.Conversation(it).Runs >= q.Config.MaxConversationRuns {
		return
	}
	root := s.Talk.Root(it)
	if slices.ContainsFunc(q.in(overTalk, soon), func(t *task) bool { return s.Talk.Root(t.it) == root }) {
		q.look()
	}
}

func (q *queue) look() {
	q.looked = false
	q.nudge()
}

// reopen puts back the messages for which a budget has room again.
func (q *queue) reopen(s *fleet.State) {
	reopened := q.in(soon)
	switch {
	case q.count[overHour] == 0:
	case q.runs.Budget(q.agent.Name).Starts < q.Config.MaxRuns:
		reopened = append(reopened, q.in(overHour)...)
	default:
		q.lookInTime()
	}
	if !q.looked {
		for _, t := range q.in(overTalk) {
			if s.Talk.Conversation(t.it).Runs < q.Config.MaxConversationRuns {
				reopened = append(reopened, t)
			}
		}
		q.looked = true
	}
	for _, t := range reopened {
		q.put(s, t)
	}
	q.hourOver()
}

// forget takes back the warnings of a queue that no longer exists.
func (q *queue) forget() {
	delete(q.budgets.waiting, q)
	q.Notices.Mended(q.waitsAnHour())
	q.Notices.Mended(q.stalls())
	for _, t := range q.tasks {
		q.readable(t)
		q.Notices.Mended(q.waitsIn(t.root))
	}
}

// told notes that somebody was told that a budget is spent, or could not be told.
func (q *queue) told(spent *overspent) { delete(q.budgets.telling, spent.root) }
