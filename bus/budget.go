package bus

import (
	"math"
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// What one host may ask of this one: so many questions and bytes of answers at once,
// and so many more in each second. A question costs 200 bytes to ask and up to 1 MiB to
// answer. Who catches up after a partition takes in less than that in a second, and
// has the whole of most partitions at once.
const (
	questionsAtOnce, questionsASecond = 500, 100
	bytesAtOnce, bytesASecond         = 64 << 20, 8 << 20
)

// How many requests for NATS services are answered, whoever asks: nothing tells who
// that is.
const looksAtOnce, looksASecond = 500, 50

// maxWaiting is how many questions of one host may wait for their turn, so that a flood
// from one leaves room for the others.
const maxWaiting = maxQuestions / 4

// bucket is what may be spent now. It may be overspent once, and then has to fill up
// first.
type bucket struct {
	most, perSecond float64
	level           float64
	at              time.Time // when level was right
}

func newBucket(most, perSecond float64, now time.Time) bucket {
	return bucket{most: most, perSecond: perSecond, level: most, at: now}
}

// fill adds what has come since the last time. A clock that was put back brings nothing.
func (b *bucket) fill(now time.Time) {
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.level = min(b.most, b.level+passed*b.perSecond)
	}
	b.at = now
}

// full reports whether nothing was spent lately.
func (b *bucket) full() bool { return b.level >= b.most }

// until is how long it takes until there is so much in it.
func (b *bucket) until(level float64) time.Duration {
	return time.Duration(max(0, math.Ceil((level-b.level)/b.perSecond*float64(time.Second))))
}

// budget is what each host has left to ask. Who has all of it is not remembered, so
// that there are never more than those that asked within the last seconds, all of them
// hosts of the fleet.
type budget struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	left    map[protocol.Name]*purse
	waiting map[protocol.Name]int // questions that wait for their turn
	looks   bucket
}

// purse is what one host has left.
type purse struct{ questions, bytes bucket }

func newBudget(now func() time.Time) *budget {
	return &budget{
		now: now, left: map[protocol.Name]*purse{}, waiting: map[protocol.Name]int{},
		looks: newBucket(looksAtOnce, looksASecond, now()),
	}
}

// queue notes a question that waits for its turn, or reports that there are too many
// that say they are of this host. Who has said yes calls unqueue.
func (b *budget) queue(from protocol.Name) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[from] >= maxWaiting {
		return false
	}
	b.waiting[from]++
	return true
}

func (b *budget) unqueue(from protocol.Name) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[from]--; b.waiting[from] == 0 {
		delete(b.waiting, from)
	}
}

// ask takes one question out of what a host has left. If there is none, it says how
// long it takes until one may be asked.
func (b *budget) ask(from protocol.Name) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.of(from)
	if p.questions.level < 1 || p.bytes.level <= 0 {
		return max(p.questions.until(1), p.bytes.until(maxPayload))
	}
	p.questions.level--
	return 0
}

// answered takes the bytes of an answer out of what a host has left.
func (b *budget) answered(from protocol.Name, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(from).bytes.level -= float64(bytes)
}

// look reports whether one more request for NATS services is answered.
func (b *budget) look() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks.fill(b.now())
	if b.looks.level < 1 {
		return false
	}
	b.looks.level--
	return true
}

// of is what a host has left. Before one more is remembered, those are forgotten that
// have all. The caller holds mu.
func (b *budget) of(from protocol.Name) *purse {
	now := b.now()
	p := b.left[from]
	if p == nil {
		for host, other := range b.left {
			if other.fill(now); other.questions.full() && other.bytes.full() {
				delete(b.left, host)
			}
		}
		p = &purse{newBucket(questionsAtOnce, questionsASecond, now), newBucket(bytesAtOnce, bytesASecond, now)}
		b.left[from] = p
	}
	p.fill(now)
	return p
}

func (p *purse) fill(now time.Time) {
	p.questions.fill(now)
	p.bytes.fill(now)
}
