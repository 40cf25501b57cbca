package gitsync

import (
	"cmp"
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// committed notes what main is now, and that the remote lacks the messages and files that were
// added to it.
func (g *progress) committed(tip, tree objects.Hash, added []MessageFile, files []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tip, g.tree = tip, tree
	if !g.shared() {
		return
	}
	now := time.Now()
	for _, l := range added {
		g.unpushed[l.Path] = now
	}
	if len(added) > 0 && g.oldest.IsZero() {
		g.oldest = now
	}
	g.otherFiles = g.otherFiles || len(files) > 0
}

// recorded notes that these messages are in main. Without a remote, the journal need no longer keep
// them.
func (g *progress) recorded(messages []*heldMessage) {
	if len(messages) == 0 {
		return
	}
	paths := make([]protocol.Path, len(messages))
	g.mu.Lock()
	for i, h := range messages {
		h.recorded = true
		h.data = nil
		paths[i] = h.path
	}
	g.pending = slices.DeleteFunc(g.pending, func(h *heldMessage) bool { return h.recorded })
	g.mu.Unlock()
	if !g.shared() {
		g.release(messages)
	}
	g.tell.recorded(paths)
}

func (g *progress) release(messages []*heldMessage) {
	ids := make([]journal.ID, len(messages))
	g.mu.Lock()
	for i, h := range messages {
		ids[i] = h.id
		rest := slices.DeleteFunc(g.held[h.path], func(other *heldMessage) bool { return other == h })
		if len(rest) == 0 {
			delete(g.held, h.path)
		} else {
			g.held[h.path] = rest
		}
	}
	g.mu.Unlock()
	if err := g.journal.Done(ids...); err != nil {
		g.log.Warn().Err(err).Msg("the journal keeps what it need not keep")
	}
}

// recordPresent finds messages that only wait to be in main and are in it already, because others
// have brought them. If main names a message whose content the disk has lost, the journal has the
// only copy, which is put back.
func (g *progress) recordPresent() error {
	g.mu.Lock()
	tree := g.tree
	waiting := slices.Clone(g.pending)
	g.mu.Unlock()
	var present []*heldMessage
	for _, h := range waiting {
		ok, err := g.inTree(tree, h)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !g.store.Has(h.blob) {
			if err := g.store.Restore(h.blob); err != nil {
				return err
			}
		}
		present = append(present, h)
	}
	g.recorded(present)
	return nil
}

// inTree reports whether the bytes of h are in a tree, at their path or kept as
// a conflict.
func (g *progress) inTree(tree objects.Hash, h *heldMessage) (bool, error) {
	e, ok, err := g.store.Lookup(tree, h.path.RepoPath())
	if err != nil || !ok || e.Hash == h.blob {
		return ok && err == nil, err
	}
	data := h.data
	if h.recorded {
		if data, err = g.store.Blob(h.blob); err != nil {
			return false, err
		}
	}
	e, ok, err = g.store.Lookup(tree, conflictPath(h.path.String(), data))
	return err == nil && ok && e.Hash == h.blob, err
}

// choose takes the messages that are to be committed now: all if `all` is true, else without
// messages of peers that have not waited for `grace`. It never takes what is withheld.
func (g *progress) choose(all bool, grace time.Duration) []*heldMessage {
	g.mu.Lock()
	defer g.mu.Unlock()
	var chosen []*heldMessage
	size, now := 0, time.Now()
	for _, h := range g.pending {
		if !all && h.peer && now.Sub(h.since) < grace || g.withheld.has(h.path) {
			continue
		}
		if len(chosen) == maxCommitMessages || size > maxCommitBytes {
			break
		}
		chosen = append(chosen, h)
		size += len(h.data)
	}
	return chosen
}

// nextGrace is how long it takes until the next message of a peer has waited for `grace`.
func (g *progress) nextGrace(grace time.Duration) (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.pending {
		if h.peer && !g.withheld.has(h.path) {
			return max(0, grace-time.Since(h.since)), true
		}
	}
	return 0, false
}

// unrecord has messages committed again that were in main and are not in its new tree.
func (g *progress) unrecord(tree objects.Hash) error {
	g.mu.Lock()
	var ids []journal.ID
	var recorded []*heldMessage
	for _, messages := range g.held {
		for _, h := range messages {
			if h.recorded {
				recorded = append(recorded, h)
				ids = append(ids, h.id)
			}
		}
	}
	g.mu.Unlock()
	entries, err := g.journal.Read(ids...)
	if err != nil {
		return err
	}
	var lost []*heldMessage
	for _, h := range recorded {
		data := entries[h.id].Data
		there, err := g.inTree(tree, &heldMessage{path: h.path, blob: h.blob, data: data})
		if err != nil {
			return err
		}
		if !there {
			lost = append(lost, h)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range lost {
		h.recorded, h.data = false, entries[h.id].Data
	}
	g.pending = append(g.pending, lost...)
	slices.SortFunc(g.pending, func(a, b *heldMessage) int { return cmp.Compare(a.id, b.id) })
	return nil
}
