package statecache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
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
	// foldBatch is how many files are looked at together; fewer if they have more than foldBytes
	// bytes. foldLoose is how many messages may lie in memory before they go into an archive.
	foldBatch = 256
	foldBytes = 8 << 20
	foldLoose = 25_000
)

// Loader makes the state when a node starts. All of its fields are required.
type Loader struct {
	Record   *gitsync.Record
	Anchor   keys.Anchor
	Cache    *Cache
	Freezer  *Freezer
	Folded   folded.State
	Begin    func(*fleet.State) // replaces the state by another one
	NameLost func()             // tells the record what was in folders that the disk has lost
	Flaws    *books.Flaws
	Notices  *notices.Notices
	Reading  *Reading
	Log      zerolog.Logger
}

// Load makes the state from the cache, and from what the record has got since. If that is not
// possible, it makes the state from the whole record.
func (l *Loader) Load(ctx context.Context) error {
	err := errLost
	if !slices.ContainsFunc(l.Record.Lost(), func(lost string) bool { return !gitsync.HoldsNoMessage(lost) }) {
		err = l.foldCached(ctx)
	}
	if err != nil && ctx.Err() == nil {
		if !errors.Is(err, errNoCache) {
			l.Log.Info().Err(err).Msg("the cache of the state is of no use; the whole record is read")
		}
		if err = l.foldRest(ctx); err == nil && l.Freezer.FreezeLong() {
			debug.FreeOSMemory() // reading everything took memory that is not needed any more
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read the record: %w", err)
	}
	return nil
}

// errLost says that the cache holds messages which the record has lost.
var errLost = errors.New("the record has lost messages")

// foldRest reads the whole record. If the disk has damaged a folder, it reads what is left.
func (l *Loader) foldRest(ctx context.Context) error {
	err := l.foldAll(ctx)
	if !errors.Is(err, gitsync.ErrDamaged) {
		return err
	}
	l.Log.Error().Err(err).Msg("a folder of the record is damaged; what can be read is put together")
	if err := l.Record.Recover(ctx); err != nil {
		return err
	}
	l.NameLost()
	return l.foldAll(ctx)
}

// foldCached takes the state from the cache, and adds what is new in the record.
func (l *Loader) foldCached(ctx context.Context) error {
	a, noted, err := l.Cache.open(l.Record.ID())
	if err != nil {
		return err
	}
	state := fleet.Restore(l.Anchor, a)
	l.Begin(state)
	err = l.take(ctx, state, func(visit func(gitsync.MessageFile) error) error { return l.Record.WalkSince(ctx, noted.Tip, visit) })
	if err != nil {
		return err
	}
	for _, f := range noted.Flaws {
		l.Flaws.Note(f)
	}
	return nil
}

// foldAll reads the whole record.
func (l *Loader) foldAll(ctx context.Context) error {
	if err := l.Cache.Close(); err != nil {
		l.Log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
	state := l.Cache.Empty(l.Anchor)
	l.Begin(state)
	l.Notices.Clear()
	l.Flaws.Clear()
	total, err := l.Record.Count(ctx)
	if err != nil {
		return err
	}
	defer l.Reading.begin(total)()
	var damaged []string
	err = l.take(ctx, state, func(visit func(gitsync.MessageFile) error) error {
		return l.Record.WalkDamaged(ctx, visit, func(p protocol.Path, err error) error {
			if len(damaged) == 0 { // losses names all of them
				l.Log.Error().Err(err).Stringer("path", p).Msg("a message of the record is damaged, and there is no copy")
			}
			damaged = append(damaged, p.RepoPath())
			return nil
		})
	})
	if err == nil && len(damaged) > 0 {
		err = l.Record.NoteLost(damaged)
	}
	return err
}

// portion is a number of files on their way into the state.
type portion struct {
	messages []gitsync.MessageFile
	bytes    int
	examined []fleet.Examined
	ready    chan struct{} // closed when they are examined
}

// take applies what `walk` visits to `s`, which is the state. Several goroutines examine the files,
// because checking signatures takes most of the time. Files are read, examined and applied at the
// same time, each step in the order of the walk. When take returns, all its goroutines have ended.
func (l *Loader) take(ctx context.Context, s *fleet.State, walk func(func(gitsync.MessageFile) error) error) error {
	workers := runtime.GOMAXPROCS(0)
	todo, inOrder := make(chan *portion, workers), make(chan *portion, 2*workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for p := range todo {
				for _, message := range p.messages {
					p.examined = append(p.examined, s.Examine(message.Path, message.Data))
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

// inPortions gathers what a walk visits into portions. A portion holds either only recorded files,
// or none.
func inPortions(walk func(func(gitsync.MessageFile) error) error, pass func(*portion) error) error {
	p := &portion{ready: make(chan struct{})}
	flush := func() error {
		if len(p.messages) == 0 {
			return nil
		}
		full := p
		p = &portion{ready: make(chan struct{})}
		return pass(full)
	}
	err := walk(func(l gitsync.MessageFile) error {
		if len(p.messages) == foldBatch || p.bytes > foldBytes || len(p.messages) > 0 && p.messages[0].Recorded != l.Recorded {
			if err := flush(); err != nil {
				return err
			}
		}
		p.messages = append(p.messages, l)
		p.bytes += len(l.Data)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// takeAll applies portions as they are examined. Now and then it brings what lies in memory into an
// archive, as long as all of it is recorded: what only the journal has must not be in an archive.
func (l *Loader) takeAll(portions <-chan *portion) {
	done, open, most := 0, true, foldLoose
	for open {
		recorded := true
		l.Folded(func(s *fleet.State) {
			s.Batch(func() {
				for s.Ledger.Loose() < most || !recorded {
					var p *portion
					if p, open = <-portions; !open {
						return
					}
					<-p.ready
					l.takePortion(s, p)
					recorded = recorded && p.messages[0].Recorded
					done += len(p.messages)
					l.Reading.reached(done)
				}
			})
		})
		if open && !l.Freezer.thin() {
			most = math.MaxInt
		}
	}
}

func (l *Loader) takePortion(s *fleet.State, p *portion) {
	for i, e := range p.examined {
		if _, err := s.Take(e); err != nil && !errors.Is(err, fleet.ErrKnown) {
			l.Flaws.Complain(p.messages[i], err, true)
		}
	}
	p.examined = nil
}
