package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// format changes with everything that makes an older index useless.
	format = "parley-search-3"
	// fileName is the one file of an index: a line that says what it is, then a line for each
	// document, as [line] makes it.
	fileName = "words"

	defaultLimit = 20
	maxBatch     = 4000    // documents of one write: more would hold others up for longer
	maxBatchSize = 8 << 20 // bytes of lines
	searchWaits  = 8192    // up to so many documents are written before a search or at the end; more are left to the next Flush
	lookUp       = 1 << 10 // so many lines are read between two looks at a context
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
	file  *os.File
	first int64 // where the first document begins

	writing sync.Mutex // held while a batch is written

	mu     sync.Mutex // guards what follows
	size   int64      // of what is written in whole lines
	queue  []Document
	broken error
	closed bool
}

// Open opens the index in a folder, or makes one there.
func Open(o Options) (*Index, error) {
	x := &Index{opts: o}
	_, absent := os.Stat(o.Dir)
	if err := x.open(); err != nil {
		if absent == nil { // that there is no index yet is no news
			o.Log.Info().Err(err).Msg("the search index is made anew")
		}
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("cannot remove the old search index: %w", err)
		}
		if err := x.create(); err != nil {
			return nil, fmt.Errorf("cannot make the search index: %w", err)
		}
	}
	return x, nil
}

func (x *Index) stamp() string { return format + " " + x.opts.RecordID + "\n" }

func (x *Index) path() string { return filepath.Join(x.opts.Dir, fileName) }

// open opens the existing index. A last line that a crash has cut off is taken away.
func (x *Index) open() error {
	file, err := os.OpenFile(x.path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	stamp := make([]byte, len(x.stamp()))
	if _, err := io.ReadFull(file, stamp); err != nil || string(stamp) != x.stamp() {
		return errors.Join(errors.New("it is of another version or record"), file.Close())
	}
	end, err := wholeLines(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	x.file, x.first, x.size = file, int64(len(stamp)), end
	return nil
}

func wholeLines(file *os.File) (int64, error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	block := make([]byte, 1<<12)
	for end > 0 {
		from := max(0, end-int64(len(block)))
		piece := block[:end-from]
		if _, err := file.ReadAt(piece, from); err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(piece, '\n'); at >= 0 {
			return from + int64(at) + 1, nil
		}
		end = from
	}
	return 0, nil
}

func (x *Index) create() error {
	if err := durable.FoldersIn(filepath.Dir(filepath.Dir(x.opts.Dir)), x.opts.Dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(x.path(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(x.stamp()); err != nil {
		return errors.Join(err, file.Close())
	}
	x.file, x.first, x.size = file, int64(len(x.stamp())), int64(len(x.stamp()))
	return nil
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

// write appends documents, in pieces that memory can hold.
func (x *Index) write(documents []Document) error {
	var lines []byte
	for _, d := range documents {
		body, err := d.Body()
		if err != nil {
			x.opts.Log.Warn().Err(err).Stringer("path", d.Path).Msg("a message cannot be indexed")
			continue
		}
		if lines = append(lines, line(d, body)...); len(lines) > maxBatchSize {
			if err := x.append(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	return x.append(lines)
}

func (x *Index) append(lines []byte) error {
	_, end := x.written()
	if _, err := x.file.WriteAt(lines, end); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.size += int64(len(lines))
	return nil
}

func (x *Index) written() (begin, end int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.first, x.size
}

// Forget takes the words of some messages out of the index. Their lines stay, so that they are not
// indexed again.
func (x *Index) Forget(ctx context.Context, gone func(path string) bool) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	blank := map[int64][]byte{} // lines by their places
	err := x.each(ctx, func(at int64, line []byte) error {
		e, ok := readEntry(line)
		path, _, _ := strings.Cut(string(e.id), " ")
		if !ok || !gone(path) {
			return nil
		}
		rest := slices.Clone(line[checksumLength:])
		copy(rest[len(rest)-len(e.words):], bytes.Repeat([]byte(" "), len(e.words)))
		blank[at] = fmt.Appendf(nil, "%0*x%s", checksumLength, crc32.ChecksumIEEE(rest), rest)
		return nil
	})
	for at, line := range blank {
		if err == nil {
			_, err = x.file.WriteAt(line, at)
		}
	}
	if err == nil && len(blank) > 0 {
		err = x.file.Sync()
	}
	return err
}

const checksumLength = 8 // hexadecimal digits

// line makes the line of a document: a checksum of the rest; when, the id, the channel, who, and the
// words, between tabs. Each name and each word has its separator on both sides, so that a whole one
// can be looked for.
func line(d Document, body string) []byte {
	rest := fmt.Appendf(nil, "%d\t%s\t%s\t%s\t %s ", d.At.UnixMilli(), d.id(), d.Path.Channel(), names(d.From...), strings.Join(words(body), " "))
	return fmt.Appendf(nil, "%0*x%s\n", checksumLength, crc32.ChecksumIEEE(rest), rest)
}

const nameEnd = "\x00"

// names are names as a line has them. What separates names and fields stands in none of them.
func names(all ...string) string {
	text := nameEnd
	for _, one := range all {
		text += strings.NewReplacer("\t", " ", "\n", " ", nameEnd, " ").Replace(one) + nameEnd
	}
	return text
}

type entry struct {
	at                       int64 // milliseconds
	id, channel, from, words []byte
}

func readEntry(line []byte) (e entry, ok bool) {
	if len(line) < checksumLength {
		return e, false
	}
	at, rest, _ := bytes.Cut(line[checksumLength:], []byte("\t"))
	e.id, rest, _ = bytes.Cut(rest, []byte("\t"))
	e.channel, rest, _ = bytes.Cut(rest, []byte("\t"))
	e.from, e.words, ok = bytes.Cut(rest, []byte("\t"))
	var err error
	e.at, err = strconv.ParseInt(string(at), 10, 64)
	return e, ok && err == nil
}

// each calls visit with the place and the content of each line. A line is not kept by visit.
func (x *Index) each(ctx context.Context, visit func(at int64, line []byte) error) error {
	begin, end := x.written()
	lines := bufio.NewReaderSize(io.NewSectionReader(x.file, begin, end-begin), 1<<18)
	var long []byte
	for n, at := 0, begin; ; n++ {
		if n%lookUp == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); {
			long = append(long, line...)
			if line, err = lines.ReadSlice('\n'); err == nil || !errors.Is(err, bufio.ErrBufferFull) {
				line = append(long, line...)
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := visit(at, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
		at += int64(len(line))
	}
}

var errDamaged = errors.New("the search index is damaged")

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
	_, ok := k[sum([]byte(Document{Path: p, Hash: hash}.id()))]
	return ok
}

func sum(id []byte) uint64 {
	h := fnv.New64a()
	h.Write(id)
	return h.Sum64()
}

// Known lists the documents of the index, and looks at every line whether it is as it was written.
func (x *Index) Known() (Known, error) {
	if err := x.failure(); err != nil {
		return nil, err
	}
	known := Known{}
	err := x.each(context.Background(), func(_ int64, line []byte) error {
		e, ok := readEntry(line)
		if !ok || string(line[:checksumLength]) != fmt.Sprintf("%0*x", checksumLength, crc32.ChecksumIEEE(line[checksumLength:])) {
			return errDamaged
		}
		known[sum(e.id)] = struct{}{}
		return nil
	})
	if err != nil {
		x.fail(err)
		return nil, err
	}
	return known, nil
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
// written that it does not wait for them. It reads the whole index.
func (x *Index) Search(ctx context.Context, q Query) (r Result, err error) {
	wanted, err := q.build()
	if err != nil {
		return r, err
	}
	if err := x.flushFew(); err != nil {
		return r, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	found, err := x.find(ctx, wanted)
	if err != nil {
		return r, fmt.Errorf("cannot search: %w", err)
	}
	r.Total = len(found)
	for _, c := range found[:min(q.Limit, len(found))] {
		hit, err := x.hit(c)
		if err != nil {
			return r, fmt.Errorf("cannot search: %w", err)
		}
		r.Hits = append(r.Hits, hit)
	}
	return r, nil
}

// find returns what a query finds, the best first.
func (x *Index) find(ctx context.Context, wanted plan) (found []candidate, err error) {
	all, words := 0, 0
	err = x.each(ctx, func(place int64, line []byte) error {
		e, ok := readEntry(line)
		if !ok {
			x.fail(errDamaged)
			return errDamaged
		}
		all, words = all+1, words+len(e.words)
		if counts, ok := wanted.match(e); ok {
			found = append(found, candidate{place, len(e.id), e.at, len(e.words), counts, 0})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rank(found, len(wanted.wanted), all, float64(words)/float64(max(1, all)))
	return found, nil
}

func (x *Index) hit(c candidate) (Hit, error) {
	before := int64(checksumLength + len(strconv.FormatInt(c.at, 10)) + 1)
	id := make([]byte, c.length)
	if _, err := x.file.ReadAt(id, c.place+before); err != nil {
		return Hit{}, err
	}
	path, hash, _ := strings.Cut(string(id), " ")
	p, err := protocol.ParsePath(path)
	if err != nil {
		x.fail(errDamaged)
		return Hit{}, errDamaged
	}
	return Hit{Path: p, Hash: hash}, nil
}

// Close writes what is queued, unless there is so much that it would delay the end, and releases
// the folder. It removes a damaged index.
func (x *Index) Close() error {
	err := x.flushFew()
	x.mu.Lock()
	closed, broken := x.closed, x.broken
	x.closed = true
	x.mu.Unlock()
	if closed {
		return nil
	}
	err = errors.Join(err, x.file.Close())
	if broken != nil {
		return os.RemoveAll(x.opts.Dir)
	}
	return err
}
