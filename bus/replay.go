package bus

import (
	"fmt"
	"sync"

	"github.com/parleyfleet/parley/protocol"
)

const (
	maxSeen = 2048 // questions of one host that are known again
	maxRuns = 8    // runs of one host whose presence is known again
)

// replays tells letters that were said before from new ones. Of the other letters
// repetition is harmless: heard was true, a bell looks at the remote at most every two
// seconds, a head that is known says nothing.
type replays struct {
	mu        sync.Mutex // guards what follows
	questions map[protocol.Name]*lastQuestions
	presences map[protocol.HostKey]map[string]told // by run
}

// lastQuestions are the signatures of a host's last questions, in a ring.
type lastQuestions struct {
	seen map[string]struct{}
	ring []string
	next int
}

// told is the last presence of one run of a host.
type told struct{ start, count uint64 }

func newReplays() *replays {
	return &replays{questions: map[protocol.Name]*lastQuestions{}, presences: map[protocol.HostKey]map[string]told{}}
}

// question says why a question of a host is refused, if it has been asked before. The
// signature must have been checked. Who has asked 2,048 others since may be heard twice,
// which costs an answer.
func (r *replays) question(from protocol.Name, sig string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.questions[from]
	if q == nil {
		q = &lastQuestions{seen: map[string]struct{}{}}
		r.questions[from] = q
	}
	if _, again := q.seen[sig]; again {
		return fmt.Errorf("%s asked it before", from)
	}
	if len(q.ring) < maxSeen {
		q.ring = append(q.ring, sig)
	} else {
		delete(q.seen, q.ring[q.next])
		q.ring[q.next] = sig
		q.next = (q.next + 1) % maxSeen
	}
	q.seen[sig] = struct{}{}
	return nil
}

// presence says why a host's presence is refused, if that host has told a later one with
// the same key. Its count rises within a run, and the start of its node with every run.
// A key that follows counts anew, or who had stolen the one before could have named a
// start that the host never comes to.
func (r *replays) presence(p Presence, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	who := protocol.HostKey{Host: p.Host, Key: key}
	runs := r.presences[who]
	if runs == nil {
		runs = map[string]told{}
		r.presences[who] = runs
	}
	last, known := runs[p.Run]
	oldest, newest := "", told{}
	for run, t := range runs {
		if oldest == "" || t.start < runs[oldest].start {
			oldest = run
		}
		newest.start = max(newest.start, t.start)
	}
	switch {
	case known && p.Count <= last.count:
		return fmt.Errorf("%s told a later presence than this one: %d after %d", p.Host, last.count, p.Count)
	case !known && p.Start < newest.start:
		return fmt.Errorf("the presence is of a node of %s that ran before", p.Host)
	case !known && len(runs) >= maxRuns:
		delete(runs, oldest)
	}
	runs[p.Run] = told{p.Start, p.Count}
	return nil
}
