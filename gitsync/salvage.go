package gitsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// salvor brings back what the disk has lost of main, or makes main of what is left.
type salvor struct {
	opts     Options
	store    *objects.Store
	progress *progress
	survey   surveyor
	reader   *Reader
	author   objects.Identity
	refs     *refs
	losses   *lossBook
	packs    *packNotes
	mender   *mender
	main     *mainline
	log      zerolog.Logger
}

// restoreMain looks at main after something was removed or damaged while nobody had the record
// open. It puts right what it can: from the remote, else from what can be read. It notes what is
// lost after that. The record is being opened.
func (s *salvor) restoreMain(ctx context.Context) error {
	if err := s.losses.read(); err != nil {
		return err
	}
	if s.refs.brokenMain() == "" && s.losses.now().isEmpty() && s.packs.hold() {
		return nil
	}
	return s.recover(ctx)
}

func (s *salvor) recover(ctx context.Context) error {
	var main objects.Hash
	look := func() (losses, error) {
		return s.survey.steadily(ctx, func() objects.Hash {
			main, _, _ = s.store.Ref(carrier.MainRef) // Zero if it cannot be read
			return main
		})
	}
	now, err := look()
	if err == nil && !now.isEmpty() {
		if err := firstPackOf(s.opts.Dir).bring(s.store); err != nil {
			s.log.Warn().Err(err).Msg("the second copy of the first commit is of no use")
		}
		now, err = look()
	}
	if err != nil {
		return err
	}
	if !now.isEmpty() && s.opts.isShared() {
		s.store.Hold()
		err := s.mender.takeAll(ctx)
		if err == nil {
			if now, err = s.refilled(ctx, main); err == nil {
				err = s.losses.set(s.losses.now().and(now)) // losses from earlier are over with the next fetch
			}
			return errors.Join(err, s.store.Release())
		}
		s.log.Warn().Err(errors.Join(err, s.store.Release())).Msg("what this disk lost cannot be fetched anew at the moment")
	}
	if len(now.tips) == 0 {
		return s.losses.set(s.losses.now().and(now))
	}
	tip, lost, err := s.salvage(ctx, main)
	if err != nil {
		return err
	}
	// What was noted about folders of this main while the node ran no longer counts: older versions
	// of some have been found.
	before := s.losses.now()
	if delete(before.tips, main); len(before.tips) == 0 {
		clear(before.folders)
	}
	s.losses.assume(before.and(lost))
	now, err = s.survey.steadily(ctx, func() objects.Hash { return tip })
	if err != nil {
		return err
	}
	return s.losses.set(s.losses.now().and(now))
}

// refilled puts main right when everything that the remote has is here. It returns what even the
// new tip of the remote lacks. What only this host had is in the journal. What the remote has got
// since it was last taken in is not in main yet.
func (s *salvor) refilled(ctx context.Context, main objects.Hash) (losses, error) {
	now, err := s.survey.steadily(ctx, func() objects.Hash { return main })
	if err != nil {
		return now, err
	}
	if len(now.tips) > 0 {
		tip, _, err := s.salvage(ctx, main)
		if err != nil {
			return now, err
		}
		if now, err = s.survey.steadily(ctx, func() objects.Hash { return tip }); err != nil {
			return now, err
		}
	}
	s.store.Settle()
	return now, nil
}

// reunite brings back into main what it had and lost, if somebody has put its files back. The
// caller holds work, or opens the record.
func (s *salvor) reunite(ctx context.Context) error {
	lost := s.losses.now()
	if lost.isEmpty() {
		return nil
	}
	v := s.survey.survey(ctx)
	for tip := range lost.tips {
		tree, ok := v.TreeOf(tip)
		if _, unbroken := v.Unbroken(tip); !ok || !unbroken || !v.Folders(tree) {
			continue
		}
		current, _ := s.progress.main()
		if err := s.main.reshape(tip, current); err != nil {
			return fmt.Errorf("cannot bring back what main had lost: %w", err)
		}
		delete(lost.tips, tip)
	}
	if len(lost.tips) == 0 {
		clear(lost.folders)
	}
	tree := s.progress.mainTree()
	for file := range lost.files {
		e, ok, err := s.store.Lookup(tree, file)
		p, isMessage := messagePath(file)
		if err == nil && ok && s.store.Restore(e.Hash) == nil || isMessage && s.progress.isHeld(p) {
			delete(lost.files, file)
		}
	}
	if v.Err() != nil {
		return v.Err()
	}
	return s.losses.set(lost)
}

// accept has main go on without what is lost, and forgets the loss but for `rest`. The caller holds
// work.
func (s *salvor) accept(ctx context.Context, rest losses) error {
	lost := s.losses.now()
	if lost.isEmpty() {
		return nil
	}
	tip, base := s.progress.main()
	d := draft{m: s.main, base: base, changes: map[string]objects.Change{}}
	for file := range lost.files {
		if _, there, err := d.at(file); err != nil {
			return fmt.Errorf("cannot go on without what is lost: %w", err)
		} else if there {
			d.changes[file] = objects.Change{}
		}
	}
	tree, err := s.store.Update(base, d.changes, &d.builder)
	if err == nil && tree != base {
		// The commit follows one whose history a clone can have. Otherwise main could never be
		// pushed.
		message := "go on without what the disk has lost"
		v := s.survey.survey(ctx)
		var commits, parents []objects.Hash
		if commits, err = s.mainsFirst(v, tip); err == nil {
			if parent := s.newestWhole(v, commits, v.Files); parent != objects.Zero {
				parents = append(parents, parent)
			}
			err = v.Err()
		}
		if err == nil {
			tip, err = s.main.writeCommit(&d.builder, tree, message, tip, parents...)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot go on without what is lost: %w", err)
	}
	s.progress.committed(tip, tree, nil, nil)
	s.main.changed()
	return s.losses.set(rest)
}

// acceptBooks is accept for what the remote lacks too, if that is only files that are no messages:
// with them missing, git could not push main.
func (s *salvor) acceptBooks(ctx context.Context) error {
	lost := s.losses.now()
	files := slices.Sorted(maps.Keys(lost.files))
	if len(files) == 0 || len(lost.folders)+len(lost.tips) > 0 || slices.ContainsFunc(files, func(f string) bool { return !HoldsNoMessage(f) }) {
		return nil
	}
	rest := newLosses()
	rest.entries = lost.entries
	if err := s.accept(ctx, rest); err != nil {
		return err
	}
	s.main.tell.notice("the disk has lost %s, of which there is no copy: the record goes on without", named(files))
	return nil
}

// salvage makes main of what can be read: a commit that follows the newest commit whose history is
// whole, with the newest readable version of every folder. It returns what may be missing of main.
func (s *salvor) salvage(ctx context.Context, main objects.Hash) (tip objects.Hash, lost losses, err error) {
	lost = newLosses()
	v := s.survey.survey(ctx)
	commits, err := s.mainsFirst(v, main)
	if err != nil {
		return tip, lost, err
	}
	parent := s.newestWhole(v, commits, v.Folders)
	if main != parent {
		lost.tips[main] = true
	}
	known := len(commits) > 0 && commits[0] == main
	if !known {
		lost.folders[""] = true
	}
	versions, unordered, err := s.versions(v, commits, known)
	if err != nil {
		return tip, lost, err
	}
	var b objects.Builder
	grows := func(path string) bool { return strings.HasPrefix(path, channelsPrefix) }
	tree, ok := v.PieceTogether(versions, unordered, known, grows, func(folder string) { lost.folders[folder] = true }, &b)
	if v.Err() != nil {
		return tip, lost, v.Err()
	}
	if !ok {
		return tip, lost, fmt.Errorf("%w: no folder of main can be read: bring record.git back from a backup", ErrDamaged)
	}
	tip = parent
	if whole, ok := v.TreeOf(parent); !ok || whole != tree {
		c := objects.Commit{Tree: tree, Author: s.author, Committer: s.author, When: s.opts.Now(),
			Message: "go on from what the disk still has"}
		if parent != objects.Zero {
			c.Parents = []objects.Hash{parent}
		}
		tip = b.Commit(c)
		if err := s.store.Install(&b); err != nil {
			return tip, lost, err
		}
	}
	// This is written before main moves, so that after a kill no start takes what is left for
	// everything.
	if err := s.losses.now().and(lost).write(s.losses.path); err != nil {
		return tip, lost, err
	}
	if err := s.refs.resetMain(tip); err != nil {
		return tip, lost, err
	}
	s.log.Warn().Stringer("commit", tip).Stringer("was", main).Msg("main was put together from what can be read")
	return tip, lost, nil
}

// versions are the trees of the commits, in their order. If main itself cannot be read, a tree that
// looks like one of the record's and belongs to no other commit is taken for that of a lost commit.
// Such trees come first. `unordered` says how many they are, and nobody knows their order.
func (s *salvor) versions(v *objects.Survey, commits []objects.Hash, known bool) (versions []objects.Hash, unordered int, err error) {
	seen := map[objects.Hash]bool{}
	for _, c := range commits {
		if tree, ok := v.TreeOf(c); ok && !seen[tree] {
			seen[tree] = true
			versions = append(versions, tree)
		}
	}
	if known {
		return versions, 0, nil
	}
	orphans, err := v.Trees(func(entries []objects.Entry) bool {
		has := map[string]bool{}
		for _, e := range entries {
			has[e.Name] = e.Mode.IsDir()
		}
		return has["data"] && has[path.Dir(versionFile)]
	})
	if err != nil {
		return nil, 0, fmt.Errorf("cannot look for folders: %w", err)
	}
	orphans = slices.DeleteFunc(orphans, func(h objects.Hash) bool { return seen[h] })
	return append(orphans, versions...), len(orphans), nil
}

// mainsFirst are the commits that can be read: main, the commit that it was about to be, then all
// others.
func (s *salvor) mainsFirst(v *objects.Survey, main objects.Hash) ([]objects.Hash, error) {
	all, err := v.Commits()
	if err != nil {
		return nil, fmt.Errorf("cannot look for commits: %w", err)
	}
	var commits []objects.Hash
	for _, h := range []objects.Hash{main, s.refs.notedTip()} {
		if _, ok := v.TreeOf(h); ok && !slices.Contains(commits, h) {
			commits = append(commits, h)
		}
	}
	known := len(commits)
	for _, c := range all {
		if !slices.Contains(commits[:known], c) {
			commits = append(commits, c)
		}
	}
	return commits, nil
}

// newestWhole is the first of the commits whose history can be read back to the record's beginning,
// and whose tree is whole, as `whole` says. It is Zero if there is none. The new main is to follow
// it. If there is a remote, it is a commit that main had before, if only the first one: otherwise
// what others have pushed since would count as removed.
func (s *salvor) newestWhole(v *objects.Survey, commits []objects.Hash, whole func(tree objects.Hash) bool) objects.Hash {
	id := s.reader.id
	if id == objects.Zero {
		id, _, _ = pinnedID(s.store.Dir()) // Zero if that is lost
	}
	isWhole := func(c objects.Hash) bool {
		tree, ok := v.TreeOf(c)
		return ok && whole(tree)
	}
	main, _, _ := s.store.Ref(carrier.MainRef) // Zero if it cannot be read
	known, _, _ := s.store.Ref(carrier.RemoteRef)
	had := v.Before(main, s.refs.notedTip(), known)
	var before, all []objects.Hash
	for _, c := range commits {
		root, ok := v.Unbroken(c)
		if !ok || root != id && id != objects.Zero && !v.IsShallow(root) {
			continue
		}
		if all = append(all, c); had[c] {
			before = append(before, c)
		}
	}
	if c := firstOf(before, isWhole); c != objects.Zero {
		return c
	}
	c := firstOf(all, isWhole)
	if c != objects.Zero && s.opts.isShared() {
		c, _ = v.Unbroken(c)
	}
	return c
}

// firstOf finds the first commit that is whole, the newest being first. It looks at few: once a
// commit lacks something, those after it mostly lack it too. So if only some of the older ones are
// whole, it may find another one of these, and if it finds none it is Zero.
func firstOf(commits []objects.Hash, isWhole func(objects.Hash) bool) objects.Hash {
	last := len(commits) - 1
	for from, step := 0, 1; from <= last; step *= 2 { // all before from lack something, as far as was looked
		to := min(from+step-1, last)
		if isWhole(commits[to]) {
			return commits[from+sort.Search(to-from, func(i int) bool { return isWhole(commits[from+i]) })]
		}
		from = to + 1
	}
	return objects.Zero
}
