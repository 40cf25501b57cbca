package gitsync

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// settle compares main with the remote's tip. A message that is in both is pushed, and the journal
// lets go of it.
func (g *progress) settle() error {
	if !g.shared() {
		return nil
	}
	g.mu.Lock()
	tree, remote := g.tree, g.remoteTree
	g.mu.Unlock()
	now := time.Now()
	unpushed := map[protocol.Path]time.Time{}
	otherFiles := false
	err := g.store.Diff(remote, tree, func(d objects.Difference) error {
		if p, isMessage := messagePath(d.Path); isMessage && d.New.Mode.IsFile() {
			unpushed[p] = now
		} else {
			otherFiles = true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot compare main with the remote: %w", err)
	}
	pushed := map[protocol.Path]struct{}{}
	var waiting []*heldMessage
	g.mu.Lock()
	oldest := now
	for p, since := range g.unpushed {
		if _, still := unpushed[p]; !still {
			pushed[p] = struct{}{}
			continue
		}
		unpushed[p] = since
		if since.Before(oldest) {
			oldest = since
		}
	}
	if len(unpushed) == 0 {
		oldest = time.Time{}
	}
	g.unpushed, g.oldest, g.otherFiles = unpushed, oldest, otherFiles
	for _, messages := range g.held {
		for _, h := range messages {
			if h.recorded {
				waiting = append(waiting, h)
			}
		}
	}
	g.mu.Unlock()
	return g.releasePushed(remote, waiting, pushed)
}

func (g *progress) releasePushed(remote objects.Hash, waiting []*heldMessage, pushed map[protocol.Path]struct{}) error {
	var done []*heldMessage
	for _, h := range waiting {
		ok, err := g.inTree(remote, h)
		if err != nil {
			return fmt.Errorf("cannot compare main with the remote: %w", err)
		}
		if ok {
			done = append(done, h)
			pushed[h.path] = struct{}{}
		}
	}
	g.release(done)
	g.tell.pushed(slices.Collect(maps.Keys(pushed)))
	return nil
}

// lag is what the remote lacks of main.
type lag struct {
	behind     bool      // the remote's main is another commit
	unpushed   int       // messages that the remote lacks
	oldest     time.Time // since when it lacks the first of them
	otherFiles bool      // it lacks other files
}

// lag compares main with the remote's main. Without a remote, nothing is behind.
func (g *progress) lag() lag {
	g.mu.Lock()
	defer g.mu.Unlock()
	return lag{g.shared() && g.tip != g.remoteTip, len(g.unpushed), g.oldest, g.otherFiles}
}

// count is how many messages the remote lacks. It is 1 if the remote lacks a commit with only other
// files, or one that is not compared yet.
func (l lag) count() int {
	if l.behind {
		return max(l.unpushed, 1)
	}
	return l.unpushed
}

// report fills in what a status says about messages.
func (g *progress) report(s *Status) {
	g.mu.Lock()
	s.Tip = g.tip.String()
	for _, h := range g.pending {
		switch {
		case g.withheld.has(h.path):
			s.Withheld = append(s.Withheld, h.path)
			continue
		case s.Unrecorded == 0:
			s.WaitingSince = h.since
		}
		s.Unrecorded++
	}
	if g.remoteTip != objects.Zero {
		s.RemoteTip = g.remoteTip.String()
	}
	g.mu.Unlock()
	l := g.lag() // after Unrecorded, so that no message is missing from both
	s.Unpushed = l.count()
	if s.WaitingSince.IsZero() || !l.oldest.IsZero() && l.oldest.Before(s.WaitingSince) {
		s.WaitingSince = l.oldest
	}
}
