package catchup

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// gapWait is how long a gap may close by itself before it is asked for: messages may have taken
	// another way, or a fetch may be under way.
	gapWait = 150 * time.Millisecond
	// gapTries is how often a gap is asked for in vain before it is left to git. gapRest is the
	// pause after the first time; it doubles.
	gapTries = 5
	gapRest  = time.Second
	// gapBusy is how often in a row hosts may answer that they are asked too much before that
	// counts as one time in vain. So a host that always answers this holds up nobody else.
	gapBusy = 30
	// mostOfOne is how many gaps of one chain are remembered from what one host tells. If there are
	// more, the last one takes the place of the one before it: what is asked for it begins where
	// the chain has its first hole by then. gapChains is how many chains are remembered in all. If
	// there are more, the host that tells of most loses one, which shows again with the next
	// message or head.
	mostOfOne = 8
	gapChains = 256
	// atOnce is how many chains are mended at a time. gapsByOne is how many of them may be from
	// what one host tells. So a host that lets others wait for answers leaves a place for what is
	// true.
	atOnce    = 4
	gapsByOne = atOnce - 1
)

// gaps is what is missing of the chains of hosts, as far as somebody has told of it.
type gaps struct {
	wake chan struct{} // holds a token if there may be something to do

	mu      sync.Mutex // guards what follows
	chains  map[told]*brokenChain
	closed  uint64
	givenUp uint64
}

// told is a chain, and who told of its gap: the host of the chain itself, by its messages and head
// letters, or another host. Each has a pause of its own, so that a host which tells of gaps that do
// not exist only delays itself.
type told struct{ Host, By protocol.Name }

type brokenChain struct {
	wants  map[string]keys.Gap // by hash
	after  End                 // the end of the part that is here
	fails  int
	busies int // answers "busy" since something came, or since an attempt counted as in vain
	due    time.Time
	busy   bool
}

// End is the last message of a chain that is here; zero if none is.
type End struct {
	Path protocol.Path
	Hash string
	Run  string
	Seq  uint64
}

// EndAt is the end of a chain whose last message here is `it`.
func EndAt(it *keys.File) End { return End{it.Path, it.Hash, it.Run, it.Seq} }

func newGaps() *gaps {
	return &gaps{wake: make(chan struct{}, 1), chains: map[told]*brokenChain{}}
}

// add notes a gap. `after` is the last message before it that is here, as far as that is known.
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
	if _, known := c.wants[gap.Hash]; !known && len(c.wants) == mostOfOne {
		latest := slices.MaxFunc(slices.Collect(maps.Values(c.wants)), func(a, b keys.Gap) int { return a.Path.Compare(b.Path) })
		if gap.Path.Compare(latest.Path) <= 0 {
			return
		}
		delete(c.wants, latest.Hash)
	}
	c.wants[gap.Hash] = gap
	wait.Nudge(g.wake)
}

// makeRoom forgets a chain of the host that tells of most. It returns false if that host is `by`,
// or if none of its chains can be forgotten. The caller holds mu.
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

// mending is how many chains are being mended now, by the host that told of their gaps. The caller
// holds mu.
func (g *gaps) mending() map[protocol.Name]int {
	count := map[protocol.Name]int{}
	for key, c := range g.chains {
		if c.busy {
			count[key.By]++
		}
	}
	return count
}

// take returns the chains that may be mended now, at most `most`, and how long it takes until the
// next one may be. The chains that it returns are busy until rest is called.
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
		case mending[key.By] == gapsByOne: // the next call of rest wakes MendAlways
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

// of is what is missing of a chain, as far as that is known, and the end of the part that is here.
func (g *gaps) of(key told) (wants map[string]keys.Gap, after End) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chains[key]
	return maps.Clone(c.wants), c.after
}

// filled notes that messages are here now, and where the part of the chain that is here ends.
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
	Busy     time.Duration // nothing more came, because this host asks too much: how long to wait
}

// rest ends the mending of a chain for now. A gap that was asked for in vain several times is left
// to git.
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

// counts returns how many gaps there are that were asked for in vain, and how many were closed, and
// left to git, since the start. Most gaps close in a moment.
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
