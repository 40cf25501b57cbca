package gitsync

import (
	"fmt"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// settle compares main with the remote's tip: what is in both is pushed, and
// the journal lets go of it.
func (r *Record) settle() error {
	if r.opts.Remote == "" {
		return nil
	}
	r.state.mu.Lock()
	tree, remote := r.state.tree, r.state.remoteTree
	r.state.mu.Unlock()
	now := time.Now()
	unpushed := map[protocol.Path]time.Time{}
	otherFiles := false
	err := r.store.Diff(remote, tree, func(d objects.Difference) error {
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
	var waiting []*heldLetter
	r.state.mu.Lock()
	oldest := now
	for p, since := range r.state.unpushed {
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
	r.state.unpushed, r.state.oldest, r.state.otherFiles = unpushed, oldest, otherFiles
	for _, letters := range r.state.held {
		for _, h := range letters {
			if h.recorded {
				waiting = append(waiting, h)
			}
		}
	}
	r.state.mu.Unlock()
	return r.releasePushed(remote, waiting, pushed)
}

func (r *Record) releasePushed(remote objects.Hash, waiting []*heldLetter, pushed map[protocol.Path]struct{}) error {
	var done []*heldLetter
	for _, h := range waiting {
		ok, err := r.inTree(remote, h)
		if err != nil {
			return fmt.Errorf("cannot compare main with the remote: %w", err)
		}
		if ok {
			done = append(done, h)
			pushed[h.path] = struct{}{}
		}
	}
	r.release(done)
	paths := make([]protocol.Path, 0, len(pushed))
	for p := range pushed {
		paths = append(paths, p)
	}
	r.tell.pushed(paths)
	return nil
}
