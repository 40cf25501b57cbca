package serving

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Mail of this host to a name that no host has any more would wait for ever. Its sender is told at
// once. If nobody has the name takeover_after later, the mail is a dead letter.

const (
	// unservedBack is how far back it is looked for such mail, and mostUnserved how many messages:
	// nobody waits for what is older.
	unservedBack = 24 * time.Hour
	mostUnserved = 4096
)

// unserved are the addressees of a message whose names hosts once had, and that no host has any
// more.
func unserved(s *fleet.State, it *fleet.Item) (names []string) {
	for _, to := range it.To {
		if len(s.People.ServedOn(to.Name)) > 0 && (to.Host == "" || s.People.ServesAt(to)) {
			continue
		}
		for range s.Keys().Declarations(to.Name) {
			names = append(names, to.Name)
			break
		}
	}
	return names
}

// owe notes a message of this host that nobody may be there to answer, and returns the names of
// those addressees. It is asked while the state is read.
func (c *claims) owe(s *fleet.State, it *fleet.Item) (names []string) {
	if it.Type != protocol.TypeText || !it.Act.Mail() || !it.Act.Wakes() {
		return nil
	}
	names = unserved(s, it)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		w := work{path: it.Path, agent: name}
		if _, known := c.owed[w]; !known {
			c.owed[w] = c.Now().Add(protocol.DefaultTakeover)
		}
	}
	return names
}

// oweLately notes what this host wrote lately that nobody may be there to answer.
func (c *claims) oweLately() {
	c.Folded(func(s *fleet.State) {
		last, ok := s.Chains.LastOf(c.Host)
		if !ok {
			return
		}
		since := c.Now().Add(-unservedBack)
		for _, it := range s.Chains.Back(c.Host, last.Hash, protocol.Path{}, mostUnserved) {
			if it.Timestamp.After(since) && s.Talk.Stage(it.Path) == protocol.StageNone {
				c.owe(s, it)
			}
		}
	})
}

// giveUpUnserved makes dead letters of what nobody is there to answer.
func (c *claims) giveUpUnserved(ctx context.Context) {
	now := c.Now()
	var due []work
	c.mu.Lock()
	for w, at := range c.owed {
		if !now.Before(at) {
			due = append(due, w)
			delete(c.owed, w)
		}
	}
	c.mu.Unlock()
	for _, w := range due {
		var to protocol.Address
		over := true
		c.Folded(func(s *fleet.State) {
			if it, there := s.Ledger.Item(w.path); there {
				to, over = s.Talk.AuthorOf(it, c.Host), !slices.Contains(unserved(s, it), w.agent) || s.Talk.Stage(w.path) != protocol.StageNone
			}
		})
		if over {
			continue
		}
		if _, err := c.Do(ctx, affairs.GiveUp(w.path, w.agent, to, w.agent+": no host serves it any more")); err != nil && !writing.IsRefusal(err) {
			c.Log.Warn().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("what nobody serves is not given up yet")
			c.mu.Lock()
			c.owed[w] = now.Add(lostLong)
			c.mu.Unlock()
		}
	}
}
