package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/term"
)

// Bar tells a person at a terminal how far something has come, in one line that changes. It begins
// when that takes longer than a second.
type Bar struct {
	v       View
	what    string
	Plainly bool // if there is no terminal, a line is printed now and then

	mu    sync.Mutex // guards what follows
	began time.Time
	last  time.Time
	open  bool // a line is shown that has not ended
	ended bool
}

// plainEvery is the time between two lines if there is no terminal.
const plainEvery = 10 * time.Second

// barWidth is how many columns of the line the bar itself takes.
const barWidth = 24

// Progress makes a Bar about `what`. End ends it.
func (v View) Progress(what string) *Bar { return &Bar{v: v, what: what, began: time.Now()} }

// Show tells that `done` of about `total` is done.
func (b *Bar) Show(done, total int) {
	if total <= 0 {
		return
	}
	done = min(done, total)
	if !b.v.Err.Terminal {
		b.line(done, total)
		return
	}
	full := barWidth * done / total
	b.Say(fmt.Sprintf("%s [%s%s] %d%%, %d of about %d", b.what, strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		100*done/total, done, total))
}

// line prints how far it has come, if there is no terminal.
func (b *Bar) line(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.Plainly && !b.v.JSON && now.Sub(b.began) >= plainEvery && now.Sub(b.last) >= plainEvery {
		b.last = now
		b.v.Err.Printf("%s: %d%%\n", b.what, 100*done/total)
	}
}

// Say shows a line. If `line` is "", it only shows that something is going on, unless there is a
// line already.
func (b *Bar) Say(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.v.Err.Terminal || b.v.JSON || b.ended || now.Sub(b.began) < busyAfter || now.Sub(b.last) < ProgressEvery {
		return
	}
	if line == "" {
		if b.open {
			return
		}
		line = b.what + " …"
	}
	b.last, b.open = now, true
	b.v.Err.Printf("\r\x1b[K%s", b.v.Err.Dim(term.Cut(line, b.v.Err.Width-1)))
}

// End removes the line. It may be called several times.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		b.v.Err.Printf("\r\x1b[K")
	}
	b.open, b.ended = false, true
}

// ProgressEvery is the least time between two changes of the line.
const ProgressEvery = 100 * time.Millisecond
