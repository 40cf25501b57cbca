// Package trail remembers the last messages that went through a node, and when each of them
// took which step. What outlasts the node stands elsewhere: the messages themselves, and
// the log of runs.
package trail

import (
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	// most is how many messages are remembered: some megabytes, and at a human pace days.
	most = 8192
	// mostSteps is how many steps of one message are. One to all of a large fleet is heard
	// by everybody.
	mostSteps = protocol.MaxTraceSteps
)

// Trail is the last messages of a node. Its methods may be called concurrently, call
// nobody, and do nothing on a nil *Trail.
type Trail struct {
	now  func() time.Time
	most int

	mu    sync.Mutex // guards what follows
	steps map[protocol.Path][]step
	order []protocol.Path // of what steps has, a ring
	next  int             // where in order the oldest one is, when it is full
}

// step is one of a message; see protocol.TraceStep.
type step struct {
	at    time.Time
	word  string
	agent protocol.Name
	by    string
}

// New remembers nothing.
func New(now func() time.Time) *Trail {
	return &Trail{now: now, most: most, steps: map[protocol.Path][]step{}}
}

// Note notes that messages have taken a step now. by is which host or which way, "" where
// the step says all.
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

func (t *Trail) note(paths []protocol.Path, s step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths[max(0, len(paths)-t.most):] { // those before would be forgotten at once
		steps, known := t.steps[p]
		if !known {
			t.remember(p)
		}
		if len(steps) < mostSteps {
			t.steps[p] = append(steps, s)
		}
	}
}

// remember makes room for one more message. The caller holds mu.
func (t *Trail) remember(p protocol.Path) {
	if len(t.order) < t.most {
		t.order = append(t.order, p)
		return
	}
	delete(t.steps, t.order[t.next])
	t.order[t.next] = p
	t.next = (t.next + 1) % t.most
}

// Of is what is remembered of a message, in the order in which it happened.
func (t *Trail) Of(p protocol.Path) []protocol.TraceStep {
	t.mu.Lock()
	steps := slices.Clone(t.steps[p])
	t.mu.Unlock()
	told := make([]protocol.TraceStep, len(steps))
	for i, s := range steps {
		told[i] = protocol.TraceStep{Time: s.at, Step: s.word, Agent: s.agent, By: s.by}
	}
	return told
}
