// Package trail remembers the last messages that went through a node, and when each of them took
// which step. What has to survive the end of the node is kept elsewhere: the messages themselves,
// and the log of runs.
package trail

import (
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// most is how many messages are remembered. They take some megabytes, and at the pace of humans
	// they are the messages of some days.
	most = 8192
	// mostUnseen is how many messages are remembered of which only other hosts have told. A host
	// that tells of messages that do not exist makes no existing one be forgotten.
	mostUnseen = 1024
	// mostSteps is how many steps of one message are remembered. A message to all of a large fleet
	// is heard by every host.
	mostSteps = protocol.MaxTraceSteps
)

// Trail is the last messages of a node. Its methods may be called concurrently, and call no other
// part. Those that note do nothing on a nil *Trail.
type Trail struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	seen   messages   // messages that took a step here
	unseen messages   // messages of which only others have told
}

// messages are the newest messages with their steps, at most `most` of them.
type messages struct {
	most  int
	steps map[protocol.Path][]step
	order []protocol.Path // the keys of steps, as a ring; messages that were forgotten may still be in it
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
	return &Trail{now: now, seen: newMessages(most), unseen: newMessages(mostUnseen)}
}

func newMessages(most int) messages { return messages{most: most, steps: map[protocol.Path][]step{}} }

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

// NoteTold notes that another host has just told that messages have taken a step.
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
	for _, p := range paths[max(0, len(paths)-t.seen.most):] { // the messages before these would be forgotten at once
		for _, told := range t.unseen.steps[p] {
			t.seen.add(p, told)
		}
		delete(t.unseen.steps, p)
		t.seen.add(p, s)
	}
}

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

// Of returns what is remembered of a message, in the order in which it was noted.
func (t *Trail) Of(p protocol.Path) []protocol.TraceStep {
	t.mu.Lock()
	steps := slices.Concat(t.seen.steps[p], t.unseen.steps[p])
	t.mu.Unlock()
	return each.Of(steps, func(s step) protocol.TraceStep {
		return protocol.TraceStep{Time: s.at, Step: s.word, Agent: s.agent, By: s.by}
	})
}
