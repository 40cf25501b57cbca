package clitest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Terminal is a terminal. What is written to `keys` is typed, and what the program shows is
// collected.
type Terminal struct {
	testing.TB
	keys *os.File // the person's side
	Side *os.File // the program's side

	mu    sync.Mutex // guards seen
	seen  strings.Builder
	ended chan struct{}
}

// OpenTerminal opens a terminal of 60 columns, which is closed when the test ends. If the system
// has no terminals, the test is skipped.
func OpenTerminal(t testing.TB) *Terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(side.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	p := &Terminal{TB: t, keys: keys, Side: side, ended: make(chan struct{})}
	go func() { // ends when both sides are closed
		defer close(p.ended)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			p.mu.Lock()
			p.seen.Write(buffer[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		side.Close()
		<-p.ended
		keys.Close()
	})
	return p
}

// Shows waits until `text` is on the screen.
func (p *Terminal) Shows(text string) {
	p.Helper()
	for deadline := time.Now().Add(scratch.Patience()); ; {
		seen := p.Seen()
		if strings.Contains(seen, text) {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%q was never shown; the screen had:\n%q", text, seen)
		}
		<-time.After(5 * time.Millisecond) // only spares the processor
	}
}

// Seen is all that was shown.
func (p *Terminal) Seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// Type presses keys.
func (p *Terminal) Type(keys string) {
	p.Helper()
	if _, err := p.keys.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}
