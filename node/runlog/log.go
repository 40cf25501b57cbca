// Package runlog remembers what has become of the runs of a host's agents: that one was
// started, how it ended, when it is tried again. What other hosts must know of it is said
// in the record; the rest stands here, in a file that outlasts the node.
//
// That a run is started is durable before it starts, so a message whose run ends its node
// is not tried for ever. Everything else may be lost with the machine's power: then a run
// counts as cut short, or a pause begins anew. After a failed write or fsync that file is
// trusted no more: the next entry begins another one, with all that is known.
package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Job is an agent's work on one message. Each time that somebody has it tried again it is
// another job.
type Job struct {
	Path  protocol.Path
	Agent protocol.Name
	Again int
}

// Step is what happened to a job.
type Step string

// The steps of a job.
const (
	Started Step = "started" // its command is about to start
	Ended   Step = "ended"   // the command has ended, or could not be started
	Again   Step = "again"   // it is tried again, at Entry.Next
	Done    Step = "done"    // what came of it is stored: nothing is to be done any more
	Held    Step = "held"    // it was told that the agent's messages wait, because agents have had it run too often
	Granted Step = "granted" // somebody has the agent go on: what was counted counts no more; of no message
)

// Entry is one step.
type Entry struct {
	Time    time.Time     `json:"time"`
	Path    string        `json:"path"`
	Agent   protocol.Name `json:"agent"`
	Retry   int           `json:"retry,omitempty"` // Job.Again
	Step    Step          `json:"step"`
	Attempt int           `json:"attempt,omitempty"` // the first is 1
	Tier    string        `json:"tier,omitempty"`
	Caused  bool          `json:"caused,omitempty"` // by an agent, so that it counts against its budget
	Failure string        `json:"failure,omitempty"`
	Exit    int           `json:"exit,omitempty"`
	Ran     time.Duration `json:"ran,omitempty"` // nanoseconds
	Bytes   int           `json:"bytes,omitempty"`
	Next    time.Time     `json:"next,omitzero"`
}

func (e Entry) job() (Job, error) {
	p, err := protocol.ParsePath(e.Path)
	return Job{p, e.Agent, e.Retry}, err
}

// Standing is how far a job has come.
type Standing struct {
	Attempts int       // that were started
	Running  bool      // the last one has not ended; of a run before this start of the node: it was cut short
	Tier     string    // of the last one
	Next     time.Time // not to be tried before; zero: at once
	Last     Entry     // how the last attempt ended, if one did
}

// Log is the runs of one host. Its methods may be called concurrently.
type Log struct {
	file  string
	now   func() time.Time
	fsync func(*os.File) error

	reading sync.Mutex // held while the file is looked through: who asks for much keeps one processor busy

	mu     sync.Mutex // guards the file, and is held while the disk is waited for
	out    *os.File
	size   int64
	kept   int64  // of it, what is from the log before
	sure   int64  // of it, what is known to be on the disk, as far as this process has written it
	owed   []byte // the lines behind that, and those that the file did not take
	failed error  // why the file is trusted no more, nil where it is
	closed bool

	// A look at jobs and budgets is not to wait for the disk: it is made in looks at the
	// state, for which all of the node waits.
	known  sync.Mutex // guards what follows; taken after mu
	open   map[Job]*openJob
	starts map[protocol.Name][]time.Time // of runs that agents caused, in the last hour
	held   map[protocol.Name]time.Time   // when it was last told that there were too many
}

// openJob is a job that is not done.
type openJob struct {
	Standing
	begun bool      // its command was started by this process, which will note its end
	heard time.Time // when it took its last step
}

const (
	// rotateAt is the size at which a log is put aside; the one before it is let go then.
	rotateAt = 4 << 20
	// keepFor is for how long a job that nothing is heard of any more is kept.
	keepFor = 30 * 24 * time.Hour
	// keepCut is for how long one is whose attempt was cut short by the end of its node. It
	// must not be made anew unasked (R19), however long its agent is paused; where the agent
	// was removed nobody will ever say that it is done.
	keepCut = 365 * 24 * time.Hour
	// budgetTime is for how long starts are counted.
	budgetTime = time.Hour
)

// Open opens the log in that file, or begins one. Half a line at its end, left by a power
// cut, is cut off; a line that makes no sense is passed over. fsync has a file outlast a
// power cut; nil: (*os.File).Sync.
func Open(file string, now func() time.Time, fsync func(*os.File) error) (*Log, error) {
	if fsync == nil {
		fsync = (*os.File).Sync
	}
	l := &Log{file: file, now: now, fsync: fsync, open: map[Job]*openJob{}, starts: map[protocol.Name][]time.Time{}, held: map[protocol.Name]time.Time{}}
	if err := l.begin(); err != nil {
		return nil, fmt.Errorf("cannot open the log of runs: %w", err)
	}
	return l, nil
}

func (l *Log) begin() error {
	out, err := os.OpenFile(l.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(out)
	if err == nil {
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		l.size = int64(len(whole))
		for e := range entries(whole) {
			l.take(e)
		}
		err = out.Truncate(l.size)
	}
	if err == nil {
		_, err = out.Seek(l.size, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, out.Close())
	}
	l.out, l.sure = out, l.size
	return nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if err := l.out.Close(); l.failed == nil { // else it may be closed, and it was said what failed
		return err
	}
	return nil
}

// Standing is how far a job has come. It does not wait for the disk.
func (l *Log) Standing(j Job) Standing {
	l.known.Lock()
	defer l.known.Unlock()
	if at := l.open[j]; at != nil {
		return at.Standing
	}
	return Standing{}
}

// Start notes that an attempt is about to start, and returns its number. When it returns
// without an error that is durable; with one, nothing was started or counted.
func (l *Log) Start(j Job, tier string, caused bool) (attempt int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	attempt = l.Standing(j).Attempts + 1
	e, line, err := l.entry(Entry{Step: Started, Attempt: attempt, Tier: tier, Caused: caused}, j)
	if err == nil {
		err = l.append(line)
	}
	if err == nil {
		if err = l.fsync(l.out); err != nil {
			l.failed = err                                // what a failed sync has lost is not known
			_ = l.out.Truncate(l.size - int64(len(line))) // else a start of this node may take it for an attempt
		}
	}
	if err != nil {
		return 0, fmt.Errorf("cannot note that %s is started: %w", j.Agent, err)
	}
	l.sure, l.owed = l.size, nil
	l.take(e)
	l.known.Lock()
	defer l.known.Unlock()
	l.open[j].begun = true
	return attempt, nil
}

// Note notes how an attempt ended, when the next one is due, or that a job is done. It is
// known from then on; an error says that a node which starts anew may not know it. It is
// written with the next entry that the disk takes.
func (l *Log) Note(j Job, e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, line, err := l.entry(e, j)
	if err != nil {
		return err
	}
	l.take(e)
	if err = l.append(line); err != nil && l.failed == nil {
		l.failed = err
	}
	l.owed = append(l.owed, line...)
	return err
}

// Budget is how often agents have had one run within the last hour.
type Budget struct {
	Starts int
	First  time.Time // when the first of them was started; zero where there is none
	Told   time.Time // when it was told that these were too many; zero where it was not, in the last hour
}

// Budget is that of an agent. It does not wait for the disk.
func (l *Log) Budget(agent protocol.Name) (b Budget) {
	now := l.now()
	l.known.Lock()
	defer l.known.Unlock()
	for _, start := range l.starts[agent] {
		if !counts(start, now) {
			continue
		}
		if b.Starts++; b.Starts == 1 {
			b.First = start
		}
	}
	if told := l.held[agent]; counts(told, now) {
		b.Told = told
	}
	return b
}

// counts reports whether what was at that time is of the last hour. What is far ahead was
// noted before the clock was set back: it would hold an agent up until that day.
func counts(at, now time.Time) bool {
	return at.After(now.Add(-budgetTime)) && at.Before(now.Add(budgetTime))
}

// Grant has nothing count any more that agents have had one run.
func (l *Log) Grant(agent protocol.Name) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, line, err := l.entry(Entry{Step: Granted}, Job{Agent: agent})
	if err == nil {
		err = l.append(line)
	}
	if err != nil {
		return fmt.Errorf("cannot note that %s is to go on: %w", agent, err)
	}
	l.owed = append(l.owed, line...)
	l.take(e)
	return nil
}

// entry is an entry about a job, and its line.
func (l *Log) entry(e Entry, j Job) (Entry, []byte, error) {
	e.Time, e.Agent, e.Retry = l.now().UTC(), j.Agent, j.Again
	if !j.Path.IsZero() {
		e.Path = j.Path.String()
	}
	line, err := json.Marshal(e)
	return e, append(line, '\n'), err
}

// append writes a line, or nothing of it. The caller holds mu.
func (l *Log) append(line []byte) error {
	switch {
	case l.closed:
		return os.ErrClosed
	case l.failed != nil:
		if err := l.renew(); err != nil {
			return fmt.Errorf("cannot write the log of runs anew: %w", err)
		}
	case l.size >= rotateAt+l.kept:
		if err := l.rotate(); err != nil {
			return fmt.Errorf("cannot put the log of runs aside: %w", err)
		}
	}
	_, err := l.out.Write(line)
	if err == nil {
		l.size += int64(len(line))
		return nil
	}
	// Half a line would be read together with the next one.
	if cut := l.out.Truncate(l.size); cut != nil {
		l.failed = errors.Join(err, cut)
	} else {
		_, _ = l.out.Seek(l.size, io.SeekStart) // can only fail for a closed file
	}
	return err
}

// take keeps what an entry says. The caller holds mu, or is alone.
func (l *Log) take(e Entry) {
	l.known.Lock()
	defer l.known.Unlock()
	if l.count(e); e.Step == Held || e.Step == Granted {
		return
	}
	j, err := e.job()
	if err != nil {
		return
	}
	s := l.open[j]
	if s == nil {
		s = &openJob{}
		l.open[j] = s
	}
	s.heard = e.Time
	switch e.Step {
	case Started:
		s.Attempts, s.Running, s.Tier, s.Next = e.Attempt, true, e.Tier, time.Time{}
	case Ended:
		s.Running, s.begun, s.Last = false, false, e
	case Again:
		s.Next = e.Next
	case Done:
		delete(l.open, j)
	}
}

// count keeps what an entry says of what agents have caused. The caller holds known.
func (l *Log) count(e Entry) {
	switch {
	case e.Step == Started && e.Caused:
		starts := slices.DeleteFunc(l.starts[e.Agent], func(at time.Time) bool { return !counts(at, e.Time) })
		l.starts[e.Agent] = append(starts, e.Time)
	case e.Step == Held:
		l.held[e.Agent] = e.Time
	case e.Step == Granted:
		delete(l.starts, e.Agent)
		delete(l.held, e.Agent)
	}
}
