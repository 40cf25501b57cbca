package gitsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/wait"
)

// sharer brings main to the remote, and the remote's main to this node.
type sharer struct {
	mu sync.Mutex // held during a fetch or push, so that there is one at a time

	opts     Options
	reader   *Reader
	store    *objects.Store
	git      carrier.Carrier
	main     *mainline
	refs     *refs
	disk     *disk
	progress *progress
	contact  *contact
	courier  *courier
	online   online
	tell     *teller
	keep     func(context.Context, []MessageFile) error // Record.Append
	admitted atomic.Pointer[objects.Hash]               // see Record.Admit

	day      intake   // mu guards it
	turn     int      // see fetchElsewhere; mu guards it
	jitter   jitter   // mu guards it
	refiller refiller // mu guards it

	pushBell  chan struct{} // rings if there may be something to push
	fetchBell chan struct{} // rings if the remote may have moved
	retryBell chan struct{} // rings if what failed is worth another try
}

// fetch brings what is new in the remote into main. The caller holds mu.
func (s *sharer) fetch(ctx context.Context) error {
	err := s.fetchOnce(ctx)
	s.contact.fetched(err)
	if err == nil && !s.progress.lag().behind {
		s.contact.cleared() // a push that was under way when the refused was withheld may have ended since
	}
	return err
}

func (s *sharer) fetchOnce(ctx context.Context) error {
	if err := s.opts.Here(); err != nil {
		return err
	}
	failpoint.Hit(failpoint.Fetching)
	if err := s.refiller.refill(ctx); err != nil {
		return err
	}
	err := s.git.FetchMain(ctx)
	tip := objects.Zero
	switch {
	case errors.Is(err, carrier.ErrNoMain):
		if err := s.renamed(ctx); err != nil {
			return fmt.Errorf("cannot fetch main: %w", err)
		}
	case err != nil:
		s.main.work.Lock()
		s.disk.suspect(err)
		s.main.work.Unlock()
		s.refs.clearWay()
		s.fetchElsewhere(ctx)
		return fmt.Errorf("cannot fetch main: %w", s.unpackable(ctx, err))
	default:
		if tip, _, err = s.store.Ref(carrier.FetchedRef); err != nil {
			return fmt.Errorf("cannot fetch main: %w", err)
		}
	}
	failpoint.Hit(failpoint.Fetched)
	err = s.takeIn(ctx, tip)
	if much := new(tooMuch); errors.As(err, &much) {
		err = fmt.Errorf("%w; what hosts of the fleet have signed there still comes in, and nothing of this host goes out by git", err)
		return errors.Join(err, s.takeInBefore(ctx, much.commit), s.rescue(ctx, tip))
	}
	return err
}

func (s *sharer) takeIn(ctx context.Context, tip objects.Hash) error {
	day, err := s.bearable(ctx, tip)
	s.main.work.Lock()
	defer s.main.work.Unlock()
	if err == nil && tip != objects.Zero {
		theirs := s.main.gate
		theirs.lacks = s.main.usable() == nil
		err = theirs.tip(tip) // one that nobody may use stays where it is, and nothing is pushed on it
	}
	if err == nil {
		err = s.takeInRemote(tip)
	}
	if err == nil {
		err = s.refiller.endLoss(ctx)
	}
	if err != nil {
		s.disk.suspect(err)
		return fmt.Errorf("cannot take in the remote's main: %w", err)
	}
	s.day = day
	return nil
}

// takeInBefore takes in what others had pushed before a commit that brings too much.
func (s *sharer) takeInBefore(ctx context.Context, commit objects.Hash) error {
	c, err := s.store.CommitAt(commit)
	if err != nil || len(c.Parents) == 0 {
		return err
	}
	before := c.Parents[0]
	known, _ := s.progress.remote()
	if newer, err := s.onRemote(before); err != nil || !newer || before == known {
		return err
	}
	if err = s.takeIn(ctx, before); errors.As(err, new(*tooMuch)) {
		return nil // the first of several
	}
	return err
}

// takeInRemote brings a tip of the remote into main. The caller holds work.
func (s *sharer) takeInRemote(tip objects.Hash) error {
	known, _ := s.progress.remote()
	if err := s.main.takeInMain(); err != nil {
		return err
	}
	if tip != known {
		if err := s.related(tip); err != nil {
			return err // nothing of it is ours, so nothing is put back
		}
		if err := reportLoss(s.store, s.tell, known, tip); err != nil {
			return err
		}
	}
	if tip != objects.Zero {
		if err := s.shape(tip); err != nil {
			return err
		}
	}
	return s.remoteIs(tip)
}

// shape makes main out of main and another tip, whatever a program does to main meanwhile. The caller
// holds work.
func (s *sharer) shape(tip objects.Hash) error {
	for {
		current, _ := s.progress.main()
		err := s.main.reshape(tip, current)
		if err == nil || !errors.Is(err, objects.ErrRefMoved) {
			return err
		}
		if err := s.main.takeInMain(); err != nil {
			return err
		}
	}
}

// related returns an error for a tip that has no commit in common with the record.
func (s *sharer) related(tip objects.Hash) error {
	if tip == objects.Zero {
		return nil
	}
	ours, _ := s.progress.main()
	_, ok, err := s.store.MergeBase(ours, tip)
	if err == nil && !ok {
		err = fmt.Errorf("%w: its history does not begin with %s", ErrForeign, s.reader.id)
	}
	return err
}

// onRemote reports whether a commit lies on the remote's main that was last taken in, if there was one.
func (s *sharer) onRemote(commit objects.Hash) (bool, error) {
	known, _ := s.progress.remote()
	if known == objects.Zero {
		return true, nil
	}
	return s.store.IsAncestor(known, commit)
}

func (s *sharer) remoteIs(tip objects.Hash) error {
	known, _ := s.progress.remote()
	if tip != known {
		if err := s.pinRemote(tip); err != nil {
			return err
		}
		tree, err := s.store.TreeOf(tip)
		if err != nil {
			return err
		}
		s.progress.remoteIs(tip, tree)
	}
	return s.progress.settle()
}

func (s *sharer) pinRemote(tip objects.Hash) error {
	if tip == objects.Zero {
		return nil
	}
	old, _, err := s.store.Ref(carrier.RemoteRef)
	if err != nil {
		return err
	}
	if old != tip {
		if err := s.store.MoveRef(carrier.RemoteRef, old, tip); err != nil {
			return err
		}
	}
	known, err := carrier.RemoteOf(s.store.Dir())
	if err != nil || known == carrier.Noted(s.opts.remote()) {
		return err
	}
	return carrier.SetRemote(s.store.Dir(), s.opts.remote())
}

// manyUnpushed is the number of messages that the remote lacks from which git takes longer to find
// out what changed in the lists of files than to send them whole.
const manyUnpushed = 256

func (s *sharer) lacksMany() bool { return s.progress.lag().unpushed >= manyUnpushed }

// push brings main to the remote. carrier.ErrRejected means that a fetch must come before. The
// caller holds mu.
func (s *sharer) push(ctx context.Context) error {
	tip, _ := s.progress.main()
	failpoint.Hit(failpoint.Pushing)
	onto, _ := s.progress.remote()
	ours, err := s.onRemote(tip)
	switch {
	case err != nil:
	case ours:
		err = s.git.Push(ctx, tip, onto, s.lacksMany())
	default: // main was set back here: a push that insists on the remote's tip would replace it
		err = carrier.ErrRejected
	}
	s.contact.countPush(err)
	switch {
	case errors.Is(err, carrier.ErrRejected):
		return err
	case err != nil:
		err = fmt.Errorf("cannot push main: %w", err)
	default:
		failpoint.Hit(failpoint.Pushed)
		s.main.work.Lock()
		err = s.remoteIs(tip)
		s.main.work.Unlock()
		s.tell.moved()
	}
	s.contact.pushed(err)
	return err
}

// pushUntilTaken pushes. As long as others come first, it waits, fetches and pushes again. It waits
// before it fetches, because the push has to fit on what was last fetched.
func (s *sharer) pushUntilTaken(ctx context.Context) error {
	for attempt := 1; s.progress.lag().behind; attempt++ {
		err := s.push(ctx)
		if !errors.Is(err, carrier.ErrRejected) {
			return err
		}
		if !wait.Sleep(ctx, s.jitter.pause(attempt)) {
			return fmt.Errorf("cannot push main: %w", context.Cause(ctx))
		}
		if err := s.fetch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// renamedError says that the remote's main has another name now.
type renamedError struct{ branch string }

func (e *renamedError) Error() string {
	return fmt.Sprintf("the branch main was renamed there: it is called %s", carrier.OneLine(e.branch))
}

// renamed returns a *renamedError if the remote had main and has it under another name: a branch
// with what main had, or one that is not known here and that HEAD names. Main is not made again
// then, because those who use plain git would go on in the other branch, unread.
func (s *sharer) renamed(ctx context.Context) error {
	known, _ := s.progress.remote()
	if known == objects.Zero {
		return nil
	}
	heads, err := s.git.Heads(ctx)
	if err != nil || len(heads) == 0 || errors.Is(carrier.LacksMain(heads), ErrUnfit) {
		return err
	}
	if _, back := heads[carrier.MainBranch]; back {
		return nil // it came between two questions
	}
	var strangers []string
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		switch has, err := s.store.IsAncestor(known, heads[name]); {
		case errors.Is(err, objects.ErrNotFound):
			strangers = append(strangers, name)
		case err != nil:
			return err
		case has:
			return &renamedError{name}
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	head, err := s.git.Head(ctx)
	if name := strings.TrimPrefix(head, "refs/heads/"); err == nil && slices.Contains(strangers, name) {
		return &renamedError{name}
	}
	return err
}

// stopping is the reason why a fetch or push was cut short that nobody has cancelled: the record is
// stopping. It is no trouble with the remote.
type stopping struct{}

func (stopping) Error() string        { return "the node stops" }
func (stopping) Is(target error) bool { return target == context.Canceled }

// online says how long the remote may be used: until ctx ends, or end is called. A call that waits
// for a remote that does not answer, or for another call that does so, must not keep the node from
// stopping.
type online struct {
	ctx context.Context
	end func()
}

func newOnline(ctx context.Context) online {
	ctx, cancel := context.WithCancelCause(ctx)
	return online{ctx, func() { cancel(stopping{}) }}
}

// during is `ctx`, except that it ends as soon as the remote may no longer be used. The caller must
// call `done`.
func (o online) during(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(o.ctx, func() { cancel(context.Cause(o.ctx)) })
	return ctx, func() {
		forget()
		cancel(nil)
	}
}
