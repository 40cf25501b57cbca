package node

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// So many messages lie in memory before the cache is written anew: at least
	// leastLoose; in a large record one in shareLoose, but at most mostLoose.
	leastLoose = 2000
	shareLoose = 50
	mostLoose  = 20_000

	freezeLook  = time.Second     // between looks at how many there are
	freezeApart = 5 * time.Second // least time between two writings
	freezeRest  = 10              // and how many times as long as the last one took

	// At a stop the cache is written where that is quick and worth it.
	stopLoose = 500
	stopLarge = 300_000
)

// errUnsettled says that the state holds what its commit does not have yet in a way
// that an archive could not show. It passes.
var errUnsettled = errors.New("files that claim one path are not all recorded")

// startFreezing writes the cache whenever enough has come, until the node stops, and
// once more then.
func (n *Node) startFreezing(down *teardown) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		n.freezeAlways(ctx)
	}()
	down.push(func() {
		cancel()
		<-ended
		if loose, all := n.sizes(); loose >= stopLoose && all <= stopLarge {
			n.freezeOrSay()
		}
	})
}

func (n *Node) freezeAlways(ctx context.Context) {
	tick := time.NewTicker(freezeLook)
	defer tick.Stop()
	next := time.Now()
	for {
		loose, all := n.sizes()
		if began := time.Now(); !began.Before(next) && loose >= max(leastLoose, min(all/shareLoose, mostLoose)) {
			n.freezeOrSay()
			next = time.Now().Add(max(freezeApart, freezeRest*time.Since(began)))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sizes are how many messages the next start would not find in the cache, and how
// many there are.
func (n *Node) sizes() (loose, all int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cache.passing() {
		return n.state.Ledger.Len(), n.state.Ledger.Len()
	}
	return n.state.Ledger.Loose(), n.state.Ledger.Len()
}

// freezeOrSay writes the cache. Without it everything works, a start takes longer.
func (n *Node) freezeOrSay() {
	began := time.Now()
	err := n.freeze()
	const about = "the cache of the state"
	switch {
	case err == nil:
		n.notices.Mended(about)
		n.log.Debug().Int("messages", n.folded.Size()).Dur("took", time.Since(began)).Msg("the cache of the state was written")
	case !errors.Is(err, errUnsettled):
		n.notices.Wrong(about, "cannot write the cache of the state, starts will take longer: %v", err)
	}
}

// freeze brings what lies in memory into the cache, as far as it is in main. What
// main holds is folded: its messages have all been told, and who stored others has
// taken them in.
func (n *Node) freeze() error {
	tip, err := n.record.Told()
	if err != nil {
		return err
	}
	files, err := n.record.FilesOf(tip)
	if err != nil {
		return err
	}
	n.storing.Lock()
	n.mu.Lock()
	sn, flaws, lost := n.state.Snapshot(), n.flaws.List(), n.halts.notWhole()
	n.mu.Unlock()
	n.storing.Unlock()
	if lost {
		return errUnsettled // they would be missing from the cache once they are back
	}
	whole := sn.Only(func(p protocol.Path, hash string, contested bool) (kept bool) {
		if err == nil {
			kept, err = isIn(files, p, hash, contested)
		}
		return kept
	})
	if err == nil && !whole {
		err = errUnsettled
	}
	if err != nil {
		return err
	}
	made, err := n.cache.write(n.record.ID(), sn, stamp{Tip: tip, Flaws: flaws}, true)
	if err != nil {
		return err
	}
	return n.adopt(made, sn)
}

// isIn reports whether a file of the state is one of the files of a commit. Where
// no others claim its path, what stands there is that file.
func isIn(files *gitsync.Files, p protocol.Path, hash string, contested bool) (bool, error) {
	if contested {
		return files.Keep(p, hash)
	}
	return files.Have(p)
}

// adopt takes an archive in place of what it was made of.
func (n *Node) adopt(made archived, sn *fleet.Snapshot) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.Adopt(made.archive, sn)
	return n.cache.use(made)
}

// thin brings what lies in memory into an archive that lasts as long as the process.
// Where that cannot be it stays in memory, and thin is false.
func (n *Node) thin() bool {
	n.mu.Lock()
	sn := n.state.Snapshot()
	n.mu.Unlock()
	made, err := n.cache.write(n.record.ID(), sn, stamp{}, false)
	if err != nil {
		n.log.Warn().Err(err).Msg("cannot write the cache of the state; the record takes memory instead")
		return false
	}
	if err := n.adopt(made, sn); err != nil {
		n.log.Warn().Err(err).Msg("an old cache of the state is not removed")
	}
	return true
}
