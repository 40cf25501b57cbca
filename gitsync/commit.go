package gitsync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

const (
	maxCommitMessages = 8192     // messages in one commit; the rest goes into the next
	maxCommitBytes    = 64 << 20 // bytes of their contents
	manyMessages      = 32       // with that many messages in a commit, many senders are at work and more will come
	plentyMessages    = 4096     // with that many messages, a commit is worth what it writes
)

// mainline makes commits on main, and takes in what others did to it.
type mainline struct {
	// work is held while main is moved, or while somebody else's move of it is taken in. Nobody
	// waits for the network while holding it.
	work sync.Mutex

	opts     Options
	author   objects.Identity
	store    *objects.Store
	reader   *Reader
	gate     gate
	refs     *refs
	progress *progress
	updates  *updates
	courier  *courier
	disk     *disk
	tell     *teller
	changed  func() // called if there may be something to push
	log      zerolog.Logger
}

// commit brings what is stored into main: messages of this node at once, and messages of peers when
// their grace is over. If `all` is true, it takes all messages. It first takes in what others did
// to main. While a part of main is missing on the disk, it commits nothing.
func (m *mainline) commit(ctx context.Context, all bool) error {
	m.work.Lock()
	defer m.work.Unlock()
	for ctx.Err() == nil {
		if _, done, err := m.commitOnce(all); done {
			return err
		}
	}
	return fmt.Errorf("cannot commit: %w", context.Cause(ctx))
}

// commitBurst is commit without the messages whose grace is not over. It ends early, with `more`,
// after a commit that had many messages but not plenty: then more are on their way.
func (m *mainline) commitBurst(ctx context.Context) (more bool, err error) {
	m.work.Lock()
	defer m.work.Unlock()
	for ctx.Err() == nil {
		count, done, err := m.commitOnce(false)
		if done || count >= manyMessages && count < plentyMessages {
			return !done, err
		}
	}
	return false, fmt.Errorf("cannot commit: %w", context.Cause(ctx))
}

// commitOnce makes one commit if there is something to commit. `done` is true if there was nothing,
// or if it failed. The caller holds work.
func (m *mainline) commitOnce(all bool) (count int, done bool, err error) {
	if err := m.opts.Here(); err != nil {
		return 0, true, err
	}
	err = m.takeInMain()
	if err == nil {
		err = m.leaveOutWithheld()
	}
	if err != nil {
		return 0, true, m.because(err)
	}
	if err := m.usable(); err != nil {
		return 0, true, err
	}
	messages, files := m.progress.choose(all, m.courier.grace()), m.updates.all()
	if len(messages) == 0 && len(files) == 0 || m.disk.broken() != "" {
		tip, _ := m.progress.main()
		if err := m.disk.check(tip); err != nil || len(messages) == 0 && len(files) == 0 {
			return 0, true, err
		}
	}
	failpoint.Hit(failpoint.CommitChosen)
	err = m.commitChosen(messages, files)
	if err != nil && !errors.Is(err, objects.ErrRefMoved) {
		return 0, true, fmt.Errorf("cannot commit %d messages: %w", len(messages), m.because(err))
	}
	if err != nil { // somebody else was faster: once more, on top of what they did
		return 0, false, nil
	}
	return len(messages), false, nil
}

// usable returns an UnusableError if nobody may write to main as it is.
func (m *mainline) usable() error {
	if err := m.gate.tree(m.progress.mainTree()); !errors.As(err, new(*UnusableError)) {
		return nil // damage is noticed where it hurts
	}
	tip, _ := m.progress.main()
	return fmt.Errorf("nothing is written to this main: %w", m.gate.tip(tip))
}

// because says why a commit failed. If the disk has lost something, that is the reason. The caller
// holds work.
func (m *mainline) because(err error) error {
	tip, _ := m.progress.main()
	if damage := m.disk.check(tip); damage != nil {
		return damage
	}
	m.disk.suspect(err)
	return err
}

// commitChosen makes one commit on main. The caller holds work.
func (m *mainline) commitChosen(messages []*heldMessage, files map[string]*fileUpdate) error {
	before, base := m.progress.main()
	tip := before
	d := draft{m: m, base: base, changes: map[string]objects.Change{}}
	var said []MessageFile
	for _, h := range messages {
		blob := d.builder.Blob(h.data)
		added, err := d.place(h.path, blob, h.data)
		if err != nil {
			return err
		}
		if added {
			said = append(said, MessageFile{Path: h.path, Data: h.data, Peer: h.peer})
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
	tree, err := m.store.Update(base, d.changes, &d.builder)
	if err != nil {
		return err
	}
	if tree != base {
		message := m.describe(said, changed)
		if tip, err = m.writeCommit(&d.builder, tree, message, tip, tip); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.MainMoved)
	m.updates.done(files, put)
	m.progress.committed(tip, tree, said, changed)
	m.disk.madeAnew(put)
	m.changed()
	if err := m.disk.check(before); err != nil {
		return err // they are in main but cannot be read from it: the journal keeps them
	}
	m.progress.recorded(messages)
	return nil
}

func (m *mainline) describe(messages []MessageFile, files []string) string {
	switch {
	case len(messages) > 0:
		return m.opts.Describe(messages)
	case len(files) == 1:
		return "update " + files[0]
	}
	return fmt.Sprintf("update %d files\n\n%s", len(files), strings.Join(files, "\n"))
}

func (m *mainline) writeCommit(b *objects.Builder, tree objects.Hash, message string, current objects.Hash, parents ...objects.Hash) (objects.Hash, error) {
	next := b.Commit(objects.Commit{
		Tree: tree, Parents: parents, Author: m.author, Committer: m.author, When: m.opts.Now(), Message: message,
	})
	if err := m.store.Install(b); err != nil {
		return objects.Zero, err
	}
	failpoint.Hit(failpoint.CommitInstalled)
	return next, m.refs.moveMain(current, next)
}
