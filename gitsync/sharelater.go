package gitsync

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/gitremote"
)

// MakeShared makes an empty bare repository through which a fleet can share its record, if there is
// none yet.
func MakeShared(dir string) error {
	_, err := makeBare(dir)
	return err
}

// Shared reports whether the record is shared through a remote.
func (r *Record) Shared() bool { return r.opts.isShared() }

// Share has a record without a remote be shared through an empty repository from now on. Its main is
// there when Share returns. The next Open has to name the same remote.
func (r *Record) Share(ctx context.Context, remote string) error {
	if r.isClosed() {
		return fmt.Errorf("cannot share the record: %w", ErrClosed)
	}
	ctx, done := r.online.during(ctx)
	defer done()
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	if r.opts.isShared() {
		return fmt.Errorf("cannot share the record: it is shared through %s already", carrier.Noted(r.opts.remote()))
	}
	remote, err := carrier.Clean(remote)
	if err == nil {
		err = r.main.commit(ctx, true)
	}
	if err != nil {
		return fmt.Errorf("cannot share the record: %w", err)
	}
	git := carrier.New(r.opts.Dial, r.store, remote, r.opts.Builtin)
	git.BePatient()
	first, _ := r.progress.main()
	err = git.Push(ctx, first, objects.Zero, true) // all that there is, while messages go on
	r.main.work.Lock()
	defer r.main.work.Unlock()
	tip, _ := r.progress.main()
	if err == nil && tip != first {
		err = git.Push(ctx, tip, first, false)
	}
	if err != nil {
		return fmt.Errorf("cannot share the record: %w", err)
	}
	r.share.git = git
	r.opts.shared.Store(&remote)
	err = r.share.remoteIs(tip)
	close(r.sharedNow)
	return err
}

// awaitShare waits until the record is shared. It returns false if `ctx` ends before.
func (r *Record) awaitShare(ctx context.Context) bool {
	if r.opts.isShared() {
		return true
	}
	select {
	case <-r.sharedNow:
		return true
	case <-ctx.Done():
		return false
	}
}

// fetchElsewhere brings what another host has, while the host that is the remote is away. It becomes a
// part of main, and is pushed when the remote is back. What is known of the remote stays as it is. The
// caller holds mu.
func (s *sharer) fetchElsewhere(ctx context.Context) {
	host, _, ok := gitremote.Host(s.opts.remote())
	if !ok || s.opts.Others == nil {
		return
	}
	others := s.opts.Others()
	for i := range others {
		other := others[(s.turn+i)%len(others)]
		if other == host {
			continue
		}
		err := carrier.New(s.opts.Dial, s.store, gitremote.OfHost(other), s.opts.Builtin).FetchMain(ctx)
		if err == nil {
			s.turn += i + 1 // the next time another one is asked first
			err = s.takeInElsewhere(ctx)
		}
		if err == nil {
			s.opts.Log.Debug().Str("host", other).Msg("fetched from another host, while the remote is away")
			return
		}
		s.opts.Log.Debug().Err(err).Str("host", other).Msg("nothing fetched from another host")
	}
}

func (s *sharer) takeInElsewhere(ctx context.Context) error {
	tip, _, err := s.store.Ref(carrier.FetchedRef)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.Fetched)
	day, err := s.bearable(ctx, tip)
	if errors.As(err, new(*tooMuch)) {
		return errors.Join(err, s.rescue(ctx, tip))
	}
	if err != nil {
		return err
	}
	s.main.work.Lock()
	defer s.main.work.Unlock()
	theirs := s.main.gate
	theirs.lacks = s.main.usable() == nil
	if err := theirs.tip(tip); err != nil {
		return err
	}
	if err := s.main.takeInMain(); err != nil {
		return err
	}
	if err := s.related(tip); err != nil {
		return err
	}
	if err := s.shape(tip); err != nil {
		return err
	}
	s.day = day
	return s.progress.settle()
}
