package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/term"
)

// bar tells a person at a terminal how far something has come, in one line that
// changes, once it takes longer than a second.
type bar struct {
	v       view
	what    string
	plainly bool // elsewhere a line is printed now and then

	mu    sync.Mutex // guards what follows
	began time.Time
	last  time.Time
	open  bool // a line stands that has not ended
	ended bool
}

// plainEvery is the time between two lines where nobody sees one that changes.
const plainEvery = 10 * time.Second

// barWidth is how many columns of the line are the bar itself.
const barWidth = 24

// progress begins to tell of what. end ends it.
func (v view) progress(what string) *bar { return &bar{v: v, what: what, began: time.Now()} }

// show tells that so much of about so much is done.
func (b *bar) show(done, total int) {
	if total <= 0 {
		return
	}
	done = min(done, total)
	if !b.v.err.Terminal {
		b.line(done, total)
		return
	}
	full := barWidth * done / total
	b.say(fmt.Sprintf("%s [%s%s] %d%%, %d of about %d", b.what, strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		100*done/total, done, total))
}

// line prints how far it has come, where nobody sees a line that changes.
func (b *bar) line(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.plainly && !b.v.json && now.Sub(b.began) >= plainEvery && now.Sub(b.last) >= plainEvery {
		b.last = now
		b.v.err.Printf("%s: %d%%\n", b.what, 100*done/total)
	}
}

// say shows a line; "" leaves it as it is.
func (b *bar) say(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.v.err.Terminal || b.v.json || b.ended || now.Sub(b.began) < busyAfter || now.Sub(b.last) < progressEvery {
		return
	}
	if line == "" {
		if b.open {
			return
		}
		line = b.what + " …"
	}
	b.last, b.open = now, true
	b.v.err.Printf("\r\x1b[K%s", b.v.err.Dim(term.Cut(line, b.v.err.Width-1)))
}

// end removes the line. It may be called again.
func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		b.v.err.Printf("\r\x1b[K")
	}
	b.open, b.ended = false, true
}

// progressEvery is the least time between two changes of the line.
const progressEvery = 100 * time.Millisecond
