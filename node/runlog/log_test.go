package runlog

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func begin(t *testing.T) (l *Log, file string, c *clock) {
	t.Helper()
	file, c = filepath.Join(t.TempDir(), "runs.log"), &clock{time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
	return reopen(t, file, c), file, c
}

func reopen(t *testing.T, file string, c *clock) *Log {
	t.Helper()
	l, err := Open(file, c.now, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // the test has often closed it by then
	return l
}

func job(n uint32) Job {
	return Job{Path: protocol.NewPath(protocol.DeriveChannel("record", "nat"), time.Unix(1e9, 0), n), Agent: "mawjs"}
}

func start(t *testing.T, l *Log, j Job, want int) {
	t.Helper()
	if n, err := l.Start(j, "opus", true); n != want || err != nil {
		t.Fatalf("started attempt %d, %v; want %d", n, err, want)
	}
}

func note(t *testing.T, l *Log, j Job, e Entry) {
	t.Helper()
	if err := l.Note(j, e); err != nil {
		t.Fatal(err)
	}
}

// A node that dies while a command runs knows at its next start that the command ran, and how often
// it ran before. It prevents: a message whose run ends its node is tried for ever.
func TestAttemptsAreCountedAcrossADeath(t *testing.T) {
	l, file, c := begin(t)
	start(t, l, job(1), 1)
	start(t, l, job(2), 1)
	note(t, l, job(2), Entry{Step: Ended, Failure: "exit", Exit: 1})
	note(t, l, job(2), Entry{Step: Again, Next: c.Add(time.Minute)})
	start(t, l, job(3), 1)
	note(t, l, job(3), Entry{Step: Ended})
	note(t, l, job(3), Entry{Step: Done})
	start(t, l, job(4), 1)
	note(t, l, job(4), Entry{Step: Ended, Failure: "canceled"})
	for range 2 {
		// Nothing was closed: the node was killed.
		l = reopen(t, file, c)
		for j, want := range map[Job]Standing{
			job(1): {Attempts: 1, Running: true, Tier: "opus"}, job(2): {Attempts: 1, Tier: "opus", Next: c.Add(time.Minute)}, job(3): {}, job(4): {Attempts: 1, Tier: "opus"}, job(5): {},
			{job(1).Path, "mawjs", 1}: {}, {job(1).Path, "codex", 0}: {},
		} {
			got := l.Standing(j)
			got.Last = Entry{}
			if got != want {
				t.Errorf("%v: %+v, want %+v", j, got, want)
			}
		}
	}
	start(t, l, job(1), 2)
	start(t, l, job(2), 2)
	start(t, l, job(4), 2)
	if s := l.Standing(job(2)); !s.Next.IsZero() || s.Last.Exit != 1 {
		t.Errorf("running again: %+v", s)
	}
}

// A line that a crash tore, or that somebody wrote into the file, is ignored. What comes after it
// is read the next time.
func TestATornLineIsCutOff(t *testing.T) {
	l, file, c := begin(t)
	start(t, l, job(1), 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, torn := range []string{`{"time":"20`, "nonsense\n{}\n[1]\n\x00\n" + `{"path":"x","step":"done"}` + "\n"} {
		if err := os.WriteFile(file, append(bytes.Clone(data), torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		l := reopen(t, file, c)
		start(t, l, job(1), 2)
		if got := reopen(t, file, c).Standing(job(1)).Attempts; got != 2 {
			t.Errorf("after %q: %d attempts", torn, got)
		}
	}
}

// Only runs that agents cause count against an agent's budget, for an hour.
func TestStartsOfTheLastHour(t *testing.T) {
	l, file, c := begin(t)
	begun := c.Time
	for n := range uint32(3) {
		start(t, l, job(n), 1)
		c.Time = c.Add(20 * time.Minute)
	}
	if _, err := l.Start(job(9), "opus", false); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once for the log itself, once for what is read of it again
		if got, want := l.Budget("mawjs"), (Budget{Starts: 2, First: begun.Add(20 * time.Minute)}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := l.Budget("codex"); got != (Budget{}) {
			t.Errorf("another has %+v", got)
		}
		l = reopen(t, file, c)
	}
	note(t, l, job(3), Entry{Step: Held})
	told := c.Time
	for range 2 {
		if got := l.Budget("mawjs"); !got.Told.Equal(told) {
			t.Errorf("told %s, want %s", got.Told, told)
		}
		l = reopen(t, file, c)
	}

	// Somebody lets the agent go on. Nothing of that counts any more.
	if err := l.Grant("mawjs"); err != nil {
		t.Fatal(err)
	}
	start(t, l, job(4), 1)
	granted := c.Time
	for range 2 {
		if got, want := l.Budget("mawjs"), (Budget{Starts: 1, First: granted}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		l = reopen(t, file, c)
	}
	if s := l.Standing(job(3)); s != (Standing{}) {
		t.Errorf("what is held has a standing: %+v", s)
	}
}

// Runs that were noted while the clock was ahead count no more once it is set back. It prevents: an
// agent is held up until the day that the clock showed.
func TestTheClockIsSetBack(t *testing.T) {
	l, file, c := begin(t)
	c.Time = c.AddDate(1, 0, 0)
	for n := range uint32(3) {
		start(t, l, job(n), 1)
	}
	note(t, l, job(3), Entry{Step: Held})
	c.Time = c.AddDate(-1, 0, 0)
	for range 2 { // once for the log itself, once for what is read of it again
		if got := l.Budget("mawjs"); got != (Budget{}) {
			t.Errorf("got %+v", got)
		}
		l = reopen(t, file, c)
	}
	begun := c.Time
	start(t, l, job(4), 1)
	c.Time = c.Add(-10 * time.Minute)
	if got, want := l.Budget("mawjs"), (Budget{Starts: 1, First: begun}); got != want {
		t.Errorf("set back by some minutes: got %+v, want %+v", got, want)
	}
	if n := len(l.starts["mawjs"]); n != 1 {
		t.Errorf("%d starts are kept", n)
	}
}

// The file keeps to a size, keeps what is open, and tells of what was before for a while.
func TestTheLogIsPutAside(t *testing.T) {
	l, file, c := begin(t)
	start(t, l, job(1), 1)
	note(t, l, job(1), Entry{Step: Ended, Failure: "exit"})
	start(t, l, job(2), 1)
	rotated := func() bool { _, err := os.Stat(l.aside()); return err == nil }
	for n := uint32(100); !rotated(); n++ {
		note(t, l, job(n), Entry{Step: Ended})
		note(t, l, job(n), Entry{Step: Done})
		if n > 1<<20 {
			t.Fatal("the log grows without end")
		}
		c.Time = c.Add(time.Second)
	}
	if l.size > rotateAt/2 {
		t.Errorf("it begins with %d bytes", l.size)
	}
	note(t, l, job(1), Entry{Step: Again, Next: c.Time})
	steps, err := l.History(job(1).Path)
	if err != nil || len(steps) != 3 {
		t.Errorf("steps %+v, %v", steps, err)
	}
	l = reopen(t, file, c)
	if s := l.Standing(job(1)); s.Attempts != 1 || !s.Next.Equal(c.Time) {
		t.Errorf("%+v", s)
	}
	if s := l.Standing(job(2)); !s.Running {
		t.Errorf("%+v", s)
	}
	begun := l.Budget("mawjs").Starts
	if _, err := l.Start(job(3), "opus", true); err != nil {
		t.Fatal(err)
	}
	if err := l.rotate(); err != nil {
		t.Fatal(err)
	}
	if got := reopen(t, file, c).Budget("mawjs").Starts; got != begun+1 {
		t.Errorf("%d starts count after the log was put aside, want %d", got, begun+1)
	}
	c.Time = c.Add(2 * keepFor)
	if err := l.rotate(); err != nil {
		t.Fatal(err)
	}
	if s := l.Standing(job(1)); s.Attempts != 0 {
		t.Errorf("kept for ever: %+v", s)
	}
	if s := l.Standing(job(2)); !s.Running {
		t.Errorf("what was cut short was forgotten: %+v", s)
	}

	// The agent of the second job is not here any more. Nobody ever notes that the job is done.
	c.Time = c.Add(keepCut)
	if err := l.rotate(); err != nil {
		t.Fatal(err)
	}
	if s := l.Standing(job(2)); s.Attempts != 0 {
		t.Errorf("what was cut short is kept for ever: %+v", s)
	}
	if s := l.Standing(job(3)); !s.Running {
		t.Errorf("what runs was forgotten: %+v", s)
	}
}

// The log tells how far jobs are while it waits for the disk. It prevents: a look at the state, and
// so the whole node, waits for an fsync of this log.
func TestLooksDoNotWaitForTheDisk(t *testing.T) {
	l, _, _ := begin(t)
	start(t, l, job(1), 1)
	l.mu.Lock() // as Start does while it syncs
	defer l.mu.Unlock()
	looked := make(chan Standing)
	go func() {
		l.Budget("mawjs")
		looked <- l.Standing(job(1))
	}()
	select {
	case s := <-looked:
		if s.Attempts != 1 || !s.Running {
			t.Errorf("%+v", s)
		}
	case <-time.After(10 * time.Second):
		t.Error("a look at a job waits for the disk")
	}
}

// A disk that takes nothing starts no run. Half a line does not spoil the next one.
func TestAFullDisk(t *testing.T) {
	l, _, _ := begin(t)
	if err := l.out.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Start(job(1), "opus", false); err == nil {
		t.Errorf("attempt %d was started", n)
	}
	if s := l.Standing(job(1)); s.Attempts != 0 {
		t.Errorf("%+v", s)
	}
}

// After a failed fsync no run is started that is not counted, and that file is no longer trusted.
// Once the disk takes another file, all goes on, with what was noted meanwhile. It prevents: one
// failed fsync keeps every agent of a host from being run until its node is started anew.
func TestAFailedFsyncIsNotForGood(t *testing.T) {
	file, c := filepath.Join(t.TempDir(), "runs.log"), &clock{time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
	var fails error
	l, err := Open(file, c.now, func(f *os.File) error { return cmp.Or(fails, f.Sync()) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	before, err := l.out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	start(t, l, job(1), 1)
	note(t, l, job(1), Entry{Step: Ended, Failure: "exit"})
	fails = syscall.EIO
	for range 3 {
		if n, err := l.Start(job(2), "opus", true); !errors.Is(err, syscall.EIO) {
			t.Fatalf("attempt %d was started, %v", n, err)
		}
	}
	if s, b := l.Standing(job(2)), l.Budget("mawjs"); s != (Standing{}) || b.Starts != 1 {
		t.Errorf("what was not started counts: %+v, %+v", s, b)
	}
	if s := reopen(t, file, c).Standing(job(2)); s != (Standing{}) {
		t.Errorf("what was not started counts at the next start: %+v", s)
	}
	if err := l.Note(job(1), Entry{Step: Again, Next: c.Time}); !errors.Is(err, syscall.EIO) {
		t.Errorf("noted on a disk that fails: %v", err)
	}
	if err := l.Grant("codex"); !errors.Is(err, syscall.EIO) {
		t.Errorf("granted on a disk that fails: %v", err)
	}
	if s := l.Standing(job(1)); !s.Next.Equal(c.Time) {
		t.Errorf("what was noted is not known: %+v", s)
	}
	fails = nil
	start(t, l, job(2), 1)
	after := reopen(t, file, c)
	for _, l := range []*Log{l, after} {
		if s := l.Standing(job(1)); s.Attempts != 1 || s.Running || !s.Next.Equal(c.Time) {
			t.Errorf("%+v", s)
		}
		if s, b := l.Standing(job(2)), l.Budget("mawjs"); s.Attempts != 1 || !s.Running || b.Starts != 2 {
			t.Errorf("%+v, %+v", s, b)
		}
	}
	if is, err := after.out.Stat(); err != nil || os.SameFile(before, is) {
		t.Errorf("the file that failed is still in use, %v", err)
	}
}

// The log opens whatever stands in its file, and what is noted then is read again.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"time":"2026-05-23T19:00:00Z","path":"7a1c3b8e-52d6-4f7a-9a0e-0d8f6b2c4e10/2026/05/23/190100000Z-b2c3d4e5.md","agent":"mawjs","step":"started","attempt":-3}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, file, c := begin(t)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := reopen(t, file, c)
		j := job(1)
		n, err := l.Start(j, "opus", false)
		if err != nil || n < 1 {
			t.Fatalf("attempt %d, %v", n, err)
		}
		if s := reopen(t, file, c).Standing(j); s.Attempts != n || !s.Running {
			t.Fatalf("%+v after attempt %d", s, n)
		}
	})
}
