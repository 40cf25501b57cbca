package catchup

import (
	"maps"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// gapWait is how long a gap may close by itself before it is asked for: messages
	// that took another way, or a fetch under way.
	gapWait = 150 * time.Millisecond
	// gapTries is how often a gap is asked for in vain before it is left to git, and
	// gapRest what the pause after the first time is; it doubles.
	gapTries = 5
	gapRest  = time.Second
	// gapBusy is how often in a row hosts may say that they are asked too much, until
	// that counts as one time in vain. A host that says so for ever holds up nobody
	// else.
	gapBusy = 30
	// mostOfOne is how many gaps of one chain are remembered as one host tells of them, and
	// gapChains of how many chains in all. Where there are more, whoever tells of most
	// loses one. What is forgotten shows again with the next message or head.
	mostOfOne = 8
	gapChains = 256
	// atOnce is how many chains are mended at a time, and gapsByOne how many of them as one
	// host tells of them. A host that has others wait for answers leaves a place for what
	// is true.
	atOnce    = 4
	gapsByOne = atOnce - 1
)

// gaps is what is missing of the chains of hosts, as far as somebody told of it.
type gaps struct {
	wake chan struct{} // holds a token when there may be something to do

	mu      sync.Mutex // guards what follows
	chains  map[told]*brokenChain
	closed  uint64
	givenUp uint64
}

// told is a chain and who told of its gap: the host itself, by its messages and head
// letters, or another one. Whoever tells of gaps that are none gets a pause of its
// own.
type told struct{ Host, By protocol.Name }

// brokenChain is the gaps of one chain.
type brokenChain struct {
	wants  map[string]keys.Gap // by hash
	after  End                 // up to where the chain is here
	fails  int
	busies int // since something came, or an attempt was in vain
	due    time.Time
	busy   bool
}

// End is the last message of a chain that is here; zero while none is.
type End struct {
	Path protocol.Path
	Hash string
	Run  string
	Seq  uint64
}

// EndAt is the end of a chain whose last message here is that.
func EndAt(it *keys.File) End { return End{it.Path, it.Hash, it.Run, it.Seq} }

// newGaps knows of none.
func newGaps() *gaps {
	return &gaps{wake: make(chan struct{}, 1), chains: map[told]*brokenChain{}}
}

// add notes a gap. after is the last message that is here before it, as far as
// that is known.
func (g *gaps) add(by protocol.Name, gap keys.Gap, after End) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := told{gap.Host, by}
	c := g.chains[key]
	if c == nil {
		if len(g.chains) >= gapChains && !g.makeRoom(by) {
			return
		}
		c = &brokenChain{wants: map[string]keys.Gap{}, after: after, due: time.Now().Add(gapWait)}
		g.chains[key] = c
	}
	if _, known := c.wants[gap.Hash]; !known && len(c.wants) < mostOfOne {
		c.wants[gap.Hash] = gap
	}
	wait.Nudge(g.wake)
}

// makeRoom forgets a chain of the host that tells of most, and reports whether that is
// another one than by and one of its chains could go. The caller holds mu.
func (g *gaps) makeRoom(by protocol.Name) bool {
	count, most := map[protocol.Name]int{}, by
	for key := range g.chains {
		count[key.By]++
		if count[key.By] > count[most] {
			most = key.By
		}
	}
	for key, c := range g.chains {
		if most != by && key.By == most && !c.busy {
			delete(g.chains, key)
			return true
		}
	}
	return false
}

// mending is how many chains are mended now, by who told of their gaps. The caller holds
// mu.
func (g *gaps) mending() map[protocol.Name]int {
	count := map[protocol.Name]int{}
	for key, c := range g.chains {
		if c.busy {
			count[key.By]++
		}
	}
	return count
}

// take are the chains that may be mended now, up to most of them, and when the next
// one may be. Those taken are busy until rest is called.
func (g *gaps) take(most int) (due []told, next time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next = time.Minute
	mending := g.mending()
	for key, c := range g.chains {
		wait := time.Until(c.due)
		switch {
		case c.busy:
		case wait <= 0 && len(c.wants) == 0:
			delete(g.chains, key) // its pause is over
		case wait > 0:
			next = min(next, wait)
		case mending[key.By] == gapsByOne: // the next rest wakes who mends
		case len(due) == most:
			next = min(next, gapWait)
		default:
			mending[key.By]++
			c.busy = true
			due = append(due, key)
		}
	}
	return due, next
}

// of is what is missing of a chain as far as it is known, and up to where the chain
// is here.
func (g *gaps) of(key told) (wants map[string]keys.Gap, after End) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chains[key]
	return maps.Clone(c.wants), c.after
}

// filled notes that messages are there now, and up to where the chain is.
func (g *gaps) filled(key told, hashes []string, after End) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chains[key]
	for _, hash := range hashes {
		if _, wanted := c.wants[hash]; wanted {
			delete(c.wants, hash)
			g.closed++
		}
	}
	c.after = after
}

// outcome is how an attempt to mend a chain went.
type outcome struct {
	Progress bool          // something came
	Busy     time.Duration // nothing more did, because this host asks too much: how long to wait
}

// rest ends the mending of a chain for now. A gap that was asked for in vain several
// times is left to git.
func (g *gaps) rest(key told, o outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer wait.Nudge(g.wake)
	c := g.chains[key]
	c.busy, c.due = false, time.Now().Add(gapWait)
	if o.Progress {
		c.fails, c.busies = 0, 0
	}
	switch {
	case len(c.wants) == 0:
		c.fails = 0
	case o.Busy > 0 && c.busies < gapBusy:
		c.busies++
		c.due = time.Now().Add(o.Busy)
	case !o.Progress:
		c.fails, c.busies = c.fails+1, 0
		c.due = time.Now().Add(gapRest << min(c.fails-1, gapTries))
		if c.fails >= gapTries {
			g.givenUp += uint64(len(c.wants))
			clear(c.wants)
		}
	}
}

// counts are how many gaps there are that were asked for in vain, and how many since the
// start were closed, and left to git. Most close in a moment.
func (g *gaps) counts() (open int, closed, givenUp uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.chains {
		if c.fails+c.busies > 0 {
			open += len(c.wants)
		}
	}
	return open, g.closed, g.givenUp
}
