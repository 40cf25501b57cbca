package gitsync

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	maxCommitLetters = 8192     // in one commit; the rest goes into the next
	maxCommitBytes   = 64 << 20 // of their contents
)

// commit brings what is stored into main: letters of this node at once, those
// of peers when their grace is over, or all of them. It first takes in what
// others did to main. While a part of main is not on the disk it commits nothing.
func (r *Record) commit(ctx context.Context, all bool) error {
	r.work.Lock()
	defer r.work.Unlock()
	for ctx.Err() == nil {
		if err := r.takeInMain(); err != nil {
			return r.because(err)
		}
		letters, files := r.progress.choose(all, r.courier.grace()), r.updates.all()
		if len(letters) == 0 && len(files) == 0 || r.disk.broken() != "" {
			tip, _ := r.progress.main()
			if err := r.disk.check(tip); err != nil || len(letters) == 0 && len(files) == 0 {
				return err
			}
		}
		failpoint.Hit(failpoint.CommitChosen)
		err := r.commitChosen(letters, files)
		if err != nil && !errors.Is(err, objects.ErrRefMoved) {
			return fmt.Errorf("cannot commit %d messages: %w", len(letters), r.because(err))
		}
	}
	return fmt.Errorf("cannot commit: %w", context.Cause(ctx))
}

// because is why a commit failed: what the disk has lost, where it has. The caller
// holds work.
func (r *Record) because(err error) error {
	tip, _ := r.progress.main()
	if damage := r.disk.check(tip); damage != nil {
		return damage
	}
	r.disk.suspect(err)
	return err
}

// commitChosen makes one commit on main. The caller holds work.
func (r *Record) commitChosen(letters []*heldLetter, files map[string]*fileUpdate) error {
	before, base := r.progress.main()
	tip := before
	d := draft{r: r, base: base, changes: map[string]objects.Change{}}
	var said []Letter
	for _, h := range letters {
		blob := d.builder.Blob(h.data)
		added, err := d.place(h.path, blob, h.data)
		if err != nil {
			return err
		}
		if added {
			said = append(said, Letter{Path: h.path, Data: h.data, Peer: h.peer})
		}
	}
	put, err := d.updated(files)
	if err != nil {
		return err
	}
	changed, err := d.put(put)
	if err != nil {
		return err
	}
	tree, err := r.store.Update(base, d.changes, &d.builder)
	if err != nil {
		return err
	}
	if tree != base {
		message := r.describe(said, changed)
		if tip, err = r.writeCommit(&d.builder, tree, message, tip, tip); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.MainMoved)
	r.updates.done(files, put)
	r.progress.committed(tip, tree, said, changed)
	ring(r.shareBell)
	if err := r.disk.check(before); err != nil {
		return err // they are in main and cannot be read from it: the journal keeps them
	}
	r.progress.recorded(letters)
	return nil
}

func (r *Record) describe(letters []Letter, files []string) string {
	switch {
	case len(letters) > 0:
		return r.opts.Describe(letters)
	case len(files) == 1:
		return "update " + files[0]
	}
	return fmt.Sprintf("update %d files\n\n%s", len(files), strings.Join(files, "\n"))
}

// writeCommit installs a commit and moves main from current to it.
func (r *Record) writeCommit(b *objects.Builder, tree objects.Hash, message string, current objects.Hash, parents ...objects.Hash) (objects.Hash, error) {
	next := b.Commit(objects.Commit{
		Tree: tree, Parents: parents, Author: r.author, Committer: r.author, When: r.opts.Now(), Message: message,
	})
	if err := r.store.Install(b); err != nil {
		return objects.Zero, err
	}
	failpoint.Hit(failpoint.CommitInstalled)
	return next, r.refs.moveMain(current, next)
}
