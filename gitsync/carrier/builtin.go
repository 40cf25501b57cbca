package carrier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/span"
)

// builtin is the carrier if the git program is not installed. It reads and writes repositories on
// this machine itself. It speaks to all others with go-git's clients. Our own code installs packs
// and moves refs.
type builtin struct {
	remote string
	store  *objects.Store
	link   *linked // the other host that is the remote; nil if none is

	mu             sync.Mutex    // guards the fields below
	usual, timeout time.Duration // how long a run may usually take, and how long the next one may
}

func newBuiltin(remote string, store *objects.Store) *builtin {
	return &builtin{remote: remote, store: store, usual: gitTimeout, timeout: gitTimeout}
}

// errUnsaid says that it is not known what a push has done.
var errUnsaid = errors.New("the remote has not said whether it took the push")

type remoteSide interface {
	// branches are the remote's branches and the commits that they name.
	branches() map[string]objects.Hash
	// head is the ref that the remote's HEAD names, "" if nobody knows.
	head() string
	// fetch installs what the commit `tip` needs, except what a repository with the commit `have`
	// has. If it succeeds, nothing is missing.
	fetch(ctx context.Context, tip, have objects.Hash) error
	// ref is the commit that a ref of the remote names, Zero if there is no such ref.
	ref(name string) (objects.Hash, error)
	// push gives the remote what it lacks and moves its ref from `old` to `next`. If `next` is
	// Zero, it removes the ref. The error is ErrRejected if the ref no longer names `old`. It is
	// errUnsaid if the remote has taken everything but has not said that it moved the ref.
	push(ctx context.Context, ref string, old, next objects.Hash) error
	close()
}

// BePatient implements Carrier.
func (b *builtin) BePatient() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usual, b.timeout = Patience, Patience
}

// MayAsk implements Carrier. Our own code asks nobody.
func (b *builtin) MayAsk() {}

// Unbound implements Carrier. Our own code never takes much memory for one object.
func (b *builtin) Unbound() {}

// with connects, calls `do` and disconnects, within the time that a run may take. If a run takes
// too long, the next one may take twice as long.
func (b *builtin) with(ctx context.Context, why service, do func(ctx context.Context, side remoteSide) error) error {
	b.mu.Lock()
	limit := b.timeout
	b.mu.Unlock()
	tooLong := fmt.Errorf("no answer within %s", span.Text(limit))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	side, err := b.connect(ctx, why)
	if err == nil {
		defer side.close()
		err = do(ctx, side)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(context.Cause(ctx), tooLong):
		b.timeout = min(2*limit, Patience)
		err = tooLong
	case err == nil:
		b.timeout = b.usual
	}
	if err == nil || errors.Is(err, ErrNoMain) || errors.Is(err, ErrRejected) || errors.Is(err, ErrRemote) {
		return err
	}
	return fitting(b.remote, fmt.Errorf("%w: %w", ErrRemote, hidden(err, b.remote)))
}

func (b *builtin) connect(ctx context.Context, why service) (remoteSide, error) {
	if folder := gitremote.Folder(b.remote); folder != "" {
		return openLocalSide(folder, b.store)
	}
	if b.link == nil {
		return dialSide(ctx, b.remote, why, b.store)
	}
	t, err := openTunnel(ctx, b.link.host, b.link.record, b.link.dial)
	if err != nil {
		return nil, err
	}
	side, err := dialSide(ctx, t.url, why, b.store)
	if err != nil {
		return nil, cmp.Or(t.close(), err)
	}
	return &tunnelSide{side, t}, nil
}

// tunnelSide is a remote at the other end of a tunnel.
type tunnelSide struct {
	remoteSide
	tunnel *tunnel
}

func (s *tunnelSide) close() {
	s.remoteSide.close()
	_ = s.tunnel.close()
}

// Heads implements Carrier.
func (b *builtin) Heads(ctx context.Context) (all map[string]objects.Hash, err error) {
	err = b.with(ctx, toFetch, func(_ context.Context, side remoteSide) error {
		all = side.branches()
		return nil
	})
	return all, err
}

// FetchMain implements Carrier.
func (b *builtin) FetchMain(ctx context.Context) error {
	return b.with(ctx, toFetch, func(ctx context.Context, side remoteSide) (err error) {
		tip, ok := side.branches()[MainBranch]
		if !ok {
			return ErrNoMain
		}
		known, _, err := b.store.Ref(FetchedRef)
		if err != nil || known == tip {
			return err
		}
		have, err := b.has(tip, known)
		if err != nil || have == tip {
			return cmp.Or(err, b.store.MoveRef(FetchedRef, known, tip))
		}
		b.store.Hold()
		defer func() { err = errors.Join(err, b.store.Release()) }()
		if err := side.fetch(ctx, tip, have); err != nil {
			return err
		}
		return b.store.MoveRef(FetchedRef, known, tip)
	})
}

// has is a commit that is here and that the remote has too, Zero if nobody knows of one. It is that of
// the last fetch, if that was not from another host while this one was away.
func (b *builtin) has(tip, fetched objects.Hash) (objects.Hash, error) {
	switch {
	case b.link == nil:
		return fetched, nil
	case b.store.Has(tip): // it came whole
		return tip, nil
	case b.link.record:
		return objects.Zero, nil
	}
	h, _, err := b.store.Ref(RemoteRef)
	return h, err
}

// Push implements Carrier.
func (b *builtin) Push(ctx context.Context, commit, onto objects.Hash, _ bool) error {
	err := b.with(ctx, toPush, func(ctx context.Context, side remoteSide) error {
		old := side.branches()[MainBranch]
		if old == commit {
			return nil
		}
		if old == objects.Zero && onto != objects.Zero {
			return ErrRejected
		}
		if old != objects.Zero {
			ours, err := b.store.IsAncestor(old, commit)
			if err != nil && !errors.Is(err, objects.ErrNotFound) {
				return err
			}
			if !ours {
				return ErrRejected
			}
		}
		return side.push(ctx, MainRef, old, commit)
	})
	if errors.Is(err, errUnsaid) {
		return confirmPush(ctx, b, commit)
	}
	return err
}

// Claim implements Carrier.
func (b *builtin) Claim(ctx context.Context, ref string, commit objects.Hash) (holder objects.Hash, err error) {
	err = b.with(ctx, toPush, func(ctx context.Context, side remoteSide) (err error) {
		if holder, err = side.ref(ref); err != nil || holder != objects.Zero {
			return err
		}
		if err = side.push(ctx, ref, objects.Zero, commit); err == nil {
			holder = commit
		}
		return err
	})
	if err == nil {
		return holder, nil
	}
	return whoHolds(ctx, b, ref, err)
}

func (b *builtin) refAt(ctx context.Context, ref string) (at objects.Hash, err error) {
	err = b.with(ctx, toFetch, func(_ context.Context, side remoteSide) (err error) {
		at, err = side.ref(ref)
		return err
	})
	return at, err
}

// Unclaim implements Carrier.
func (b *builtin) Unclaim(ctx context.Context, ref string, commit objects.Hash) error {
	err := b.with(ctx, toPush, func(ctx context.Context, side remoteSide) error {
		if holder, err := side.ref(ref); err != nil || holder != commit {
			return err
		}
		return side.push(ctx, ref, commit, objects.Zero)
	})
	return stillHeld(ctx, b, ref, commit, err)
}

// FixHead implements Carrier.
func (b *builtin) FixHead(ctx context.Context) (note string, err error) {
	if folder := gitremote.Folder(b.remote); folder != "" {
		return fixLocalHead(folder)
	}
	return noteHead(ctx, b)
}

// Head implements Carrier.
func (b *builtin) Head(ctx context.Context) (ref string, err error) {
	err = b.with(ctx, toFetch, func(_ context.Context, side remoteSide) error {
		ref = side.head()
		return nil
	})
	return ref, err
}
