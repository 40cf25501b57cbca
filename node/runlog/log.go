// Package runlog remembers what has become of the runs of a host's agents: that a run was started,
// how it ended, when it is tried again. What other hosts must know of a run is in the record. The
// rest is here, in a file that survives the end of the node.
//
// That a run is started is durable before it starts. So a message whose run ends the node is not
// tried for ever. A power cut may lose everything else: then a run counts as cut short, or a pause
// begins anew. After a failed write or fsync, the file is not trusted any more: the next entry
// begins another file, with all that is known.
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

// Job is an agent's work on one message. Each time that somebody has the message tried again, that
// is another job.
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
	Again   Step = "again"   // another attempt is due at Entry.Next
	Done    Step = "done"    // its outcome is stored: nothing is left to be done
	Held    Step = "held"    // somebody was told that the agent's messages wait, because agents have made it run too often
	Granted Step = "granted" // somebody has let the agent go on: earlier runs do not count any more; it belongs to no message
)

// Entry is one step of a job.
type Entry struct {
	Time    time.Time     `json:"time"`
	Path    string        `json:"path"`
	Agent   protocol.Name `json:"agent"`
	Retry   int           `json:"retry,omitempty"` // Job.Again
	Step    Step          `json:"step"`
	Attempt int           `json:"attempt,omitempty"` // the first is 1
	Tier    string        `json:"tier,omitempty"`
	Caused  bool          `json:"caused,omitempty"` // caused by an agent, so that the run counts against the budget of the agent that is run
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
	Attempts int       // how many were started
	Running  bool      // the last attempt has not ended; if it is of an earlier start of the node, it was cut short
	Tier     string    // of the last attempt
	Next     time.Time // no attempt before that; zero: at once
	Last     Entry     // how the last attempt ended, if one did
}

// Log is the log of the runs on one host. Its methods may be called concurrently.
type Log struct {
	file  string
	now   func() time.Time
	fsync func(*os.File) error

	reading sync.Mutex // held while the file is searched: however much is asked for, that keeps one processor busy

	mu     sync.Mutex // guards the file; held while the disk is waited for
	out    *os.File
	size   int64
	kept   int64  // how many bytes of size come from the log before
	sure   int64  // how many bytes of size are known to be on the disk, as far as this process has written them
	owed   []byte // the lines after that, and lines that the file did not take
	failed error  // why the file is not trusted any more; nil if it is
	closed bool

	// Jobs and budgets are looked at while the state is read, and all of the node waits for that.
	// So it must not wait for the disk.
	known  sync.Mutex // guards what follows; taken after mu
	open   map[Job]*openJob
	starts map[protocol.Name][]time.Time // of runs that agents caused, within the last hour
	held   map[protocol.Name]time.Time   // when it was last told that there were too many
}

type openJob struct {
	Standing
	begun bool      // its command was started by this process, which will note the end
	heard time.Time // when it took its last step
}

// budgetTime is how long starts are counted.
const budgetTime = time.Hour

// Open opens the log in a file, or begins one. It cuts off half a line at the end, which a power
// cut has left, and ignores lines that make no sense. `fsync` makes a file survive a power cut;
// nil: (*os.File).Sync.
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
	if err := l.out.Close(); l.failed == nil { // else it may be closed already, and what failed was told
		return err
	}
	return nil
}

// Standing returns how far a job has come. It does not wait for the disk.
func (l *Log) Standing(j Job) Standing {
	l.known.Lock()
	defer l.known.Unlock()
	if at := l.open[j]; at != nil {
		return at.Standing
	}
	return Standing{}
}

// Start notes that an attempt is about to start, and returns its number. If it returns no error,
// the note is durable. If it returns an error, nothing was started or counted.
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
			l.failed = err                                // it is not known what a failed sync has lost
			_ = l.out.Truncate(l.size - int64(len(line))) // else another start of this node may take it for an attempt
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

// Note notes how an attempt ended, when the next one is due, or that a job is done. This process
// knows it from then on. An error says that the next start of the node may not know it. The entry
// is written again with the next one that the disk takes.
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

// Budget says how often agents have made one agent run within the last hour.
type Budget struct {
	Starts int
	First  time.Time // when the first of these runs was started; zero if there is none
	Told   time.Time // when somebody was last told that there were too many; zero if nobody was within the last hour
}

// Budget returns the budget of an agent. It does not wait for the disk.
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

// counts reports whether `at` is within the last hour. A time that is far ahead was noted before
// the clock was set back. It does not count: it would hold an agent up until that day.
func counts(at, now time.Time) bool {
	return at.After(now.Add(-budgetTime)) && at.Before(now.Add(budgetTime))
}

// Grant makes earlier runs of an agent that agents caused count no more.
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

func (l *Log) entry(e Entry, j Job) (Entry, []byte, error) {
	e.Time, e.Agent, e.Retry = l.now().UTC(), j.Agent, j.Again
	if !j.Path.IsZero() {
		e.Path = j.Path.String()
	}
	line, err := json.Marshal(e)
	return e, append(line, '\n'), err
}

// append writes a whole line, or nothing. The caller holds mu.
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
	// Half a line would be read together with the next line.
	if cut := l.out.Truncate(l.size); cut != nil {
		l.failed = errors.Join(err, cut)
	} else {
		_, _ = l.out.Seek(l.size, io.SeekStart) // this can only fail for a closed file
	}
	return err
}

// take takes in what an entry says. The caller holds mu, or is alone.
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

// count takes in what an entry says about runs that agents caused. The caller holds known.
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
