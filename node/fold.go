package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// foldBatch is how many files are looked at together, or fewer of foldBytes;
	// foldLoose how many messages may lie in memory before they go into an archive.
	foldBatch = 256
	foldBytes = 8 << 20
	foldLoose = 25_000
)

// loader makes the state when a node starts.
type loader struct {
	record  *gitsync.Record
	anchor  keys.Anchor
	cache   *stateCache
	freezer *freezer
	folded  folded.State
	begin   func(*fleet.State) // puts another state in place of the one that there was
	losses  *losses
	flaws   *books.Flaws
	notices *notices.Notices
	reading *reading
	log     zerolog.Logger
}

// load makes the state: from the cache and what the record has got since or, where
// that cannot be, from the whole record.
func (l *loader) load(ctx context.Context) error {
	err := errLost
	if len(l.record.Lost()) == 0 {
		err = l.foldCached(ctx)
	}
	if err != nil && ctx.Err() == nil {
		if !errors.Is(err, errNoCache) {
			l.log.Info().Err(err).Msg("the cache of the state is of no use; the whole record is read")
		}
		if err = l.foldRest(ctx); err == nil && l.folded.Size() >= leastLoose {
			l.freezer.freezeOrSay()
			debug.FreeOSMemory() // reading it all took memory that is not needed any more
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read the record: %w", err)
	}
	return nil
}

// errLost says that the cache holds messages that the record has lost.
var errLost = errors.New("the record has lost messages")

// foldRest reads the whole record, or what is left of it where the disk has damaged a
// folder.
func (l *loader) foldRest(ctx context.Context) error {
	err := l.foldAll(ctx)
	if !errors.Is(err, gitsync.ErrDamaged) {
		return err
	}
	l.log.Error().Err(err).Msg("a folder of the record is damaged; what can be read is put together")
	if err := l.record.Recover(ctx); err != nil {
		return err
	}
	l.losses.name()
	return l.foldAll(ctx)
}

// foldCached takes the state from the cache and adds what is new in the record.
func (l *loader) foldCached(ctx context.Context) error {
	a, noted, err := l.cache.open(l.record.ID())
	if err != nil {
		return err
	}
	state := fleet.Restore(l.anchor, a)
	l.begin(state)
	err = l.take(ctx, state, func(visit func(gitsync.Letter) error) error { return l.record.WalkSince(ctx, noted.Tip, visit) })
	if err != nil {
		return err
	}
	for _, f := range noted.Flaws {
		l.flaws.Note(f)
	}
	return nil
}

// foldAll reads the whole record.
func (l *loader) foldAll(ctx context.Context) error {
	if err := l.cache.close(); err != nil {
		l.log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
	state := fleet.New(l.anchor, l.cache.kinds...)
	l.begin(state)
	l.notices.Clear()
	l.flaws.Clear()
	total, err := l.record.Count(ctx)
	if err != nil {
		return err
	}
	defer l.reading.begin(total)()
	var damaged []string
	err = l.take(ctx, state, func(visit func(gitsync.Letter) error) error {
		return l.record.WalkDamaged(ctx, visit, func(p protocol.Path, err error) error {
			if len(damaged) == 0 { // losses names all
				l.log.Error().Err(err).Stringer("path", p).Msg("a message of the record is damaged, and there is no copy")
			}
			damaged = append(damaged, p.RepoPath())
			return nil
		})
	})
	if err == nil && len(damaged) > 0 {
		err = l.record.NoteLost(damaged)
	}
	return err
}

// portion is some files on their way into the state.
type portion struct {
	letters  []gitsync.Letter
	bytes    int
	examined []fleet.Examined
	ready    chan struct{} // closed when they are examined
}

// take applies what walk visits to s, which is the state. Files are read, examined (by several goroutines,
// because checking signatures takes most of the time) and applied at once, each in
// the order of the walk. All goroutines have ended when it returns.
func (l *loader) take(ctx context.Context, s *fleet.State, walk func(func(gitsync.Letter) error) error) error {
	workers := runtime.GOMAXPROCS(0)
	todo, inOrder := make(chan *portion, workers), make(chan *portion, 2*workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for p := range todo {
				for _, letter := range p.letters {
					p.examined = append(p.examined, s.Examine(letter.Path, letter.Data))
				}
				close(p.ready)
			}
		})
	}
	var walked error
	running.Go(func() {
		defer close(todo)
		defer close(inOrder)
		walked = inPortions(walk, func(p *portion) error {
			for _, to := range []chan *portion{todo, inOrder} {
				select {
				case to <- p:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	l.takeAll(inOrder)
	running.Wait()
	return walked
}

// inPortions gathers what a walk visits. Portions do not mix what is recorded with
// what is not.
func inPortions(walk func(func(gitsync.Letter) error) error, pass func(*portion) error) error {
	p := &portion{ready: make(chan struct{})}
	flush := func() error {
		if len(p.letters) == 0 {
			return nil
		}
		full := p
		p = &portion{ready: make(chan struct{})}
		return pass(full)
	}
	err := walk(func(l gitsync.Letter) error {
		if len(p.letters) == foldBatch || p.bytes > foldBytes || len(p.letters) > 0 && p.letters[0].Recorded != l.Recorded {
			if err := flush(); err != nil {
				return err
			}
		}
		p.letters = append(p.letters, l)
		p.bytes += len(l.Data)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// takeAll applies portions as they are examined. Now and then what lies in memory
// goes into an archive, as long as all of it is recorded: what only the journal has
// must not be in one.
func (l *loader) takeAll(portions <-chan *portion) {
	done, open, most := 0, true, foldLoose
	for open {
		recorded := true
		l.folded(func(s *fleet.State) {
			s.Batch(func() {
				for s.Ledger.Loose() < most || !recorded {
					var p *portion
					if p, open = <-portions; !open {
						return
					}
					<-p.ready
					l.takePortion(s, p)
					recorded = recorded && p.letters[0].Recorded
					done += len(p.letters)
					l.reading.reached(done)
				}
			})
		})
		if open && !l.freezer.thin() {
			most = math.MaxInt
		}
	}
}

// takePortion applies one portion.
func (l *loader) takePortion(s *fleet.State, p *portion) {
	for i, e := range p.examined {
		if _, err := s.Take(e); err != nil && !errors.Is(err, fleet.ErrKnown) {
			l.flaws.Complain(p.letters[i], err, true)
		}
	}
	p.examined = nil
}
