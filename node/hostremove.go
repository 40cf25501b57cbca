package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// RemoveHost answers control.RemoveHost. To remove a host is to revoke its last key when
// everything that it has written is known, so that all of it counts for ever: on that
// host itself, as its last word, or where its node no longer runs.
func (n *Node) RemoveHost(ctx context.Context, r control.RemoveHostRequest) (control.HostRemoval, error) {
	c, done, err := n.removal(r)
	if err == nil && done.Here {
		err = n.everybodyLearns(ctx)
	}
	if err != nil || r.Try {
		return done, err
	}
	if err := typed(r.Phrase, control.RemovePhrase(r.Host), "remove the host"); err != nil {
		return control.HostRemoval{}, err
	}
	if done.Here {
		n.lookout.Out.Store(true) // an answer that comes after the last word counts no more
		n.awaitAgents(ctx)
		if c, _, err = n.removal(r); err != nil {
			n.stayAfterAll()
			return control.HostRemoval{}, err
		}
		n.own.retire(done.Host) // the node ends with the word itself
	}
	ws, err := n.decider.act(ctx, c, protocol.Path{})
	switch {
	case err == nil && !done.Here:
		n.own.retire(done.Host)
	case err != nil && done.Here:
		n.stayAfterAll()
	}
	if err != nil {
		return control.HostRemoval{}, asError(err)
	}
	done.Path = ws[0].message.Path
	return done, nil
}

// stayAfterAll takes back what was done before this host's last word, which could not
// be stored.
func (n *Node) stayAfterAll() {
	if err := n.own.render(); err != nil {
		n.log.Warn().Err(err).Msg("cannot render this host's file")
	}
	n.lookout.Out.Store(false)
	n.doors.nudge()
}

// removal is the command that a request asks for, and what it does.
func (n *Node) removal(r control.RemoveHostRequest) (fleet.Revoke, control.HostRemoval, error) {
	c, key, err := n.revocation(control.RevokeRequest{Host: r.Host})
	if err != nil {
		return c, control.HostRemoval{}, err
	}
	c.Removed = true
	done := control.HostRemoval{Host: r.Host, Human: key.Human, Here: key.Here}
	if _, live := n.live.PresenceOf(r.Host); live && !done.Here {
		return c, done, control.Errorf(control.KindConflict, "run it there, where all that it has written is known: parley host remove "+r.Host.String()+
			"; or stop its node first: parley stop", "cannot remove %s: its node runs", r.Host)
	}
	if done.Here {
		done.Running = n.doors.atWork()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h, _ := n.state.Keys().Host(r.Host)
	founder, _ := n.state.Keys().Founder()
	done.Founder = founder == r.Host
	for _, a := range h.Agents {
		done.Agents = append(done.Agents, a.Name)
		for range n.state.Talk.Inbox(fleet.Who{Name: a.Name.String(), Host: r.Host}, false) {
			done.Waiting++
		}
	}
	return c, done, nil
}

// everybodyLearns refuses to remove this host where its last word would stay here: the
// machine may be wiped a moment later.
func (n *Node) everybodyLearns(ctx context.Context) error {
	if n.cfg.Remote == "" {
		return nil
	}
	if err := n.record.Fetch(ctx); err != nil {
		return control.Errorf(control.KindUnavailable, "try again when it can: parley status", "cannot remove this host: "+
			"the remote cannot be used, and nobody would learn of it: %v", err)
	}
	return nil
}

const drainLook = 20 * time.Millisecond

// awaitAgents waits for what agents work on, as long as a node that stops does.
func (n *Node) awaitAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for ctx.Err() == nil {
		if n.doors.atWork() == 0 {
			return
		}
		wait.Sleep(ctx, drainLook)
	}
}
