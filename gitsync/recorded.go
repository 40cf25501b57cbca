package gitsync

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// updatesDone notes that updates of files are in main, and as what.
func (r *Record) updatesDone(updates map[string]*fileUpdate, put map[string][]byte) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	for file, u := range updates {
		if r.state.files[file] == u { // no other came meanwhile
			delete(r.state.files, file)
		}
	}
	for file, data := range put {
		r.state.mine[file] = objects.BlobHash(data)
	}
}

// committed notes what main is now.
func (r *Record) committed(tip, tree objects.Hash, added []Letter, changed []string) {
	r.state.mu.Lock()
	r.state.tip, r.state.tree = tip, tree
	if r.state.unpushed != nil {
		r.lacking(added, changed)
	}
	r.state.mu.Unlock()
	ring(r.shareBell)
}

// lacking notes that the remote lacks what was just committed. The caller holds
// state.mu.
func (r *Record) lacking(added []Letter, files []string) {
	now := time.Now()
	for _, l := range added {
		r.state.unpushed[l.Path] = now
	}
	if len(added) > 0 && r.state.oldest.IsZero() {
		r.state.oldest = now
	}
	r.state.otherFiles = r.state.otherFiles || len(files) > 0
}

// recorded notes that these letters are in main; without a remote the journal
// need not keep them.
func (r *Record) recorded(letters []*heldLetter) {
	if len(letters) == 0 {
		return
	}
	paths := make([]protocol.Path, len(letters))
	r.state.mu.Lock()
	for i, h := range letters {
		h.recorded = true
		h.data = nil
		paths[i] = h.path
	}
	r.state.pending = slices.DeleteFunc(r.state.pending, func(h *heldLetter) bool { return h.recorded })
	r.state.mu.Unlock()
	if r.opts.Remote == "" {
		r.release(letters)
	}
	r.tell.recorded(paths)
}

// release lets letters go from the journal.
func (r *Record) release(letters []*heldLetter) {
	ids := make([]journal.ID, len(letters))
	r.state.mu.Lock()
	for i, h := range letters {
		ids[i] = h.id
		rest := slices.DeleteFunc(r.state.held[h.path], func(other *heldLetter) bool { return other == h })
		if len(rest) == 0 {
			delete(r.state.held, h.path)
		} else {
			r.state.held[h.path] = rest
		}
	}
	r.state.mu.Unlock()
	if err := r.journal.Done(ids...); err != nil {
		r.log.Warn().Err(err).Msg("the journal keeps what it need not keep")
	}
}

// recordPresent finds letters that are only waiting to be in main and are in it
// already, because others brought them. Of what main names and the disk has lost the
// journal has the only copy, which is put back.
func (r *Record) recordPresent() error {
	r.state.mu.Lock()
	tree := r.state.tree
	waiting := slices.Clone(r.state.pending)
	r.state.mu.Unlock()
	var present []*heldLetter
	for _, h := range waiting {
		ok, err := r.inTree(tree, h)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !r.store.Has(h.blob) {
			if err := r.store.Restore(h.blob); err != nil {
				return err
			}
		}
		present = append(present, h)
	}
	r.recorded(present)
	return nil
}

// inTree reports whether the bytes of h are in a tree, at their path or kept as
// a conflict.
func (r *Record) inTree(tree objects.Hash, h *heldLetter) (bool, error) {
	e, ok, err := r.store.Lookup(tree, h.path.RepoPath())
	if err != nil || !ok || e.Hash == h.blob {
		return ok && err == nil, err
	}
	data := h.data
	if h.recorded {
		if data, err = r.store.Blob(h.blob); err != nil {
			return false, err
		}
	}
	e, ok, err = r.store.Lookup(tree, conflictPath(h.path, data))
	return err == nil && ok && e.Hash == h.blob, err
}
