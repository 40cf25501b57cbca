package node

import (
	"slices"
	"sync"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

// maxFeed bounds what a follower that does not keep up may leave lying.
const maxFeed = 100_000

// feeds are those that follow what enters the state. What is added under the node's mu
// is in each of them in the order of the state.
type feeds struct {
	mu  sync.Mutex // guards what follows, and all feeds
	all map[*feed]struct{}
}

// feed collects the paths of messages as they enter the state, for one follower.
type feed struct {
	of    *feeds
	paths []protocol.Path
	lost  bool // more came than the follower took
	wake  chan struct{}
}

// follow begins a feed; end ends it.
func (fs *feeds) follow() *feed {
	f := &feed{of: fs, wake: make(chan struct{}, 1)}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.all == nil {
		fs.all = map[*feed]struct{}{}
	}
	fs.all[f] = struct{}{}
	return f
}

// add has a message be in all feeds.
func (fs *feeds) add(p protocol.Path) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.all {
		if len(f.paths) >= maxFeed {
			f.lost = true
			continue
		}
		f.paths = append(f.paths, p)
		wait.Nudge(f.wake)
	}
}

func (f *feed) end() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	delete(f.of.all, f)
}

// leave takes a message out of the feed.
func (f *feed) leave(p protocol.Path) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.paths = slices.DeleteFunc(f.paths, func(q protocol.Path) bool { return q == p })
}

// drain takes what has come since, and says whether more came than could be kept.
func (f *feed) drain() (paths []protocol.Path, lost bool) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	paths, f.paths = f.paths, nil
	return paths, f.lost
}
