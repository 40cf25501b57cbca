package serving

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// doors bring messages to the agents of this host. There is a worker for each agent that has a
// command.
type doors struct {
	*tools
	claims  *claims                   // on work that several hosts could do
	workers map[protocol.Name]*worker // read and changed while the state is read

	taking  context.Context // ends when no new message is taken
	killing context.Context // ends when running commands must end
}

// DrainTime is how long commands that run when the node stops may go on. What is not answered by
// then is run again at the next start.
const DrainTime = 3 * time.Second

// start opens the doors of all agents. `stop` lets no new message in, and returns when the running
// commands have ended, which may take DrainTime.
func (d *doors) start() (stop func()) {
	taking, stopTaking := context.WithCancel(context.Background())
	killing, kill := context.WithCancel(context.Background())
	d.taking, d.killing = taking, killing
	for _, a := range d.Roster.All() {
		d.open(a)
	}
	return func() {
		stopTaking()
		timer := time.AfterFunc(DrainTime, kill)
		defer timer.Stop()
		var workers map[protocol.Name]*worker
		d.Folded(func(*fleet.State) { workers, d.workers = d.workers, map[protocol.Name]*worker{} })
		for _, w := range workers {
			w.work.Wait()
		}
		kill()
	}
}

// Bring takes a message that is new in the state to the doors. It is called while the state is read
// in which the message came.
func (d *doors) Bring(s *fleet.State, it *fleet.Item) {
	d.offer(s, it)
	if it.Act == protocol.ActRunRetry || it.Act == protocol.ActRunClaim {
		// A dead letter is mail again, or this host has taken over another host's work.
		if w, err := protocol.RunRetry.Parse(it.Body); err == nil { // both begin with the same form
			if of, there := s.Ledger.Item(w.Of); there {
				d.offer(s, of)
			}
		}
	}
	if w := d.workers[protocol.Name(it.From)]; it.Act == protocol.ActPresence && w != nil {
		w.queue.nudge() // a message of a party waits while the agent is busy there
	}
	if agent, yes := s.Talk.Misaddressed(it, d.Host); yes && it.Act.Mail() { // members of inquiries need not be served
		d.Notices.Once(it.Path.String(), "%s is addressed to %s@%s, which is not served here", it.Path, agent, d.Host)
	}
	if author := it.Author(); it.Host == "" && d.Roster.Serves(author.Name) && (author.Host == "" || author.Host == d.Host.String()) {
		d.Notices.Once(it.Path.String(), "%s claims to be from %s, but this node did not write it", it.Path, it.From)
	}
}

// offer has each door queue a message if it is for its agent.
func (d *doors) offer(s *fleet.State, it *fleet.Item) {
	for _, w := range d.workers {
		w.queue.add(s, it)
	}
}

// open starts the exec door of an agent and gives it what is waiting: all its unread mail, except
// what was in the record before the agent was (R8).
func (d *doors) open(a configs.Agent) {
	if a.Door != configs.DoorExec {
		return
	}
	w := &worker{tools: d.tools, queue: newQueue(d.tools, d.claims, fleet.Who{Name: a.Name.String(), Host: d.Host}, a)}
	w.claimant = w.slots.Join(w.queue.wake)
	d.Folded(func(*fleet.State) { d.workers[a.Name] = w }) // what comes from now on is new, and bring queues it
	d.fill(w.queue)
	w.start(d.taking, d.killing)
}

func (d *doors) change(a configs.Agent) {
	var q *queue
	accepts := false
	d.Folded(func(s *fleet.State) {
		if w := d.workers[a.Name]; w != nil {
			q = w.queue
			accepts = q.agent.Accepts != a.Accepts || q.agent.Examiner != a.Examiner
			q.serve(s, a)
		}
	})
	switch {
	case q == nil:
		d.open(a)
	case accepts: // messages that were left for somebody else may now be for its command
		d.fill(q)
	}
}

// pause has the agent's mail wait, or be handled again.
func (d *doors) pause(agent protocol.Name, paused bool) {
	d.Folded(func(*fleet.State) {
		if w := d.workers[agent]; w != nil {
			w.queue.paused = paused
			w.queue.nudge()
		}
	})
}

func (d *doors) close(agent protocol.Name) {
	if w := d.of(agent); w != nil {
		w.end()
		w.work.Wait()
		d.Folded(func(*fleet.State) {
			delete(d.workers, agent)
			w.queue.forget()
		})
	}
}

// look has an agent check again what waits for a budget.
func (d *doors) look(agent protocol.Name) {
	d.Folded(func(*fleet.State) {
		if w := d.workers[agent]; w != nil {
			w.queue.look()
		}
	})
}

// overHour is how many messages wait because agents have had the agent run too often within
// an hour.
func (d *doors) overHour(agent protocol.Name) (count int) {
	d.Folded(func(*fleet.State) {
		if w := d.workers[agent]; w != nil {
			count = w.queue.count[overHour]
		}
	})
	return count
}

// overTalk is how many messages wait, for all agents here, because agents have had each other run
// too often in the conversation of a message.
func (d *doors) overTalk(p protocol.Path) (count int) {
	d.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(p)
		if !there {
			return
		}
		root := s.Talk.Root(it)
		for _, w := range d.workers {
			count += len(w.queue.overIn(root))
		}
	})
	return count
}

// fillAll queues what waits for the agent, or for all agents if `agent` is "", and is not queued
// yet.
func (d *doors) fillAll(agent string) {
	var queues []*queue
	d.Folded(func(*fleet.State) {
		for name, w := range d.workers {
			if agent == "" || agent == name.String() {
				queues = append(queues, w.queue)
			}
		}
	})
	for _, q := range queues {
		d.fill(q)
	}
}

func (d *doors) fill(q *queue) {
	var waiting []*fleet.Item
	var agent configs.Agent
	again := map[protocol.Path]bool{} // messages that somebody has had tried again; their age does not matter
	d.Folded(func(s *fleet.State) {
		waiting, agent = slices.Collect(s.Talk.Inbox(q.who, false)), q.agent
		for _, it := range waiting {
			again[it.Path] = s.Run(it.Path, q.who.Name).Again != nil
		}
	})
	old := d.older(agent)
	waiting = slices.DeleteFunc(waiting, func(it *fleet.Item) bool { return !again[it.Path] && old(it.Path) })
	d.Folded(func(s *fleet.State) {
		for _, it := range waiting {
			q.add(s, it)
		}
		q.look()
	})
}

// older reports which messages the record held when the agent was added. If the commit of that
// moment is lost, together with a record.git that was lost before it was pushed, the date of a
// message decides.
func (d *doors) older(a configs.Agent) func(protocol.Path) bool {
	if a.DispatchSince == "" {
		return func(protocol.Path) bool { return false }
	}
	files, gone := d.Record.FilesOf(a.DispatchSince)
	said := false
	return func(p protocol.Path) bool {
		had, err := false, gone
		if err == nil {
			had, err = files.Have(p)
		}
		if err == nil {
			return had
		}
		if !said {
			said = true
			d.Log.Warn().Err(err).Stringer("agent", a.Name).Msg("cannot tell which mail is older than the agent; what is dated before it was added is not run")
		}
		return p.Time().Before(a.Added)
	}
}

// Nudge has every door look at its queue: what messages waited for may have come.
func (d *doors) Nudge() {
	d.Folded(func(*fleet.State) {
		for _, w := range d.workers {
			w.queue.look()
		}
	})
}

// AtWork is on how many messages the agents of this host are working.
func (d *doors) AtWork() (count int) {
	d.Folded(func(*fleet.State) {
		for _, w := range d.workers {
			count += w.queue.count[taken]
		}
	})
	return count
}

// working are the messages for which the agent's command runs. It is asked while the state is read.
func (d *doors) working(agent protocol.Name) (on []protocol.Path) {
	if w := d.workers[agent]; w != nil {
		for p, t := range w.queue.tasks {
			if t.isRun() {
				on = append(on, p)
			}
		}
	}
	return on
}

// view is an agent in the form in which it is shown, with what waits for it. It is asked while the
// state is read.
func (d *doors) view(s *fleet.State, a configs.Agent) control.Agent {
	v := agents.View(a)
	d.Attendance.view(&v)
	v.QuietUntil = a.Quiet.Until(d.Now().Local()).UTC()
	if w := d.workers[a.Name]; w != nil {
		v.Queued, v.Running, v.Held = w.queue.waiting(), w.queue.count[taken], w.slots.Waits(w.claimant)
		v.Over, v.Failing = w.queue.count[overHour]+w.queue.count[overTalk], w.queue.delayed[forRetry]
		v.Stalled = w.queue.stalled.why
	}
	v.ProfileState = d.profiles.ofAgent(s, a).state
	v.Dead = s.DeadCount(fleet.Who{Name: a.Name.String(), Host: d.Host})
	if a.Door == configs.DoorInbox {
		for range s.Talk.Inbox(fleet.Who{Name: a.Name.String(), Host: d.Host}, false) {
			v.Unread++
		}
	}
	return v
}

// of is the worker of an agent; nil if it has none.
func (d *doors) of(agent protocol.Name) (w *worker) {
	d.Folded(func(*fleet.State) { w = d.workers[agent] })
	return w
}

// Lend frees a slot of an agent that waits for the answer to its own message: the answer may have
// to come from an agent here that has no slot.
func (d *doors) Lend(agent protocol.Name) (takeBack func()) {
	if w := d.of(agent); w != nil {
		return w.slots.Lend(w.claimant)
	}
	return func() {}
}
