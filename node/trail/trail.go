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
	// mostUnseen is how many messages are remembered of which only other hosts have told: who
	// tells of messages that are none has none be forgotten that is there.
	mostUnseen = 1024
	// mostSteps is how many steps of one message are. One to all of a large fleet is heard
	// by everybody.
	mostSteps = protocol.MaxTraceSteps
)

// Trail is the last messages of a node. Its methods may be called concurrently, call
// nobody, and do nothing on a nil *Trail.
type Trail struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	seen   messages   // that took a step here
	unseen messages   // that others have told of alone
}

// messages are some of them with their steps, at most so many: the newest.
type messages struct {
	most  int
	steps map[protocol.Path][]step
	order []protocol.Path // of what steps has, a ring; what was forgotten may stand in it
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
	return &Trail{now: now, seen: newMessages(most), unseen: newMessages(mostUnseen)}
}

func newMessages(most int) messages { return messages{most: most, steps: map[protocol.Path][]step{}} }

// Note notes that messages have taken a step here now. by is which host or which way, ""
// where the step says all.
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

// NoteTold notes that another host has told just now that messages have taken a step.
func (t *Trail) NoteTold(paths []protocol.Path, word, by string) {
	if t == nil {
		return
	}
	s := step{at: t.now().UTC(), word: word, by: by}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths {
		if _, seen := t.seen.steps[p]; seen {
			t.seen.add(p, s)
		} else {
			t.unseen.add(p, s)
		}
	}
}

func (t *Trail) note(paths []protocol.Path, s step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range paths[max(0, len(paths)-t.seen.most):] { // those before would be forgotten at once
		for _, told := range t.unseen.steps[p] {
			t.seen.add(p, told)
		}
		delete(t.unseen.steps, p)
		t.seen.add(p, s)
	}
}

// add adds a step of a message.
func (m *messages) add(p protocol.Path, s step) {
	steps, known := m.steps[p]
	if !known {
		m.remember(p)
	}
	if len(steps) < mostSteps {
		m.steps[p] = append(steps, s)
	}
}

// remember makes room for one more message.
func (m *messages) remember(p protocol.Path) {
	if len(m.order) < m.most {
		m.order = append(m.order, p)
		return
	}
	delete(m.steps, m.order[m.next])
	m.order[m.next] = p
	m.next = (m.next + 1) % m.most
}

// Of is what is remembered of a message, in the order in which it happened.
func (t *Trail) Of(p protocol.Path) []protocol.TraceStep {
	t.mu.Lock()
	steps := slices.Concat(t.seen.steps[p], t.unseen.steps[p])
	t.mu.Unlock()
	told := make([]protocol.TraceStep, len(steps))
	for i, s := range steps {
		told[i] = protocol.TraceStep{Time: s.at, Step: s.word, Agent: s.agent, By: s.by}
	}
	return told
}
