package gitsync

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// prospectName is the folder beside record.git into which a repository is fetched that may become
// the remote.
const prospectName = "record.git.look"

// Prospect is the content of a repository that may become the remote of a record.
type Prospect struct {
	Empty bool
	Notes []string // what the operator should know or do, a sentence each
}

// Inspect looks at opts.Remote, which may become the remote of the record with the id `id` below
// opts.Dir. The repository must be empty or hold that record. Inspect touches nothing of the
// record, which may be in use, and leaves nothing behind. If the remote is on this machine, its
// HEAD names main after that. Errors: ErrForeign, ErrUnfit, ErrRemote.
func Inspect(ctx context.Context, opts Options, id string) (_ Prospect, err error) {
	opts, err = opts.withDefaults()
	if err != nil {
		return Prospect{}, err
	}
	f := founding{opts: opts, dir: filepath.Join(opts.Dir, prospectName)}
	if err := f.makeRepository(); err != nil {
		return Prospect{}, err
	}
	defer func() { err = errors.Join(err, f.clear()) }()
	heads, err := f.branches(ctx)
	if err != nil {
		return Prospect{}, err
	}
	if tip, ok := heads[carrier.MainBranch]; ok {
		if err := f.isRecord(ctx, tip, id); err != nil {
			return Prospect{}, fmt.Errorf("cannot use the remote: %w", err)
		}
	}
	return Prospect{Empty: len(heads) == 0, Notes: f.fixHead(ctx)}, nil
}

// isRecord returns an error for a tip that does not belong to the record with that id. A tip that
// the record itself has need not be fetched.
func (f *founding) isRecord(ctx context.Context, tip objects.Hash, id string) error {
	ours, err := objects.Open(filepath.Join(f.opts.Dir, repoName), f.opts.Log)
	if err == nil {
		if root, err := ours.Root(tip); err == nil && root.String() == id {
			return nil
		}
	}
	if tip, err = f.bring(ctx); err != nil {
		return err
	}
	if _, err := f.weighed(tip); err != nil {
		return err
	}
	root, err := f.store.Root(tip)
	if err != nil {
		return err
	}
	if root.String() != id {
		return fmt.Errorf("%w: it began with %s, and this one with %s", ErrForeign, brief(root), id[:min(len(id), 12)])
	}
	return nil
}

// IDOf is the id of the record below a folder, even while that record is in use. ErrNoRecord says
// that there is none, or that nothing has opened it yet.
func IDOf(dir string) (string, error) {
	id, ok, err := pinnedID(filepath.Join(dir, repoName))
	if err == nil && !ok {
		err = fmt.Errorf("%w in %s", ErrNoRecord, dir)
	}
	return id.String(), err
}
