package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/protocol"
)

const (
	indexPause = time.Second      // without a new message, before those that came are indexed; who searches waits for none
	indexLate  = time.Minute      // how long they may wait for such a pause
	indexMost  = 8192             // of them wait for it
	indexRetry = 10 * time.Second // before a broken index is made anew, on a full disk for example
	maxHits    = 1000
)

// indexer keeps the search index up to date: with the past in the background,
// with what comes as it comes. Its goroutine runs from start until stop.
type indexer struct {
	options search.Options
	folded  folded.State
	load    func(*fleet.Item) (*protocol.Message, error)
	log     zerolog.Logger
	work    sync.WaitGroup

	mu    sync.Mutex // guards what follows
	index *search.Index
	past  int // messages of the past that are not indexed yet
}

// startIndex opens the search index. Without one everything else works.
func (n *Node) startIndex(down *teardown) {
	x, err := n.openIndex()
	if err != nil {
		n.log.Error().Err(err).Msg("messages cannot be searched")
		n.notices.Wrong("search", "messages cannot be searched: %v", err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.mu.Lock()
	n.indexer = x
	x.past = n.state.Ledger.Len()
	n.mu.Unlock()
	x.work.Go(func() { x.run(ctx) })
	down.push(func() {
		cancel()
		x.work.Wait()
		if err := x.now().Close(); err != nil {
			n.log.Warn().Err(err).Msg("the search index did not close cleanly")
		}
	})
}

func (n *Node) openIndex() (x *indexer, err error) {
	x = &indexer{folded: n.folded, load: n.views.load, log: n.log, options: search.Options{
		Dir: n.home.SearchIndex(), RecordID: n.record.ID(), Log: n.log.With().Str("part", "search").Logger(),
	}}
	x.index, err = search.Open(x.options)
	return x, err
}

// now is the index at this moment.
func (x *indexer) now() *search.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.index
}

// searchable reports whether people search for such a message.
func searchable(it *fleet.Item) bool { return it.Type == protocol.TypeText && !it.Act.HostWord() }

// add queues a message that has just come. It blocks on nothing.
func (x *indexer) add(it *fleet.Item, load func() (*protocol.Message, error)) {
	if x != nil && searchable(it) {
		x.now().Add(document(it, load))
	}
}

func document(it *fleet.Item, load func() (*protocol.Message, error)) search.Document {
	return search.Document{Path: it.Path, Hash: it.Hash, From: authorNames(it), At: it.Timestamp, Body: func() (string, error) {
		m, err := load()
		if err != nil {
			return "", err
		}
		return m.Body, nil
	}}
}

// authorNames are what somebody may call the author of a message: by the name alone, or
// with the host where one is known.
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

// run keeps the index up to date. One that broke is made anew.
func (x *indexer) run(ctx context.Context) {
	for {
		x.keepUp(ctx, x.now())
		select {
		case <-time.After(indexRetry):
		case <-ctx.Done():
			return
		}
		if err := x.now().Close(); err != nil {
			x.log.Warn().Err(err).Msg("the search index did not close cleanly")
		}
		index, err := search.Open(x.options)
		if err != nil {
			continue // it is closed, and tried again
		}
		x.mu.Lock()
		x.index = index
		x.mu.Unlock()
		x.log.Info().Msg("the search index is made anew")
	}
}

// keepUp indexes what an index lacks of the past, then writes now and then what has
// come, until ctx ends or the index breaks.
func (x *indexer) keepUp(ctx context.Context, index *search.Index) {
	if _, err := x.catchUp(ctx, index, func() {}); err != nil && ctx.Err() == nil {
		x.log.Error().Err(err).Msg("cannot index messages")
	}
	tick := time.NewTicker(indexPause)
	defer tick.Stop()
	before, flushed := 0, time.Now()
	for {
		select {
		case <-tick.C:
			// While messages come thick and fast, the processors are theirs.
			pending := index.Pending()
			if pending == before || pending >= indexMost || time.Since(flushed) >= indexLate {
				if pending > 0 {
					x.flush(index)
				}
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

// catchUp indexes what an index lacks of the past, and returns how many messages
// that were. It calls step now and then.
func (x *indexer) catchUp(ctx context.Context, index *search.Index, step func()) (added int, err error) {
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
		x.folded(func(s *fleet.State) { past = folded.Following(s, last) })
		for _, it := range past {
			if searchable(it) && !known.Has(it.Path, it.Hash) {
				index.Add(document(it, func() (*protocol.Message, error) { return x.load(it) }))
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

// looked notes that so many more messages of the past have been looked at; none
// means that there are no more.
func (x *indexer) looked(at int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.past = max(0, x.past-at); at == 0 {
		x.past = 0
	}
}

func (x *indexer) flush(index *search.Index) {
	if err := index.Flush(); err != nil {
		x.log.Error().Err(err).Msg("cannot index messages")
	}
}

// pending is how many messages of the past are not indexed yet.
func (x *indexer) pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.past
}

// Search answers control.Search.
func (n *Node) Search(ctx context.Context, r control.SearchRequest) (control.SearchResult, error) {
	if r.Limit < 0 || r.Limit > maxHits {
		return control.SearchResult{}, control.Errorf(control.KindUsage, "", "a search shows from 1 to %d messages", maxHits)
	}
	from := addressOf(r.From)
	q := search.Query{Words: r.Words, From: from.String(), Since: r.Since, Limit: r.Limit}
	n.mu.Lock()
	x := n.indexer
	var err error
	if r.Channel != "" {
		q.Channel, err = n.state.Channels.Find(r.Channel)
	}
	n.mu.Unlock()
	if err != nil {
		return control.SearchResult{}, asError(err)
	}
	if x == nil {
		return control.SearchResult{}, control.Errorf(control.KindFailed, "see: parley status", "messages cannot be searched: there is no index")
	}
	found, err := x.now().Search(ctx, q)
	if errors.Is(err, search.ErrNothingAsked) {
		return control.SearchResult{}, control.Errorf(control.KindUsage, "parley search --help", "%v", err)
	}
	if err != nil && x.now().Broken() {
		return control.SearchResult{}, control.Errorf(control.KindFailed, "it is made anew: try again in a few seconds", "%v", err)
	}
	if err != nil {
		return control.SearchResult{}, asError(err)
	}
	words := q.Matcher()
	result := control.SearchResult{Total: found.Total, Pending: x.pending()}
	for _, m := range n.views.all(n.present(found.Hits)) {
		result.Hits = append(result.Hits, control.MessageHit{Message: m, Excerpt: excerpt(words, m.Body)})
	}
	result.Memories, result.MemoriesTotal = n.searchMemories(q, from.Name, words)
	return result, nil
}

// addressOf reads whom a person named; what is no address stands as it is.
func addressOf(text string) protocol.Address {
	a, err := protocol.ParseAddress(text)
	if err != nil {
		return protocol.Address{Name: text}
	}
	return a
}

func excerpt(words search.Matcher, text string) []control.Fragment {
	var all []control.Fragment
	for _, f := range words.Excerpt(text) {
		all = append(all, control.Fragment{Text: f.Text, Hit: f.Hit})
	}
	return all
}

// present are the hits that the record still holds with the same bytes.
func (n *Node) present(hits []search.Hit) []facts {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []facts
	for _, hit := range hits {
		if it, ok := n.state.Ledger.Item(hit.Path); ok && it.Hash == hit.Hash {
			all = append(all, factsOf(n.state, it))
		}
	}
	return all
}
