package bus

import (
	"fmt"
	"sync"

	"github.com/parleyfleet/parley/protocol"
)

const (
	maxSeen = 2048 // questions of one host that are remembered
	maxRuns = 8    // runs of one host whose presence is remembered
)

// replays recognizes letters that have come before. Of other letters a repetition is harmless: what
// a heard letter says was true, a bell makes a look at the remote at most every two seconds, and a
// known head says nothing new.
type replays struct {
	mu        sync.Mutex // guards what follows
	questions map[protocol.Name]*lastQuestions
	presences map[protocol.HostKey]map[string]told // by run
}

// lastQuestions are the signatures of a host's last questions, as a ring.
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

// question returns an error if a host has asked a question before. The signature must have been
// checked. If the host has asked 2,048 others since, the question may be answered twice, which
// costs an answer.
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

// presence returns an error if the host has sent a later presence with the same key. The count of a
// presence rises within a run, and the start of its node with every run. After a change of key,
// counting begins anew: otherwise a thief of the old key could have named a start that the host
// never reaches.
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
