package gitsync

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// ErrNotSince says that main does not simply hold all files of a given commit and further ones:
// that commit is not there, or something in it is gone or has changed.
var ErrNotSince = errors.New("main is not that commit and more")

// WalkSince is Walk for a caller that knows what all files of a commit say: it leaves out what that
// commit holds already. The error is ErrNotSince, perhaps after some visits, if only Walk can tell
// what the record says now. The commit need not be an ancestor of main: only its content counts.
func (r *Reader) WalkSince(ctx context.Context, commit string, visit func(MessageFile) error) error {
	if !plumbing.IsHash(commit) {
		return fmt.Errorf("%w: %q is not the name of a commit", ErrNotSince, commit)
	}
	before, err := r.store.TreeOf(plumbing.NewHash(commit))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSince, err)
	}
	main, stored := r.progress.snapshot()
	var fresh []arrival
	err = r.store.Diff(before, main, func(d objects.Difference) error {
		p, ok, err := r.since(main, d)
		if ok {
			fresh = append(fresh, arrival{path: p, blob: d.New.Hash})
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrNotSince) {
		return fmt.Errorf("%w: %w", ErrNotSince, err)
	}
	for i := 0; i < len(fresh) && err == nil; i++ {
		var data []byte
		if data, err = messageData(r.store, fresh[i].blob); err == nil {
			err = errors.Join(ctx.Err(), visit(MessageFile{Path: fresh[i].path, Data: data, Recorded: true}))
		}
	}
	for i := 0; i < len(stored) && err == nil; i++ {
		err = errors.Join(ctx.Err(), visit(stored[i]))
	}
	if err != nil {
		return fmt.Errorf("cannot walk what is new in the record: %w", err)
	}
	return nil
}

// since is the message that a difference brings. `ok` is false if it brings none. A message may
// have given way to another content at its path only if it is kept as a conflict.
func (r *Reader) since(main objects.Hash, d objects.Difference) (p protocol.Path, ok bool, err error) {
	p, isMessage := messagePath(d.Path)
	if !isMessage {
		if p, ok = parseConflictPath(d.Path); !ok {
			return p, false, nil
		}
	}
	switch {
	case d.Old.Hash != objects.Zero && d.Old.Mode.IsFile() && d.New.Hash == d.Old.Hash && d.New.Mode.IsFile():
		return p, false, nil
	case d.Old.Hash == objects.Zero || !d.Old.Mode.IsFile():
		return p, d.New.Mode.IsFile(), nil
	case !isMessage || !d.New.Mode.IsFile():
		return p, false, fmt.Errorf("%w: %s is gone or changed", ErrNotSince, d.Path)
	}
	old, err := messageData(r.store, d.Old.Hash)
	if err != nil {
		return p, false, err
	}
	e, kept, err := r.store.Lookup(main, conflictPath(p.String(), old))
	if err == nil && (!kept || e.Hash != d.Old.Hash) {
		err = fmt.Errorf("%w: %s was changed", ErrNotSince, d.Path)
	}
	return p, true, err
}

// Files are the files of one commit.
type Files struct {
	store *objects.Store
	tree  objects.Hash
}

// FilesOf are the files of a commit, given in hex.
func (r *Reader) FilesOf(commit string) (*Files, error) {
	if !plumbing.IsHash(commit) {
		return nil, fmt.Errorf("%q is not the name of a commit", commit)
	}
	tree, err := r.store.TreeOf(plumbing.NewHash(commit))
	if err != nil {
		return nil, fmt.Errorf("cannot look into commit %s: %w", commit, err)
	}
	return &Files{r.store, tree}, nil
}

// Have reports whether there is a message at `p`.
func (f *Files) Have(p protocol.Path) (bool, error) {
	_, ok, err := f.store.Lookup(f.tree, p.RepoPath())
	if err != nil {
		return false, fmt.Errorf("cannot look up %s: %w", p, err)
	}
	return ok, nil
}

// Keep reports whether the bytes with that SHA-256, in hex, are there: at the path of their message
// or among the conflicts.
func (f *Files) Keep(p protocol.Path, hash string) (bool, error) {
	if len(hash) < conflictHex {
		return false, nil
	}
	for _, path := range []string{p.RepoPath(), conflictsPrefix + p.String() + "-" + hash[:conflictHex]} {
		data, ok, err := readFile(f.store, f.tree, path)
		if err != nil {
			return false, err
		}
		if ok && protocol.Hash(data) == hash {
			return true, nil
		}
	}
	return false, nil
}
