package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// foldBatch is how many files are looked at together, or fewer of foldBytes;
	// foldLoose how many messages may lie in memory before they go into an archive.
	foldBatch = 256
	foldBytes = 8 << 20
	foldLoose = 25_000
	// foldSay is the time between two lines of the log about a long start.
	foldSay = 10 * time.Second
)

// fold makes the state: from the cache and what the record has got since or, where
// that cannot be, from the whole record.
func (n *Node) fold(ctx context.Context) error {
	err := errLost
	if len(n.record.Lost()) == 0 {
		err = n.foldCached(ctx)
	}
	if err != nil && ctx.Err() == nil {
		if !errors.Is(err, errNoCache) {
			n.log.Info().Err(err).Msg("the cache of the state is of no use; the whole record is read")
		}
		if err = n.foldRest(ctx); err == nil && n.state.Ledger.Len() >= leastLoose {
			n.freezeOrSay()
			debug.FreeOSMemory() // reading it all took memory that is not needed any more
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read the record: %w", err)
	}
	n.folded(func(s *fleet.State) { n.books.SayUnread(s.Keys().Hosts()...) })
	n.tellLost()
	return n.books.Read()
}

// errLost says that the cache holds messages that the record has lost.
var errLost = errors.New("the record has lost messages")

// foldRest reads the whole record, or what is left of it where the disk has damaged a
// folder.
func (n *Node) foldRest(ctx context.Context) error {
	err := n.foldAll(ctx)
	if !errors.Is(err, gitsync.ErrDamaged) {
		return err
	}
	n.log.Error().Err(err).Msg("a folder of the record is damaged; what can be read is put together")
	if err := n.record.Recover(ctx); err != nil {
		return err
	}
	n.nameLost()
	return n.foldAll(ctx)
}

// foldCached takes the state from the cache and adds what is new in the record.
func (n *Node) foldCached(ctx context.Context) error {
	n.cache.dir = n.home.StateCache()
	a, s, err := n.cache.open(n.record.ID())
	if err != nil {
		return err
	}
	n.state = fleet.Restore(n.anchor, a)
	err = n.take(ctx, 0, func(visit func(gitsync.Letter) error) error { return n.record.WalkSince(ctx, s.Tip, visit) })
	if err != nil {
		return err
	}
	for _, f := range s.Flaws {
		n.flaws.Note(f)
	}
	return nil
}

// foldAll reads the whole record.
func (n *Node) foldAll(ctx context.Context) error {
	if err := n.cache.close(); err != nil {
		n.log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
	n.mu.Lock()
	n.state = fleet.New(n.anchor, n.cache.kinds...)
	n.mu.Unlock()
	n.notices.Clear()
	n.flaws.Clear()
	total, err := n.record.Count(ctx)
	if err != nil {
		return err
	}
	defer n.answerMeanwhile(total)()
	var damaged []string
	err = n.take(ctx, total, func(visit func(gitsync.Letter) error) error {
		return n.record.WalkDamaged(ctx, visit, func(p protocol.Path, err error) error {
			if len(damaged) == 0 { // tellLost names all
				n.log.Error().Err(err).Stringer("path", p).Msg("a message of the record is damaged, and there is no copy")
			}
			damaged = append(damaged, p.RepoPath())
			return nil
		})
	})
	if err == nil && len(damaged) > 0 {
		err = n.record.NoteLost(damaged)
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

// take applies what walk visits. Files are read, examined (by several goroutines,
// because checking signatures takes most of the time) and applied at once, each in
// the order of the walk. All goroutines have ended when it returns.
func (n *Node) take(ctx context.Context, total int, walk func(func(gitsync.Letter) error) error) error {
	workers := runtime.GOMAXPROCS(0)
	todo, inOrder := make(chan *portion, workers), make(chan *portion, 2*workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for p := range todo {
				for _, l := range p.letters {
					p.examined = append(p.examined, n.state.Examine(l.Path, l.Data))
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
	n.takeAll(inOrder, total)
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
func (n *Node) takeAll(portions <-chan *portion, total int) {
	tell := n.teller(total)
	done, open, most := 0, true, foldLoose
	for open {
		recorded := true
		n.mu.Lock()
		n.state.Batch(func() {
			for n.state.Ledger.Loose() < most || !recorded {
				var p *portion
				if p, open = <-portions; !open {
					return
				}
				<-p.ready
				n.takePortion(p)
				recorded = recorded && p.letters[0].Recorded
				done += len(p.letters)
				tell(done)
			}
		})
		n.mu.Unlock()
		if open && !n.thin() {
			most = math.MaxInt
		}
	}
}

// takePortion applies one portion. The caller holds mu.
func (n *Node) takePortion(p *portion) {
	for i, e := range p.examined {
		if _, err := n.state.Take(e); err != nil && !errors.Is(err, fleet.ErrKnown) {
			n.flaws.Complain(p.letters[i], err, true)
		}
	}
	p.examined = nil
}

// teller says now and then how far the reading has come; total is 0 where little is
// to be read.
func (n *Node) teller(total int) func(done int) {
	next := time.Now().Add(foldSay)
	return func(done int) {
		if total == 0 {
			return
		}
		done = min(done, total)
		n.sofar.done.Store(int64(done))
		if n.progress != nil {
			n.progress(done, total)
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(foldSay)
			n.log.Info().Int("of", total).Int("messages", done).Msgf("reading the record: %d%%", 100*done/total)
		}
	}
}
