package node

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// maxFeed bounds what a follower that does not keep up may leave lying.
const maxFeed = 100_000

// feed collects the paths of messages as they enter the state, for one
// follower. All but wake is guarded by the node's mu.
type feed struct {
	paths []protocol.Path
	lost  bool // more came than the follower took
	wake  chan struct{}
}

// follow begins a feed; unfollow ends it.
func (n *Node) follow() *feed {
	f := &feed{wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.feeds[f] = struct{}{}
	return f
}

func (n *Node) unfollow(f *feed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.feeds, f)
}

// add appends to the feed. The caller holds the node's mu.
func (f *feed) add(p protocol.Path) {
	if len(f.paths) >= maxFeed {
		f.lost = true
		return
	}
	f.paths = append(f.paths, p)
	nudge(f.wake)
}

// leave takes a message out of the feed. The caller holds the node's mu.
func (f *feed) leave(p protocol.Path) {
	f.paths = slices.DeleteFunc(f.paths, func(q protocol.Path) bool { return q == p })
}

// drain takes what has come since.
func (n *Node) drain(f *feed) (paths []protocol.Path, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	paths, f.paths = f.paths, nil
	return paths, f.lost
}
