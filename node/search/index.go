package search

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// format changes with everything that makes an older index useless.
	format       = "parley-search-2"
	stampKey     = "stamp"
	wordsOnly    = "words" // the analyzer of text that this package has already cut into words
	fieldWords   = "words"
	fieldFrom    = "from"
	fieldChannel = "channel"
	fieldAt      = "at"

	defaultLimit = 20
	maxBatch     = 4000    // documents of one write: more would be cheaper for each, and hold others up for longer
	maxBatchSize = 8 << 20 // bytes of bodies
	searchWaits  = 8192    // up to so many documents are written before a search or at the end; more are left to the next Flush
)

// Options say where an index lies, and of which record it is.
type Options struct {
	Dir      string
	RecordID string
	Log      zerolog.Logger
}

// Document is a message as it is indexed.
type Document struct {
	Path protocol.Path
	Hash string   // of the message's file: the same path with other bytes is another document
	From []string // names of its author, with the host and without it
	At   time.Time
	// Body returns the text, when it is to be indexed. The text is not kept.
	Body func() (string, error)
}

func (d Document) id() string { return d.Path.String() + " " + d.Hash }

// Index is a full-text index. It is safe for concurrent use.
type Index struct {
	opts  Options
	inner bleve.Index

	writing sync.Mutex // held while a batch is written

	mu     sync.Mutex // guards what follows
	queue  []Document
	broken error
	closed bool
}

// Open opens the index in a folder, or makes one there.
func Open(o Options) (*Index, error) {
	x := &Index{opts: o}
	_, absent := os.Stat(o.Dir)
	inner, err := x.open()
	if err != nil {
		if absent == nil { // that there is no index yet is no news
			o.Log.Info().Err(err).Msg("the search index is made anew")
		}
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("cannot remove the old search index: %w", err)
		}
		if inner, err = x.create(); err != nil {
			return nil, fmt.Errorf("cannot make the search index: %w", err)
		}
	}
	x.inner = inner
	return x, nil
}

func (x *Index) stamp() string { return format + " " + x.opts.RecordID }

// open opens the existing index. What a damaged disk has written may make the library panic. That
// counts as an error.
func (x *Index) open() (inner bleve.Index, err error) {
	defer caught(&err)
	if _, err := os.Stat(x.opts.Dir); err != nil {
		return nil, err
	}
	if inner, err = bleve.Open(x.opts.Dir); err != nil {
		return nil, err
	}
	stamp, err := inner.GetInternal([]byte(stampKey))
	if err == nil && string(stamp) != x.stamp() {
		err = fmt.Errorf("it is of another version or record")
	}
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return inner, nil
}

func (x *Index) create() (bleve.Index, error) {
	if err := durable.FoldersIn(filepath.Dir(filepath.Dir(x.opts.Dir)), filepath.Dir(x.opts.Dir), 0o700); err != nil {
		return nil, err
	}
	m, err := documents()
	if err != nil {
		return nil, err
	}
	inner, err := bleve.NewUsing(x.opts.Dir, m, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	if err := inner.SetInternal([]byte(stampKey), []byte(x.stamp())); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return inner, nil
}

// documents says how the fields of a document are indexed. None of them is stored.
func documents() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	err := m.AddCustomAnalyzer(wordsOnly, map[string]any{"type": custom.Name, "tokenizer": whitespace.Name})
	if err != nil {
		return nil, err
	}
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.DocValues, text.IncludeInAll = wordsOnly, false, false, false
	word := bleve.NewKeywordFieldMapping()
	word.Analyzer, word.Store, word.DocValues, word.IncludeInAll, word.IncludeTermVectors = keyword.Name, false, false, false, false
	at := bleve.NewNumericFieldMapping()
	at.Store, at.IncludeInAll = false, false
	d := bleve.NewDocumentStaticMapping()
	d.AddFieldMappingsAt(fieldWords, text)
	d.AddFieldMappingsAt(fieldFrom, word)
	d.AddFieldMappingsAt(fieldChannel, word)
	d.AddFieldMappingsAt(fieldAt, at)
	m.DefaultMapping = d
	return m, nil
}

// caught turns a panic of the library into an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the search index is damaged: %v", p)
	}
}

// Add queues a document. The next Flush writes it, or the next Search, if not too many wait.
func (x *Index) Add(d Document) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.queue = append(x.queue, d)
}

// Pending is how many documents wait to be written.
func (x *Index) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.queue)
}

// beyondSearch is how many documents wait if they are too many for a search to wait for them; else
// 0.
func (x *Index) beyondSearch() int {
	if n := x.Pending(); n > searchWaits {
		return n
	}
	return 0
}

// Flush writes what is queued.
func (x *Index) Flush() error {
	for {
		if more, err := x.flushBatch(); err != nil || !more {
			return err
		}
	}
}

// flushBatch writes some of the queued documents, and reports whether there were any.
func (x *Index) flushBatch() (more bool, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	next := x.take()
	if len(next) == 0 {
		return false, x.failure()
	}
	if err := x.write(next); err != nil {
		x.fail(err)
		return false, err
	}
	return true, nil
}

// flushFew writes what is queued, unless that is more than a person would wait for.
func (x *Index) flushFew() error {
	if x.beyondSearch() > 0 {
		return x.failure()
	}
	return x.Flush()
}

// take removes some documents from the queue. A damaged or closed index drops the queue, and
// returns none.
func (x *Index) take() []Document {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken != nil || x.closed {
		x.queue = nil
		return nil
	}
	n := min(len(x.queue), maxBatch)
	next := x.queue[:n]
	x.queue = x.queue[n:]
	return next
}

// write indexes documents, in batches that memory can hold.
func (x *Index) write(documents []Document) (err error) {
	defer caught(&err)
	batch, size := x.inner.NewBatch(), 0
	for _, d := range documents {
		body, err := d.Body()
		if err != nil {
			x.opts.Log.Warn().Err(err).Stringer("path", d.Path).Msg("a message cannot be indexed")
			continue
		}
		err = batch.Index(d.id(), map[string]any{
			fieldWords: strings.Join(words(body), " "), fieldFrom: d.From, fieldChannel: d.Path.Channel().String(),
			fieldAt: float64(d.At.UnixMilli()),
		})
		if err != nil {
			return fmt.Errorf("cannot index %s: %w", d.Path, err)
		}
		if size += len(body); size > maxBatchSize {
			if err := x.inner.Batch(batch); err != nil {
				return err
			}
			batch, size = x.inner.NewBatch(), 0
		}
	}
	return x.inner.Batch(batch)
}

// Broken reports whether the index is useless now: Close it, and open it again.
func (x *Index) Broken() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.broken != nil
}

func (x *Index) failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return errors.New("the search index is closed")
	case x.broken != nil:
		return fmt.Errorf("the search index cannot be used: %w", x.broken)
	}
	return nil
}

// fail notes that the index is useless. Close removes it.
func (x *Index) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken = err
	x.opts.Log.Error().Err(err).Msg("the search index cannot be used; it is to be made anew")
}

// Known says which documents the index holds, judged by a hash of their ids: of 2^64 other
// documents, one may pass for known.
type Known map[uint64]struct{}

// Has reports whether the document is known.
func (k Known) Has(p protocol.Path, hash string) bool {
	_, ok := k[sum(Document{Path: p, Hash: hash}.id())]
	return ok
}

func sum(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// Known lists the documents of the index.
func (x *Index) Known() (known Known, err error) {
	defer caught(&err)
	if err := x.failure(); err != nil {
		return nil, err
	}
	advanced, err := x.inner.Advanced()
	if err != nil {
		return nil, err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	ids, err := reader.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer ids.Close()
	known = Known{}
	for {
		id, err := ids.Next()
		if err != nil || id == nil {
			return known, err
		}
		name, err := reader.ExternalID(id)
		if err != nil {
			return nil, err
		}
		known[sum(name)] = struct{}{}
	}
}

// Hit is a document that was found.
type Hit struct {
	Path protocol.Path
	Hash string
}

// Result is what a query found: the best hits first; of equally good hits, the newest first.
type Result struct {
	Hits  []Hit
	Total int // including hits beyond the limit
}

// Search finds documents. It finds all that were added before the call, unless so many wait to be
// written that it does not wait for them.
func (x *Index) Search(ctx context.Context, q Query) (r Result, err error) {
	wanted, err := q.build()
	if err != nil {
		return r, err
	}
	if !q.Written {
		if err := x.flushFew(); err != nil {
			return r, err
		}
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	request := bleve.NewSearchRequestOptions(wanted, q.Limit, 0, false)
	request.SortBy([]string{"-_score", "-" + fieldAt, "_id"})
	if len(parse(q.Words)) == 0 {
		request.SortBy([]string{"-" + fieldAt, "_id"})
	}
	found, err := x.find(ctx, request)
	if err != nil {
		return r, fmt.Errorf("cannot search: %w", err)
	}
	r.Total = int(found.Total)
	for _, hit := range found.Hits {
		at := strings.LastIndexByte(hit.ID, ' ')
		p, err := protocol.ParsePath(hit.ID[:max(at, 0)])
		if err != nil {
			continue // not an id that this package makes
		}
		r.Hits = append(r.Hits, Hit{Path: p, Hash: hit.ID[at+1:]})
	}
	return r, nil
}

func (x *Index) find(ctx context.Context, request *bleve.SearchRequest) (found *bleve.SearchResult, err error) {
	defer func() {
		if err != nil && strings.Contains(err.Error(), "is damaged") {
			x.fail(err)
		}
	}()
	defer caught(&err)
	return x.inner.SearchInContext(ctx, request)
}

// Waiting returns the documents of an author that wait to be written, the newest first. It waits
// for a write that is under way, so that every document is either in the index or in the result.
func (x *Index) Waiting(from string, most int) (hits []Hit) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range slices.Backward(x.queue) {
		if slices.Contains(d.From, from) && len(hits) < most {
			hits = append(hits, Hit{Path: d.Path, Hash: d.Hash})
		}
	}
	return hits
}

// closeWait bounds how long the end of an index may take. If its folder was taken away, bleve waits
// for ever. What was not written then is indexed again at the next start.
const closeWait = 5 * time.Second

// Close writes what is queued, unless there is so much that it would delay the end, and releases
// the folder. It removes a damaged index. It gives up after closeWait.
func (x *Index) Close() error {
	ended := make(chan error, 1)
	go func() { ended <- x.end() }() // ends with bleve, or with the process
	select {
	case err := <-ended:
		return err
	case <-time.After(closeWait):
		return fmt.Errorf("cannot close the index of words within %s", closeWait)
	}
}

func (x *Index) end() error {
	err := x.flushFew()
	x.mu.Lock()
	closed, broken := x.closed, x.broken
	x.closed = true
	x.mu.Unlock()
	if closed {
		return nil
	}
	err = errors.Join(err, x.shut())
	if broken != nil {
		return os.RemoveAll(x.opts.Dir)
	}
	return err
}

func (x *Index) shut() (err error) {
	defer caught(&err)
	return x.inner.Close()
}
