package gitsync

import (
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// progress is how far messages have come: into the journal, into main, into the remote's main. One
// lock guards all of it, so that at every moment each stored message is found somewhere. A message
// is held from the fsync of the journal until it is in main and, if there is a remote, in a tip of
// the remote too.
type progress struct {
	store   *objects.Store
	journal *journal.Journal
	tell    *teller
	log     zerolog.Logger
	shared  func() bool // there is a remote

	withheld *withheld

	mu sync.Mutex // guards the fields below

	tip, tree             objects.Hash // main
	remoteTip, remoteTree objects.Hash // the remote's main that was last taken in, or Zero

	// held has every message of the journal, by path. A path has more than one only if different
	// contents were stored for it.
	held map[protocol.Path][]*heldMessage
	// pending are the messages that are in no commit yet, in the order of the journal.
	pending []*heldMessage
	// unpushed are the messages in main that are not at their paths in the remote's main, each with
	// the moment since when. It is empty without a remote.
	unpushed map[protocol.Path]time.Time
	// oldest is the earliest moment in unpushed. otherFiles says that the remote lacks other files
	// that main has.
	oldest     time.Time
	otherFiles bool
}

type heldMessage struct {
	path     protocol.Path
	blob     objects.Hash
	data     []byte // nil when it is in a commit
	peer     bool
	since    time.Time
	id       journal.ID
	recorded bool
}

// main is main's commit and its tree.
func (g *progress) main() (tip, tree objects.Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tip, g.tree
}

func (g *progress) mainTree() objects.Hash {
	_, tree := g.main()
	return tree
}

func (g *progress) mainIs(tip, tree objects.Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tip, g.tree = tip, tree
}

// remote is the remote's main that was last taken in, and its tree. Both are Zero if there is none.
func (g *progress) remote() (tip, tree objects.Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.remoteTip, g.remoteTree
}

// remoteIs notes what the remote's main is.
func (g *progress) remoteIs(tip, tree objects.Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remoteTip, g.remoteTree = tip, tree
}

// place says how far a message has come.
func (g *progress) place(p protocol.Path) (Place, error) {
	g.mu.Lock()
	tree := g.tree
	held := len(g.held[p]) > 0
	_, unpushed := g.unpushed[p]
	g.mu.Unlock()
	_, ok, err := g.store.Lookup(tree, p.RepoPath())
	switch {
	case err != nil || !ok:
		if held {
			return Stored, err
		}
		return Absent, err
	case unpushed || !g.shared():
		return Recorded, nil
	}
	return Pushed, nil
}

// waiting is the content of a message that only the journal has, and main's tree at that moment.
func (g *progress) waiting(p protocol.Path) (data []byte, ok bool, tree objects.Hash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held[p] {
		if !h.recorded {
			return h.data, true, g.tree
		}
	}
	return nil, false, g.tree
}

func (g *progress) hold(l MessageFile, blob objects.Hash, id journal.ID) {
	h := &heldMessage{path: l.Path, blob: blob, data: l.Data, peer: l.Peer, since: time.Now(), id: id}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[l.Path] = append(g.held[l.Path], h)
	g.pending = append(g.pending, h)
}

// keeps reports whether exactly these bytes are already stored at the path.
func (g *progress) keeps(p protocol.Path, blob objects.Hash) bool {
	g.mu.Lock()
	tree := g.tree
	for _, h := range g.held[p] {
		if h.blob == blob {
			g.mu.Unlock()
			return true
		}
	}
	g.mu.Unlock()
	e, ok, err := g.store.Lookup(tree, p.RepoPath())
	return err == nil && ok && e.Hash == blob
}

// snapshot is main's tree, and the messages that only the journal has, at one moment.
func (g *progress) snapshot() (tree objects.Hash, stored []MessageFile) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.pending {
		stored = append(stored, MessageFile{Path: h.path, Data: h.data, Peer: h.peer})
	}
	return g.tree, stored
}

func (g *progress) holds(p protocol.Path, blob objects.Hash) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.held[p], func(h *heldMessage) bool { return h.blob == blob })
}

func (g *progress) isHeld(p protocol.Path) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.held[p]) > 0
}

func (g *progress) heldBlobs() map[objects.Hash]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	blobs := map[objects.Hash]bool{}
	for _, messages := range g.held {
		for _, h := range messages {
			blobs[h.blob] = true
		}
	}
	return blobs
}

func (g *progress) journaled(blob objects.Hash) ([]byte, bool) {
	g.mu.Lock()
	var held *heldMessage
	for _, messages := range g.held {
		for _, h := range messages {
			if h.blob == blob {
				held = h
			}
		}
	}
	if held == nil || held.data != nil {
		defer g.mu.Unlock()
		if held == nil {
			return nil, false
		}
		return held.data, true
	}
	g.mu.Unlock()
	entries, err := g.journal.Read(held.id)
	data := entries[held.id].Data
	return data, err == nil && objects.BlobHash(data) == blob
}
