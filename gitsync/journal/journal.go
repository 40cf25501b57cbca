package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// ErrClosed says that the journal was closed.
var ErrClosed = errors.New("the journal is closed")

const (
	defaultSegment  = 4 << 20
	defaultCompact  = 64 << 20
	retireAbove     = 256 << 10 // a current segment that is idle and larger than this is replaced
	maxBatch        = 4 << 20   // bytes that one fsync takes
	keptOut         = 256 << 10 // bytes of memory that are kept for the next batch
	waitingRequests = 1024
)

// ID identifies an entry as long as the journal is open.
type ID uint64

// Replayed is an entry that an earlier run has stored.
type Replayed struct {
	ID ID
	Entry
}

// Options say how large the journal's files may become. The zero values are usual.
type Options struct {
	SegmentBytes int64 // at this size, the next segment is begun; 0 means 4 MiB
	CompactBytes int64 // above this size of all segments, those with few entries left are rewritten; 0 means 64 MiB

	open func(path string) (file, error) // tests make it fail
}

// file is what the journal does with a segment that it writes.
type file interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(int64) error
	Close() error
}

// Journal is an open journal. All methods may be called concurrently.
type Journal struct {
	dir      string
	opts     Options
	requests chan *request
	stop     chan struct{} // closed by Close
	stopped  chan struct{} // closed by the writer when it ends

	closing sync.Once

	// Only the writer goroutine uses these after Open.
	current   file
	last      uint64 // number of the newest segment
	lastValid uint64 // how many bytes of it are valid
	nonce     uint64 // of the current segment
	out       []byte // room to write a batch in

	mu       sync.Mutex // guards the fields below
	segments []*segment // oldest first; the last one is the current one if current is set
	ids      map[ID]*segment
	nextID   ID
	bytes    int64

	extent     *os.File // see noteExtent; nil if it cannot be written
	extentSize int

	replayed []Replayed
	trouble  []string
	losses   []Loss
	damaged  []damaged
}

type segment struct {
	number uint64
	size   int64
	count  int        // entries that were ever written
	live   map[ID]int // entries that are not done, each with its number in the file
	// current marks the segment that the writer appends to.
	current bool
	// torn marks a segment that may have records at its end whose fsync failed. The header of the
	// next segment says where they begin. So that one must not be removed before this one.
	torn bool
}

type request struct {
	ctx     context.Context
	entries []Entry
	encoded int
	ids     []ID
	result  chan error
}

// Open opens the journal in `dir` and replays it. It makes the folder if necessary. One goroutine
// writes until Close.
func Open(dir string, opts Options) (*Journal, error) {
	if opts.SegmentBytes <= 0 {
		opts.SegmentBytes = defaultSegment
	}
	if opts.CompactBytes <= 0 {
		opts.CompactBytes = defaultCompact
	}
	if opts.open == nil {
		opts.open = createFile
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the journal: %w", err)
	}
	j := &Journal{
		dir:      dir,
		opts:     opts,
		requests: make(chan *request, waitingRequests),
		stop:     make(chan struct{}),
		stopped:  make(chan struct{}),
		ids:      map[ID]*segment{},
	}
	if err := j.replay(); err != nil {
		return nil, err
	}
	for _, seg := range j.segments {
		j.bytes += seg.size
	}
	if len(j.losses) == 0 {
		j.noteExtent()
	}
	go j.write()
	return j, nil
}

func createFile(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// Replayed returns the entries that Open found, in the order in which they were appended, and what
// it could not read, one sentence each. It forgets them after that.
func (j *Journal) Replayed() ([]Replayed, []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	entries, trouble := j.replayed, j.trouble
	j.replayed, j.trouble = nil, nil
	return entries, trouble
}

// Losses returns what Open could not read of what was acknowledged.
func (j *Journal) Losses() []Loss {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.losses)
}

// Settle is called when somebody has noted the losses: no later Open finds them again. A segment of
// which a part cannot be read is written anew without it. The old one is kept as `.bad`, because
// somebody may want to look at it.
func (j *Journal) Settle() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	errs := each.Of(j.damaged, j.writeAnew)
	j.losses, j.damaged = nil, nil
	j.noteExtent()
	return errors.Join(errs...)
}

// Append stores entries, all or none, and returns when they are on disk. If it returns an error,
// they are not stored. Then they only come back if the process dies before another Append succeeds.
// An end of `ctx` counts only as long as the writer has not taken up the entries: then they are not
// stored.
func (j *Journal) Append(ctx context.Context, entries []Entry) ([]ID, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	r := &request{ctx: ctx, entries: entries, result: make(chan error, 1)}
	for _, e := range entries {
		r.encoded += len(e.Path) + len(e.Data) + 16
	}
	if r.encoded+16 > maxRecord {
		return nil, fmt.Errorf("cannot store %d bytes at once: the most is %d", r.encoded, maxRecord)
	}
	select {
	case j.requests <- r:
	case <-ctx.Done():
		return nil, fmt.Errorf("cannot store: %w", context.Cause(ctx))
	case <-j.stop:
		return nil, ErrClosed
	}
	select {
	case err := <-r.result:
		return r.ids, err
	case <-j.stopped:
	}
	// The writer may have answered just before it ended.
	select {
	case err := <-r.result:
		return r.ids, err
	default:
		return nil, ErrClosed
	}
}

// Done says that somebody else keeps these entries now. A segment without any other entry is
// removed.
func (j *Journal) Done(ids ...ID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range ids {
		if seg := j.ids[id]; seg != nil {
			delete(seg.live, id)
			delete(j.ids, id)
		}
	}
	j.noteExtent()
	return j.removeDone()
}

// Read reads entries that are not done again from their segments. It reads each segment once.
func (j *Journal) Read(ids ...ID) (map[ID]Entry, error) {
	type place struct{ count, index int }
	wanted := map[uint64]map[ID]place{}
	j.mu.Lock()
	for _, id := range ids {
		seg := j.ids[id]
		if seg == nil {
			j.mu.Unlock()
			return nil, fmt.Errorf("cannot read entry %d: it is done", id)
		}
		if wanted[seg.number] == nil {
			wanted[seg.number] = map[ID]place{}
		}
		wanted[seg.number][id] = place{seg.count, seg.live[id]}
	}
	j.mu.Unlock()
	entries := make(map[ID]Entry, len(ids))
	for number, places := range wanted {
		count := 0
		for _, p := range places {
			count = max(count, p.count)
		}
		all, err := j.entriesOf(number, count)
		if err != nil {
			return nil, fmt.Errorf("cannot read the journal: %w", err)
		}
		for id, p := range places {
			entries[id] = all[p.index]
		}
	}
	return entries, nil
}

func (j *Journal) entriesOf(number uint64, count int) ([]Entry, error) {
	data, err := os.ReadFile(j.path(number))
	if err != nil {
		return nil, err
	}
	s, err := scanSegment(data)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, r := range s.records {
		all = append(all, r.entries...)
	}
	if len(all) < count {
		return nil, fmt.Errorf("%w: %s lost entries since it was written", errBad, segmentName(number))
	}
	return all, nil
}

// Bytes is the size of all segments.
func (j *Journal) Bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}

// Close ends the writer. What was acknowledged stays. It may be called twice.
func (j *Journal) Close() error {
	var err error
	j.closing.Do(func() {
		close(j.stop)
		<-j.stopped
		err = j.closeCurrent()
		j.mu.Lock()
		defer j.mu.Unlock()
		err = errors.Join(err, j.removeDone())
		if j.extent != nil {
			err = errors.Join(err, j.extent.Close())
		}
	})
	return err
}

func (j *Journal) path(number uint64) string { return filepath.Join(j.dir, segmentName(number)) }

// newID makes the ID for the next entry of a segment. The caller holds mu, or is Open.
func (j *Journal) newID(seg *segment) ID {
	j.nextID++
	j.ids[j.nextID] = seg
	seg.live[j.nextID] = seg.count
	seg.count++
	return j.nextID
}

// removeDone removes segments whose entries are all done. The caller holds mu.
func (j *Journal) removeDone() error {
	var kept []*segment
	var errs []error
	synced := false
	for _, seg := range j.segments {
		needed := len(kept) > 0 && kept[len(kept)-1].torn && kept[len(kept)-1].number == seg.number-1
		if len(seg.live) > 0 || seg.current || needed {
			kept = append(kept, seg)
			continue
		}
		failpoint.Hit(failpoint.JournalRemoving)
		if !synced && j.extent != nil { // after a power cut it must not name what is gone
			synced = true
			errs = append(errs, j.extent.Sync())
		}
		if err := os.Remove(j.path(seg.number)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("cannot remove a segment of the journal: %w", err))
			kept = append(kept, seg)
			continue
		}
		j.bytes -= seg.size
	}
	j.segments = kept
	return errors.Join(errs...)
}

// A process that has just ended may leave its lock for a moment to a child process that is about to
// become another program.
const (
	lockWithin = time.Second
	lockRetry  = 20 * time.Millisecond
)

const lockName = "lock"

// ErrInUse says that another process has the lock.
var ErrInUse = errors.New("the record is in use by another process")

// Lock takes the lock in a folder. It says that this process uses the journal there, and the record
// to which the journal belongs, and notes which process this is. The system releases the lock when the
// process ends, in whatever way. ErrInUse names the process that has the lock.
func Lock(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the record: %w", err)
	}
	err = tryLock(f)
	for deadline := time.Now().Add(lockWithin); errors.Is(err, ErrInUse) && time.Now().Before(deadline); err = tryLock(f) {
		time.Sleep(lockRetry)
	}
	if err != nil {
		if holder, readErr := os.ReadFile(path); readErr == nil && len(holder) > 0 && errors.Is(err, ErrInUse) {
			err = fmt.Errorf("%w, number %s", err, strings.TrimSpace(string(holder)))
		}
		return nil, errors.Join(err, f.Close())
	}
	// The note is for people. The lock holds without it, such as on a full disk.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	return f.Close, nil
}
