package promptlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// MostKept is how many bytes are kept. If prompts are long and take about 5 KiB each beyond
	// what they have in common, these are the last ten thousand.
	MostKept = 64 << 20
	// fileSize is the size, in bytes, at which the next file is begun. A file is removed as a
	// whole, and has to be read as a whole to find one prompt.
	fileSize = 8 << 20
)

// Given is what an agent's command was given for a message.
type Given struct {
	Time    time.Time     `json:"time"`
	Path    protocol.Path `json:"-"`
	Agent   protocol.Name `json:"agent"`
	Retry   int           `json:"retry,omitempty"` // how often somebody had the message tried again before this job
	Attempt int           `json:"attempt"`         // the first is 1
	Tier    string        `json:"tier,omitempty"`
	Input   string        `json:"input"`              // how the agent gets its input: text or prompt
	LeftOut int           `json:"left_out,omitempty"` // earlier messages and memories that did not fit
	Parts   []Part        `json:"-"`                  // in the order of the text
}

// Part is a part of what was given. Hash is the hash of its text without the word of its fence.
// What two prompts have in common has the same hash in both.
type Part struct {
	Kind prompt.Kind
	Text string
	Hash string
}

// Text is all that was given.
func (g Given) Text() string {
	var b strings.Builder
	for _, p := range g.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Parts are the parts of a text, as they would be kept.
func Parts(p prompt.Prompt) []Part {
	return each.Of(p.Parts, func(part prompt.Part) Part {
		return Part{part.Kind, part.Text, hashOf(pieces(part.Text, p.Fence)).String()}
	})
}

// Log holds the prompts that are kept on one host. Its methods may be called concurrently.
type Log struct {
	dir      string
	now      func() time.Time
	fileSize int64
	most     int64

	reading sync.Mutex // held while a prompt is searched: however many are asked for, one file at a time is in memory

	mu    sync.Mutex // guards what follows
	out   *os.File   // the newest file; nil: the next write begins one
	size  int64      // of out, in bytes
	known map[hash]bool
}

// Open opens the log in a folder. The folder is made when the first prompt is kept.
func Open(dir string, now func() time.Time) (*Log, error) {
	l := &Log{dir: dir, now: now, fileSize: fileSize, most: MostKept}
	files, err := l.files()
	if err != nil {
		return nil, fmt.Errorf("cannot open the prompts that are kept: %w", err)
	}
	if len(files) == 0 {
		return l, nil
	}
	if err := l.goOn(files[len(files)-1]); err != nil {
		return nil, fmt.Errorf("cannot open the prompts that are kept: %w", err)
	}
	return l, nil
}

// Close closes the newest file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return nil
	}
	err := l.out.Close()
	l.out = nil
	return err
}

// Forget removes all prompts that are kept, because a text in them was redacted.
func (l *Log) Forget() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.out != nil {
		errs = append(errs, l.out.Close())
		l.out = nil
	}
	files, err := l.files()
	errs = append(errs, err)
	for _, number := range files {
		errs = append(errs, os.Remove(l.file(number)))
	}
	return errors.Join(errs...)
}

// Keep keeps what a command is about to be given. It fills in the parts and the time of `g`. If it
// returns no error, Find finds the prompt from then on.
func (l *Log) Keep(g Given, p prompt.Prompt) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.Time = l.now().UTC()
	if l.out == nil || l.size >= l.fileSize {
		if err := l.next(); err != nil {
			return fmt.Errorf("cannot keep a prompt: %w", err)
		}
	}
	var data []byte
	kept := keptGiven{Given: g, Fence: p.Fence}
	fresh := map[hash]bool{}
	for _, part := range p.Parts {
		ps := pieces(part.Text, p.Fence)
		if len(part.Text) <= inline {
			kept.Parts = append(kept.Parts, keptPart{Kind: part.Kind, Pieces: ps})
			continue
		}
		payload := encodePieces(ps)
		sum := hashOf(ps)
		kept.Parts = append(kept.Parts, keptPart{Kind: part.Kind, Hash: sum[:]})
		if !l.known[sum] && !fresh[sum] {
			fresh[sum] = true
			data = appendRecord(data, recordPart, append(sum[:], payload...))
		}
	}
	said, err := kept.encode()
	if err != nil {
		return fmt.Errorf("cannot keep a prompt: %w", err)
	}
	if err := l.write(appendRecord(data, recordGiven, said)); err != nil {
		return fmt.Errorf("cannot keep a prompt: %w", err)
	}
	for sum := range fresh {
		l.known[sum] = true
	}
	return nil
}

// write appends all of `data` to the newest file, or nothing. The caller holds mu.
func (l *Log) write(data []byte) error {
	n, err := l.out.Write(data)
	if err == nil {
		l.size += int64(n)
		return nil
	}
	// After half a record, nothing would be found.
	if cut := l.out.Truncate(l.size); cut != nil {
		err = errors.Join(err, cut, l.out.Close())
		l.out = nil
	}
	return err
}

// goOn opens a file to append to it. It cuts off half a record at the end, which a crash has left.
// The caller holds mu, or is alone.
func (l *Log) goOn(number int) error {
	data, err := os.ReadFile(l.file(number))
	if err != nil {
		return err
	}
	known := map[hash]bool{}
	whole := int64(0)
	for r := range records(data) {
		whole = int64(r.end)
		if sum, _, ok := r.part(); ok {
			known[sum] = true
		}
	}
	if whole == 0 { // of another version, or broken: the file stays until letGo removes it
		return nil
	}
	out, err := os.OpenFile(l.file(number), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := out.Truncate(whole); err != nil {
		return errors.Join(err, out.Close())
	}
	l.out, l.size, l.known = out, whole, known
	return nil
}

// next begins a new file, and removes the oldest ones. The caller holds mu.
func (l *Log) next() error {
	if err := durable.FoldersIn(filepath.Dir(l.dir), l.dir, 0o700); err != nil {
		return err
	}
	files, err := l.files()
	if err != nil {
		return err
	}
	number := 1
	if len(files) > 0 {
		number = files[len(files)-1] + 1
	}
	out, err := os.OpenFile(l.file(number), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(magic); err != nil {
		return errors.Join(err, out.Close(), os.Remove(l.file(number)))
	}
	if l.out != nil {
		_ = l.out.Close() // all of it is written
	}
	l.out, l.size, l.known = out, int64(len(magic)), map[hash]bool{}
	l.letGo(files)
	return nil
}

// letGo removes the oldest of these files, until there is room for the new one. If a file cannot be
// removed, it is tried again when the next file is begun. Windows refuses to remove a file that is
// being read.
func (l *Log) letGo(files []int) {
	total := l.fileSize
	for _, number := range slices.Backward(files) {
		if info, err := os.Stat(l.file(number)); err == nil {
			total += info.Size()
		}
		if total <= l.most {
			continue
		}
		_ = os.Remove(l.file(number))
	}
}

const fileEnd = ".prompts"

func (l *Log) file(number int) string {
	return filepath.Join(l.dir, fmt.Sprintf("%08d%s", number, fileEnd))
}

// files are the numbers of the existing files, the oldest first.
func (l *Log) files() (numbers []int, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		number, err := strconv.Atoi(strings.TrimSuffix(e.Name(), fileEnd))
		if err == nil && number > 0 && l.file(number) == filepath.Join(l.dir, e.Name()) {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Find returns the last prompt that an agent was given for a message in an attempt. `agent` ""
// stands for any agent, and `attempt` 0 for any attempt. `ok` reports whether the prompt is kept.
func (l *Log) Find(p protocol.Path, agent protocol.Name, attempt int) (g Given, ok bool, err error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	files, err := l.files()
	if err != nil {
		return Given{}, false, fmt.Errorf("cannot read the prompts that are kept: %w", err)
	}
	for _, number := range slices.Backward(files) {
		data, err := os.ReadFile(l.file(number))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return Given{}, false, fmt.Errorf("cannot read the prompts that are kept: %w", err)
		}
		if g, ok := findIn(data, p, agent, attempt); ok {
			return g, true, nil
		}
	}
	return Given{}, false, nil
}
