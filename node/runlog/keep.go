package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/internal/durable"
)

const (
	// rotateAt is the size, in bytes, at which a log is put aside. The log that was put aside
	// before is removed then.
	rotateAt = 4 << 20
	// keepFor is how long a job is kept of which nothing more is heard.
	keepFor = 30 * 24 * time.Hour
	// keepCut is how long a job is kept whose attempt was cut short by the end of the node. However
	// long its agent is paused, it must not be tried anew unasked (R19). If the agent was removed,
	// nobody will ever say that the job is done.
	keepCut = 365 * 24 * time.Hour
)

func (l *Log) aside() string { return l.file + ".1" }

// forget forgets jobs of which nothing was heard for too long. It keeps jobs whose command was
// started by this process, because this process notes the end.
func (l *Log) forget(now time.Time) {
	l.known.Lock()
	defer l.known.Unlock()
	maps.DeleteFunc(l.open, func(_ Job, at *openJob) bool {
		kept := keepFor
		if at.Running {
			kept = keepCut
		}
		return !at.begun && now.Sub(at.heard) > kept
	})
}

func (l *Log) isOpen(j Job) bool {
	l.known.Lock()
	defer l.known.Unlock()
	return l.open[j] != nil
}

// rotate puts the log aside, and begins one with what is still open. The caller holds mu.
func (l *Log) rotate() error {
	data, err := os.ReadFile(l.file)
	if err != nil {
		return err
	}
	now := l.now()
	l.forget(now)
	var kept bytes.Buffer
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		j, err := e.job()
		counted := (e.Step == Done || e.Step == Held || e.Step == Granted || e.Caused) && counts(e.Time, now)
		if err == nil && l.isOpen(j) || counted {
			kept.Write(line)
		}
	}
	// It copies, because not every file system has links that give a file two names for a moment.
	if err := os.WriteFile(l.aside(), data, 0o600); err != nil {
		return err
	}
	if err := l.replace(kept.Bytes()); err != nil {
		return err
	}
	l.kept = l.size
	return nil
}

// renew begins another file with all that the log has to say: what is known to be on the disk, and
// what this process remembers of the rest. The caller holds mu.
func (l *Log) renew() error {
	data, err := os.ReadFile(l.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.replace(append(data[:min(l.sure, int64(len(data)))], l.owed...))
}

// replace puts a file with these lines in the place of the log, once they are on the disk. At every
// moment there is a file of that name. The caller holds mu.
func (l *Log) replace(lines []byte) error {
	next := l.file + ".new"
	out, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = out.Write(lines); err == nil {
		err = l.fsync(out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	_ = l.out.Close() // Windows cannot rename over a file that is open; what was written to it last is among the lines
	if err = os.Rename(next, l.file); err != nil {
		l.failed = err
		return err
	}
	l.size, l.sure, l.owed = int64(len(lines)), int64(len(lines)), nil
	if err = durable.Folder(filepath.Dir(l.file)); err == nil {
		l.out, err = os.OpenFile(l.file, os.O_RDWR, 0o600)
	}
	if err == nil {
		_, err = l.out.Seek(l.size, io.SeekStart)
	}
	l.failed = err
	return err
}
