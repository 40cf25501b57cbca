// Package trail remembers the last messages that went through a node, and when each of them took
// which step. What has to survive the end of the node is kept elsewhere: the messages themselves,
// and the log of runs.
package trail

import (
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// most is how many messages are remembered. They take some megabytes, and at the pace of humans
	// they are the messages of some days.
	most = 8192
	// mostSteps is how many steps of one message are remembered. A message to all of a large fleet
	// is heard by every host.
	mostSteps = protocol.MaxTraceSteps
)

// Trail is the last messages of a node. Its methods may be called concurrently, and call no other
// part. Those that note do nothing on a nil *Trail.
type Trail struct {
	now  func() time.Time
	most int

	mu    sync.Mutex // guards what follows
	steps map[protocol.Path][]step
	order []protocol.Path // the keys of steps, as a ring
	next  int             // the index of the oldest message in order, if order is full
}

// step is one step of a message; see protocol.TraceStep.
type step struct {
	at    time.Time
	word  string
	agent protocol.Name
	by    string
}

// New makes a Trail that remembers nothing yet.
func New(now func() time.Time) *Trail {
	return &Trail{now: now, most: most, steps: map[protocol.Path][]step{}}
}

// Note notes that messages have taken a step here now. `by` is the host or the way; "" if the word
// of the step says all.
func (t *Trail) Note(paths []protocol.Path, word, by string) {
	if t != nil {
		t.note(paths, step{at: t.now().UTC(), word: word, by: by})
	}
}

// NoteOf notes that a message has taken a step with an agent now.
func (t *Trail) NoteOf(p protocol.Path, word string, agent protocol.Name) {
	if t != nil {
		t.note([]protocol.Path{p}, step{at: t.now().UTC(), word: word, agent: agent})
	}
}

// NoteTold notes that another host has just told that messages have taken a step. Messages that did
// not come here are left out: a host that tells of very many makes none be forgotten.
func (t *Trail) NoteTold(paths []protocol.Path, word, by string) {
	if t == nil {
		return
	}
	s := step{at: t.now().UTC(), word: word, by: by}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		if _, here := t.steps[p]; here {
			t.add(p, s)
		}
	}
}

func (t *Trail) note(paths []protocol.Path, s step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths[max(0, len(paths)-t.most):] { // the messages before these would be forgotten at once
		t.add(p, s)
	}
}

func (t *Trail) add(p protocol.Path, s step) {
	steps, known := t.steps[p]
	if !known {
		t.remember(p)
	}
	if len(steps) < mostSteps {
		t.steps[p] = append(steps, s)
	}
}

// remember makes room for one more message.
func (t *Trail) remember(p protocol.Path) {
	if len(t.order) < t.most {
		t.order = append(t.order, p)
		return
	}
	delete(t.steps, t.order[t.next])
	t.order[t.next] = p
	t.next = (t.next + 1) % t.most
}

// Of returns what is remembered of a message, in the order in which it was noted.
func (t *Trail) Of(p protocol.Path) []protocol.TraceStep {
	t.mu.Lock()
	defer t.mu.Unlock()
	return each.Of(t.steps[p], func(s step) protocol.TraceStep {
		return protocol.TraceStep{Time: s.at, Step: s.word, Agent: s.agent, By: s.by}
	})
}
