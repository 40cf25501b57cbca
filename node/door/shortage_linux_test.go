package door

import (
	"os"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// For a moment this process may open no more files. It prevents: a command that could not be
// started for that reason counts as a failure, and its message becomes a dead letter.
func TestAShortageIsNoFailure(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("tell")
	c.Stdin = []byte("hello")
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	highest, err := os.Open(os.DevNull) // its number is the lowest that is free
	if err != nil {
		t.Fatal(err)
	}
	short := before
	short.Cur = uint64(highest.Fd()) + 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &short); err != nil {
		t.Fatal(err)
	}
	var told, over atomic.Int32
	c.Short = func(why error) {
		if why == nil {
			over.Add(1)
			return
		}
		told.Add(1)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
	got := runToEnd(t, c)
	if got.Failure != None || told.Load() != 1 || over.Load() != 1 {
		t.Errorf("got %v: %s; told %d times, over %d times", got.Failure, got.Problem(), told.Load(), over.Load())
	}
	_ = highest.Close()
}
