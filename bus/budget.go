package bus

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parleyfleet/parley/protocol"
)

// What one host may ask of this one: so many questions and bytes of answers at once, and so many
// more in each second. A question costs 200 bytes to ask and up to 1 MiB to answer. A host that
// catches up after a partition takes in less than that in a second, and has all of it at once after
// most partitions.
const (
	questionsAtOnce, questionsASecond = 500, 100
	bytesAtOnce, bytesASecond         = 64 << 20, 8 << 20
)

// How many requests for NATS services are answered, from everybody together: nothing tells who
// asks.
const looksAtOnce, looksASecond = 500, 50

// maxWaiting is how many questions of one host may wait for their turn. So a flood from one host
// leaves room for the others.
const maxWaiting = maxQuestions / 4

// budget is what each host may still ask. A host that has spent nothing is not remembered. So there
// are never more entries than hosts that asked within the last seconds, and all of them are hosts
// of the fleet.
type budget struct {
	now   func() time.Time
	looks *rate.Limiter

	mu      sync.Mutex // guards what follows
	left    map[protocol.Name]*purse
	waiting map[protocol.Name]int // questions that wait for their turn
}

// purse is what one host may still ask. An answer may overspend the bytes. Then these must come
// back before the host may ask again.
type purse struct{ questions, bytes *rate.Limiter }

func (p *purse) full(now time.Time) bool {
	return p.questions.TokensAt(now) >= questionsAtOnce && p.bytes.TokensAt(now) >= bytesAtOnce
}

func newBudget(now func() time.Time) *budget {
	return &budget{
		now: now, left: map[protocol.Name]*purse{}, waiting: map[protocol.Name]int{},
		looks: rate.NewLimiter(looksASecond, looksAtOnce),
	}
}

// queue notes a question that waits for its turn. It returns false if there are too many that claim
// to be from this host. If it returns true, the caller must call unqueue.
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

// ask takes one question out of what a host may still ask. If there is none left, it returns how
// long it takes until the host may ask again.
func (b *budget) ask(from protocol.Name) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, p := b.now(), b.of(from)
	if bytes := p.bytes.TokensAt(now); bytes <= 0 {
		return time.Duration((maxPayload - bytes) / bytesASecond * float64(time.Second))
	}
	r := p.questions.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// answered takes the bytes of an answer out of what a host may still get.
func (b *budget) answered(from protocol.Name, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(from).bytes.ReserveN(b.now(), min(bytes, bytesAtOnce))
}

// look reports whether one more request for NATS services may be answered.
func (b *budget) look() bool { return b.looks.AllowN(b.now(), 1) }

// of is what a host may still ask. Before it remembers one more host, it forgets those that have
// spent nothing. The caller holds mu.
func (b *budget) of(from protocol.Name) *purse {
	p := b.left[from]
	if p == nil {
		now := b.now()
		maps.DeleteFunc(b.left, func(_ protocol.Name, other *purse) bool { return other.full(now) })
		p = &purse{rate.NewLimiter(questionsASecond, questionsAtOnce), rate.NewLimiter(bytesASecond, bytesAtOnce)}
		b.left[from] = p
	}
	return p
}
