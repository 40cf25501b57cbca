package node

import (
	"context"

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
	if agent, yes := n.state.Misaddressed(it, n.cfg.Alias); yes {
		n.warnOnce(it.Path, "%s is addressed to %s@%s, which is not served here", it.Path, agent, n.cfg.Alias)
	}
	if it.Host == "" && n.serves(it.From) {
		n.warnOnce(it.Path, "%s claims to be from %s, but this node did not write it", it.Path, it.From)
	}
}

func (n *Node) warnOnce(p protocol.Path, format string, args ...any) {
	if !n.warned[p.String()] {
		n.warned[p.String()] = true
		n.notice(format, args...)
	}
}

// serves reports whether an agent of this name is served here. The caller holds
// mu.
func (n *Node) serves(name string) bool {
	for _, a := range n.agents {
		if a.Name.String() == name {
			return true
		}
	}
	return false
}

// openDoor starts the exec door of an agent and gives it what is waiting: all
// its unread mail but that which was in the record before the agent was (R8).
func (n *Node) openDoor(a configs.Agent, taking, killing context.Context) {
	if a.Door != configs.DoorExec {
		return
	}
	w := newWorker(n, a)
	n.mu.Lock()
	waiting := n.state.Inbox(w.who(), false)
	n.mu.Unlock()
	var due []*fleet.Item
	for _, it := range waiting {
		if !n.old(a, it.Path) {
			due = append(due, it)
		}
	}
	n.mu.Lock()
	for _, it := range due {
		w.add(it)
	}
	n.workers[a.Name] = w
	n.mu.Unlock()
	w.start(taking, killing)
}

// old reports whether the record held the message when the agent was added.
func (n *Node) old(a configs.Agent, p protocol.Path) bool {
	if a.DispatchSince == "" {
		return false
	}
	had, err := n.record.Contains(a.DispatchSince, p)
	if err != nil {
		n.log.Warn().Err(err).Stringer("agent", a.Name).Msg("cannot tell which mail is older than the agent; it is not run")
		return true
	}
	return had
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
