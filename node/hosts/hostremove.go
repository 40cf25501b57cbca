package hosts

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// remover takes hosts out of the fleet. It revokes their last key when everything that they have
// written is known, so that all of it counts for ever. A host does that itself, as its last word.
// Another host does it if that host's node no longer runs.
type remover struct {
	*Options
	revoker *revoker
}

// RemoveHost answers control.RemoveHost.
func (rm *remover) RemoveHost(ctx context.Context, r control.RemoveHostRequest) (control.HostRemoval, error) {
	c, done, err := rm.removal(r)
	if err == nil && done.Here {
		err = rm.everybodyLearns(ctx)
	}
	if err != nil || r.Try {
		return done, err
	}
	if err := typed(r.Phrase, control.RemovePhrase(r.Host), "remove the host"); err != nil {
		return control.HostRemoval{}, err
	}
	if done.Here {
		rm.Lookout.Out.Store(true) // an answer that comes after the last word no longer counts
		rm.awaitAgents(ctx)
		if c, _, err = rm.removal(r); err != nil {
			rm.stayAfterAll()
			return control.HostRemoval{}, err
		}
		rm.revoker.own.retire(done.Host) // after that word the node ends
	}
	ws, err := rm.Decider.Act(ctx, c, protocol.Path{})
	switch {
	case err == nil && !done.Here:
		rm.revoker.own.retire(done.Host)
	case err != nil && done.Here:
		rm.stayAfterAll()
	}
	if err != nil {
		return control.HostRemoval{}, err
	}
	done.Path = ws[0].Message.Path
	return done, nil
}

// stayAfterAll takes back what was done before this host's last word, if that word could not be
// stored.
func (rm *remover) stayAfterAll() {
	if err := rm.revoker.own.Render(); err != nil {
		rm.Log.Warn().Err(err).Msg("cannot render this host's file")
	}
	rm.Lookout.Out.Store(false)
	rm.Nudge()
}

func (rm *remover) removal(r control.RemoveHostRequest) (fleet.Revoke, control.HostRemoval, error) {
	c, key, err := rm.revoker.revocation(control.RevokeRequest{Host: r.Host})
	if err != nil {
		return c, control.HostRemoval{}, err
	}
	c.Removed = true
	done := control.HostRemoval{Host: r.Host, Human: key.Human, Here: key.Here}
	if _, live := rm.Live.PresenceOf(r.Host); live && !done.Here {
		return c, done, control.Errorf(control.KindConflict, "run it there, where all that it has written is known: parley fleet remove "+r.Host.String()+
			"; or stop its node first: parley stop", "cannot remove %s: its node runs", r.Host)
	}
	rm.Folded(func(s *fleet.State) {
		h, _ := s.Keys().Host(r.Host)
		founder, _ := s.Keys().Founder()
		done.Founder = founder == r.Host
		for _, a := range h.Agents {
			done.Agents = append(done.Agents, a.Name)
			for range s.Talk.Inbox(fleet.Who{Name: a.Name.String(), Host: r.Host}, false) {
				done.Waiting++
			}
		}
	})
	if done.Here {
		done.Running = rm.AtWork()
	}
	return c, done, nil
}

// everybodyLearns returns an error if this host is to be removed and its last word would stay on
// it: the machine may be wiped a moment later.
func (rm *remover) everybodyLearns(ctx context.Context) error {
	if !rm.Record.Shared() {
		return nil
	}
	if err := rm.Record.Fetch(ctx); err != nil {
		return control.Errorf(control.KindUnavailable, "try again when it can: parley status", "cannot remove this host: "+
			"the remote cannot be used, and nobody would learn of it: %v", err)
	}
	return nil
}

const drainLook = 20 * time.Millisecond

// awaitAgents waits for the work of agents, for as long as a node that stops does.
func (rm *remover) awaitAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rm.Drain)
	defer cancel()
	for ctx.Err() == nil && rm.AtWork() > 0 {
		wait.Sleep(ctx, drainLook)
	}
}
