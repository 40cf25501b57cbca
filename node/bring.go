package node

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// bring takes a message that is new in the state to the doors of this host's
// agents. The caller holds mu.
func (n *Node) bring(it *fleet.Item) {
	for _, w := range n.workers {
		w.add(it)
	}
	if agent, yes := n.state.Talk.Misaddressed(it, n.cfg.Alias); yes {
		n.notices.Once(it.Path.String(), "%s is addressed to %s@%s, which is not served here", it.Path, agent, n.cfg.Alias)
	}
	if author := it.Author(); it.Host == "" && n.roster.Serves(author.Name) && (author.Host == "" || author.Host == n.cfg.Alias.String()) {
		n.notices.Once(it.Path.String(), "%s claims to be from %s, but this node did not write it", it.Path, it.From)
	}
}

// openDoor starts the exec door of an agent and gives it what is waiting: all
// its unread mail but that which was in the record before the agent was (R8).
func (n *Node) openDoor(a configs.Agent, taking, killing context.Context) {
	if a.Door != configs.DoorExec {
		return
	}
	w := newWorker(n, a)
	n.mu.Lock()
	n.workers[a.Name] = w // what comes from now on is new, and queued by bring
	n.mu.Unlock()
	n.fill(w)
	w.start(taking, killing)
}

// fill queues what waits for a worker's agent and is not queued yet.
func (n *Node) fill(w *worker) {
	n.mu.Lock()
	waiting, agent := slices.Collect(n.state.Talk.Inbox(w.who(), false)), w.agent
	n.mu.Unlock()
	old := n.older(agent)
	waiting = slices.DeleteFunc(waiting, func(it *fleet.Item) bool { return old(it.Path) })
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, it := range waiting {
		w.add(it)
	}
}

// older tells which messages the record held when the agent was added. Where the commit
// of that moment is gone, with a record.git that was lost before it was pushed, a
// message's date decides.
func (n *Node) older(a configs.Agent) func(protocol.Path) bool {
	if a.DispatchSince == "" {
		return func(protocol.Path) bool { return false }
	}
	files, gone := n.record.FilesOf(a.DispatchSince)
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
			n.log.Warn().Err(err).Stringer("agent", a.Name).Msg("cannot tell which mail is older than the agent; what is dated before it was added is not run")
		}
		return p.Time().Before(a.Added)
	}
}

// closeDoor ends the exec door of an agent; a command that runs is waited for.
func (n *Node) closeDoor(name protocol.Name) {
	n.mu.Lock()
	w := n.workers[name]
	delete(n.workers, name)
	n.mu.Unlock()
	if w != nil {
		w.end()
		w.work.Wait()
	}
}
