package gitsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	// mendName is the folder beside record.git for the remote's objects, while damaged objects are
	// brought back from them.
	mendName = "record.git.mend"
	// mendApart is the least time between two fetches for this purpose, and how long the fetched
	// objects are kept.
	mendApart = time.Minute
	// mendAnswer is how long the remote may take to say what it has.
	mendAnswer = 20 * time.Second
)

// mender brings back damaged and missing objects, from the journal or from the remote. Git itself
// would not fetch what it believes to have. So the remote is fetched into a separate repository.
type mender struct {
	opts     Options
	store    *objects.Store
	progress *progress
	online   context.Context // the remote is not asked after it has ended
	log      zerolog.Logger

	mu      sync.Mutex     // guards the fields below; only one object is brought back at a time
	copy    *objects.Store // copy of the remote; nil if there is none
	fetched time.Time      // time of the last try to fetch it
	failed  error          // why that failed
	mended  int
}

// mend brings one object back, durably.
func (m *mender) mend(h objects.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.progress.journaled(h); ok {
		return m.put(h, plumbing.BlobObject, data, "the journal")
	}
	if typ, data, ok := firstPackOf(m.opts.Dir).find(h); ok {
		return m.put(h, typ, data, "the second copy of the first commit")
	}
	if !m.opts.isShared() {
		return errors.New("there is no copy: the journal has none and there is no remote")
	}
	typ, data, err := m.fromRemote(h)
	if err != nil {
		return fmt.Errorf("there is no copy: %w", err)
	}
	return m.put(h, typ, data, "the remote")
}

func (m *mender) put(h objects.Hash, typ plumbing.ObjectType, data []byte, from string) error {
	if err := m.store.PutLoose(typ, data); err != nil {
		return fmt.Errorf("cannot bring it back: %w", err)
	}
	m.mended++
	m.log.Warn().Stringer("object", h).Msg("a damaged object was brought back from " + from)
	return nil
}

func (m *mender) fromRemote(h objects.Hash) (plumbing.ObjectType, []byte, error) {
	if m.copy != nil {
		if typ, data, err := m.copy.Read(h); err == nil {
			return typ, data, nil
		}
	}
	if time.Since(m.fetched) < mendApart {
		if m.failed != nil {
			return 0, nil, m.failed
		}
		return 0, nil, errors.New("the remote has it not either")
	}
	m.failed = m.fetch(m.online)
	m.fetched = time.Now()
	if m.failed != nil {
		return 0, nil, m.failed
	}
	typ, data, err := m.copy.Read(h)
	if errors.Is(err, objects.ErrNotFound) {
		err = errors.New("the remote has it not either")
	}
	return typ, data, err
}

// takeAll brings everything that the remote has into the record, whatever the record itself has.
// The caller must call Hold before, and Release when refs name it.
func (m *mender) takeAll(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fetched = time.Now()
	if m.failed = m.fetch(ctx); m.failed != nil {
		return m.failed
	}
	err := m.store.TakePacks(m.copy)
	m.copy, m.fetched = nil, time.Time{}
	if err = errors.Join(err, os.RemoveAll(filepath.Join(m.opts.Dir, mendName))); err != nil {
		return fmt.Errorf("cannot take in what was fetched: %w", err)
	}
	m.log.Warn().Msg("everything that the remote has was fetched anew")
	return nil
}

// fetch brings the remote's main into a new repository beside the record.
func (m *mender) fetch(ctx context.Context) error {
	f := founding{opts: m.opts, dir: filepath.Join(m.opts.Dir, mendName)}
	m.copy = nil
	if err := f.makeRepository(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, carrier.Patience)
	defer cancel()
	// It is soon known whether anybody answers. Only the transfer itself may take long.
	quick, give := context.WithTimeout(ctx, mendAnswer)
	defer give()
	if _, err := f.git.Heads(quick); err != nil {
		return fmt.Errorf("cannot reach the remote: %w", err)
	}
	if err := f.git.FetchMain(ctx); err != nil {
		return fmt.Errorf("cannot fetch the remote: %w", err)
	}
	if err := f.store.Rescan(); err != nil {
		return err
	}
	m.copy = f.store
	return nil
}

// rest removes the copy of the remote if nobody has needed it for a while. With `now`, it removes
// it at once.
func (m *mender) rest(now bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fetched.IsZero() || !now && time.Since(m.fetched) < mendApart {
		return nil
	}
	m.copy, m.fetched, m.failed = nil, time.Time{}, nil
	return os.RemoveAll(filepath.Join(m.opts.Dir, mendName))
}

// replaceDamaged replaces packs in which damage was found.
func (r *Record) replaceDamaged(ctx context.Context) {
	for _, what := range r.store.ReplaceDamaged(ctx) {
		r.log.Warn().Msg("record mended: " + what)
	}
	if err := r.mender.rest(false); err != nil {
		r.log.Warn().Err(err).Msg("the record is not wholly mended")
	}
}
