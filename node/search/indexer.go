package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

const (
	indexPause = time.Second      // this long no message has to come until those that came are indexed
	indexLate  = time.Minute      // how long they may wait for such a pause
	indexMost  = 1 << 17          // if so many wait, they are indexed in any case, because they take memory
	indexRetry = 10 * time.Second // before a broken index is made anew, for example on a full disk
)

// ErrNoIndex says that the index could not be opened, or is not open yet.
var ErrNoIndex = errors.New("messages cannot be searched: there is no index")

// Indexer keeps an index up to date with the state. It adds the past in the background, and new
// messages as they come.
type Indexer struct {
	o IndexerOptions

	mu    sync.Mutex // guards what follows
	index *Index     // nil if there is none
	past  int        // messages of the past that are not indexed yet
}

// IndexerOptions are what an Indexer works with. All are required.
type IndexerOptions struct {
	Dir      string // a folder for the index alone
	RecordID string
	Folded   folded.State
	Load     func(protocol.Path, string) (*protocol.Message, error) // by path and hash
	Log      zerolog.Logger
}

// NewIndexer makes an Indexer that does nothing before Start.
func NewIndexer(o IndexerOptions) *Indexer { return &Indexer{o: o} }

func (x *Indexer) open() (*Index, error) {
	return Open(Options{Dir: x.o.Dir, RecordID: x.o.RecordID, Log: x.o.Log.With().Str("part", "search").Logger()})
}

// begin opens the index. What is in the state by then is the past. What comes later has to be
// added.
func (x *Indexer) begin() error {
	index, err := x.open()
	if err != nil {
		return err
	}
	x.o.Folded(func(s *fleet.State) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.index, x.past = index, s.Ledger.Len()
	})
	return nil
}

// Start opens the index, and keeps it up to date until `stop` is called.
func (x *Indexer) Start() (stop func(), err error) {
	if err := x.begin(); err != nil {
		return nil, err
	}
	end := wait.Background(x.run)
	return func() {
		end()
		x.close(x.now())
	}, nil
}

// IndexAll adds what the state holds to the index, and returns how many messages were added. `tell`
// is told now and then how far it has come; nil: nobody is told.
func (x *Indexer) IndexAll(ctx context.Context, tell func(done, total int)) (indexed int, err error) {
	if err := x.begin(); err != nil {
		return 0, err
	}
	defer func() {
		if closing := x.now().Close(); err == nil {
			err = closing
		}
	}()
	total := x.Pending()
	return x.catchUp(ctx, x.now(), func() {
		if tell != nil {
			tell(total-x.Pending(), total)
		}
	})
}

func (x *Indexer) now() *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.index
}

// searchable reports whether people search for messages of this kind.
func searchable(it *fleet.Item) bool { return it.Type == protocol.TypeText && !it.Act.HostWord() }

// Add queues a message that has just come. It never waits.
func (x *Indexer) Add(it *fleet.Item) {
	if !searchable(it) {
		return
	}
	if index := x.now(); index != nil {
		index.Add(x.document(it))
	}
}

// Forget takes the words of some messages out of the index, if there is one.
func (x *Indexer) Forget(ctx context.Context, gone func(path string) bool) error {
	index := x.now()
	if index == nil {
		return ErrNoIndex
	}
	return index.Forget(ctx, gone)
}

// Search finds what has been indexed. `broken` says that the index broke, and will be made anew.
func (x *Indexer) Search(ctx context.Context, q Query) (found Result, broken bool, err error) {
	index := x.now()
	if index == nil {
		return Result{}, false, ErrNoIndex
	}
	found, err = index.Search(ctx, q)
	return found, err != nil && x.now().Broken(), err
}

func (x *Indexer) close(index *Index) {
	if err := index.Close(); err != nil {
		x.o.Log.Warn().Err(err).Msg("the search index did not close cleanly")
	}
}

// document is what is indexed of a message. In a burst a hundred thousand of them wait, so
// nothing in it leads to the item.
func (x *Indexer) document(it *fleet.Item) Document {
	path, hash := it.Path, it.Hash
	return Document{Path: path, Hash: hash, From: authorNames(it), At: it.Timestamp, Body: func() (string, error) {
		m, err := x.o.Load(path, hash)
		if err != nil {
			return "", err
		}
		return m.Body, nil
	}}
}

// authorNames are the names that people may use for the author of a message: the name alone, and
// with the host if a host is known.
func authorNames(it *fleet.Item) []string {
	author := it.Author()
	names := []string{author.Name}
	for _, host := range []string{it.Host.String(), author.Host} {
		if host != "" {
			names = append(names, protocol.Address{Name: author.Name, Host: host}.String())
		}
	}
	return names
}

// run keeps the index up to date. It makes a broken index anew.
func (x *Indexer) run(ctx context.Context) {
	for {
		x.keepUp(ctx, x.now())
		if !wait.Sleep(ctx, indexRetry) {
			return
		}
		x.close(x.now())
		index, err := x.open()
		if err != nil {
			continue // it stays closed, and is tried again
		}
		x.mu.Lock()
		x.index = index
		x.mu.Unlock()
		x.o.Log.Info().Msg("the search index is made anew")
	}
}

// keepUp adds what an index lacks of the past. Then it writes now and then what has come, until
// `ctx` ends or the index breaks.
func (x *Indexer) keepUp(ctx context.Context, index *Index) {
	if _, err := x.catchUp(ctx, index, func() {}); err != nil && ctx.Err() == nil {
		x.o.Log.Error().Err(err).Msg("cannot index messages")
	}
	tick := time.NewTicker(indexPause)
	defer tick.Stop()
	before, flushed := 0, time.Now()
	for {
		select {
		case <-tick.C:
			pending := index.Pending()
			if pending == before || pending >= indexMost || time.Since(flushed) >= indexLate {
				x.flush(ctx, index)
				flushed = time.Now()
			}
			before = index.Pending()
			if index.Broken() {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// catchUp adds what an index lacks of the past, and returns how many messages that were. It calls
// `step` now and then.
func (x *Indexer) catchUp(ctx context.Context, index *Index, step func()) (added int, err error) {
	known, err := index.Known()
	if err != nil {
		return 0, err
	}
	var last *fleet.Item
	for {
		if err := ctx.Err(); err != nil {
			return added, err
		}
		var past []*fleet.Item
		x.o.Folded(func(s *fleet.State) { past = folded.Following(s, last) })
		for _, it := range past {
			if searchable(it) && !known.Has(it.Path, it.Hash) {
				index.Add(x.document(it))
				added++
			}
		}
		if err := index.Flush(); err != nil {
			return added, err
		}
		x.looked(len(past))
		step()
		if len(past) == 0 {
			return added, nil
		}
		last = past[len(past)-1]
	}
}

// looked notes that `at` more messages of the past have been looked at. 0 means that there are no
// more.
func (x *Indexer) looked(at int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.past = max(0, x.past-at); at == 0 {
		x.past = 0
	}
}

// flush writes what waits, and stops between two batches when `ctx` ends.
func (x *Indexer) flush(ctx context.Context, index *Index) {
	for more, err := true, error(nil); more && ctx.Err() == nil; {
		if more, err = index.flushBatch(); err != nil {
			x.o.Log.Error().Err(err).Msg("cannot index messages")
		}
	}
}

// Pending is how many messages are not indexed yet and are not waited for by a search: those of the
// past, and those of a burst.
func (x *Indexer) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	pending := x.past
	if x.index != nil {
		pending += x.index.beyondSearch()
	}
	return pending
}
