package door

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/span"
)

// meter counts what a command prints, and says when it is too much.
type meter struct {
	left atomic.Int64
	over chan struct{} // closed when it has printed more than it may
}

// newMeter counts up to `most` bytes; 0 means no limit.
func newMeter(most int) *meter {
	m := &meter{over: make(chan struct{})}
	if m.left.Store(int64(most)); most == 0 {
		m.left.Store(1<<63 - 1)
	}
	return m
}

func (m *meter) isOver() bool {
	select {
	case <-m.over:
		return true
	default:
		return false
	}
}

func (m *meter) counts(to io.Writer) io.Writer { return metered{m, to} }

type metered struct {
	*meter
	to io.Writer
}

func (w metered) Write(p []byte) (int, error) {
	n := int64(len(p))
	if after := w.left.Add(-n); after < 0 && after+n >= 0 { // only once
		close(w.over)
	}
	return w.to.Write(p)
}

// used says how much of a limit a command has used that was ended by it.
func (c Command) used(limit string) string {
	switch limit {
	case keeper.LimitMemory:
		return "used more than " + size.Text(c.Limits.Memory) + " of memory"
	case keeper.LimitCPU:
		return "used more than " + span.Text(c.Limits.CPU) + " of processor time"
	}
	return "used more than its limits allow"
}

// nearLimit is a limit that the last words of a command seem to show. The system refuses a process
// what is above such a limit. What happens then is the program's affair: it may go on, and nobody
// else hears of it.
func (c Command) nearLimit(words ...string) string {
	text := strings.ToLower(strings.Join(words, "\n"))
	for _, limit := range []struct {
		set   bool
		tells []string
		text  string
	}{
		{c.Limits.Files > 0, []string{"too many open files"}, fmt.Sprintf("%d open files", c.Limits.Files)},
		{
			c.Limits.Processes > 0, []string{"resource temporarily unavailable", "cannot fork", "can't start new thread", "pthread_create"},
			fmt.Sprintf("%d processes", c.Limits.Processes),
		},
		{
			c.Limits.Memory > 0, []string{"cannot allocate memory", "memoryerror", "out of memory", "bad_alloc", "enomem"},
			size.Text(c.Limits.Memory) + " of memory",
		},
	} {
		for _, tells := range limit.tells {
			if limit.set && strings.Contains(text, tells) {
				return limit.text
			}
		}
	}
	return ""
}

// near says, for people, that a command has a limit.
func near(limit string) string {
	if limit == "" {
		return ""
	}
	return " (its limit: " + limit + ")"
}
