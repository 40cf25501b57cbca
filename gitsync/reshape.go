package gitsync

import (
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// takeInMain notices if somebody else has moved main: an operator who has committed or pushed here.
// The caller holds work.
func (m *mainline) takeInMain() error {
	current, ok, err := m.store.Ref(carrier.MainRef)
	if err != nil {
		return fmt.Errorf("cannot read main: %w", err)
	}
	tip, _ := m.progress.main()
	if current == tip {
		return nil
	}
	if !ok {
		m.log.Warn().Msg("main was deleted; it is put back")
		return m.refs.moveMain(objects.Zero, tip)
	}
	err = m.reshape(current, current)
	if errors.Is(err, ErrForeign) {
		return m.refs.putForeignAside(current, tip)
	}
	if err != nil {
		return fmt.Errorf("cannot take in what another program did to main: %w", err)
	}
	return m.progress.settle()
}

// reshape makes main out of the main that this node knows and of another tip, which came from the
// remote or from an operator. `current` is what main names at the moment. Nothing that was in main
// is lost: every message stays, and if commits of others would leave the history, they stay as a
// parent. The caller holds work.
//
//   - The other tip is an ancestor: main stays, or is put back.
//   - Main is an ancestor, or all commits that only main has are this node's:
//     the other tip, and ONE commit on it with what it lacks.
//   - Otherwise, and if the other tip strays from the record: a merge commit.
func (m *mainline) reshape(other, current objects.Hash) error {
	tip, _ := m.progress.main()
	base, ok, err := m.store.MergeBase(tip, other)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%w: its history does not begin with %s", ErrForeign, m.reader.id)
	}
	if base == other && m.usable() == nil {
		if current == tip {
			return nil
		}
		m.log.Warn().Stringer("commit", other).Msg("main was set back; it is put forward again")
		return m.refs.moveMain(current, tip)
	}
	u, err := m.unite(tip, other, base)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.United)
	strays, err := m.strays(other)
	if err != nil {
		return err
	}
	parents := []objects.Hash{other}
	switch {
	case strays:
		m.tell.notice("commit %s put another history before that of the record: a merge puts the record first again", brief(other))
		parents = []objects.Hash{tip, other}
	case base != tip:
		own, err := m.ownOnly(tip, other)
		if err != nil {
			return err
		}
		if !own {
			parents = append(parents, tip)
		}
	}
	next := other
	if u.tree != u.otherTree || len(parents) > 1 {
		if next, err = m.writeCommit(&u.draft.builder, u.tree, u.message(len(parents) > 1), current, parents...); err != nil {
			return err
		}
	} else if err := m.refs.moveMain(current, next); err != nil {
		return err
	}
	return m.moved(next, u.tree)
}

// maxStray bounds how many commits strays and rescue read.
const maxStray = 100_000

// strays reports whether first parents lead from a commit to another beginning than that of the
// record. Then somebody has merged the record into a history that has nothing to do with it. A
// joining host follows first parents to learn which record this is. The last known main, of this
// node and of the remote, is known to be right, so the search ends there.
func (m *mainline) strays(from objects.Hash) (bool, error) {
	tip, _ := m.progress.main()
	remote, _ := m.progress.remote()
	for at, n := from, 0; n < maxStray && at != tip && at != remote; n++ {
		c, err := m.store.CommitAt(at)
		if errors.Is(err, objects.ErrNotFound) {
			return false, nil // old history is not here, so nobody can say
		}
		if err != nil {
			return false, err
		}
		if len(c.Parents) == 0 {
			return at != m.reader.id, nil
		}
		at = c.Parents[0]
	}
	return false, nil
}

// ownOnly reports whether this node has made all commits that `tip` has and `other` lacks.
func (m *mainline) ownOnly(tip, other objects.Hash) (bool, error) {
	commits, err := m.store.Only(tip, other)
	if err != nil {
		return false, err
	}
	for _, h := range commits {
		c, err := m.store.CommitAt(h)
		if err != nil {
			return false, err
		}
		if c.Committer != m.author {
			return false, nil
		}
	}
	return true, nil
}

// moved notes that main is another commit now, and reports what came with it. The caller calls
// settle after that, when it knows what the remote has.
func (m *mainline) moved(tip, tree objects.Hash) error {
	_, before := m.progress.main()
	return m.movedFrom(before, tip, tree)
}

// movedFrom is moved for a caller that knows what has been reported: the files of the tree
// `before`.
func (m *mainline) movedFrom(before, tip, tree objects.Hash) error {
	var arrivals []arrival
	var files []string
	err := m.store.Diff(before, tree, func(d objects.Difference) error {
		p, isMessage := messagePath(d.Path)
		if !isMessage {
			files = append(files, d.Path)
			p, isMessage = parseConflictPath(d.Path) // a content that has lost its path may win it by a later word of a host
		}
		if isMessage && d.New.Mode.IsFile() && d.New.Hash != d.Old.Hash && !m.progress.holds(p, d.New.Hash) {
			arrivals = append(arrivals, arrival{path: p, blob: d.New.Hash})
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.progress.mainIs(tip, tree)
	m.tell.arrived(arrivals)
	m.tell.files(files)
	m.changed()
	return m.progress.recordPresent()
}
