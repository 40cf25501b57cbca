package node

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Rebuilt says what Rebuild made.
type Rebuilt struct {
	Messages int      // messages and receipts in the state
	Indexed  int      // messages whose words are in the index
	Lost     []string // what the disk has lost and nobody could give back, in the words of Record.Lost
	Entries  []string // what the journal has lost, in the words of Record.LostEntries
	Elapsed  time.Duration
}

// Rebuild throws away all that a home holds and that can be computed, and computes it anew from the
// record and the journal. If the record is damaged, it uses what can be read. With `acceptLoss`,
// the rest is given up, and agents run again. `indexing` is told how many messages have been
// indexed, in the way in which o.Progress is told of reading; nil: nobody is told. The error
// homes.ErrLocked says that a node runs on the home.
func Rebuild(ctx context.Context, o Options, acceptLoss bool, indexing func(done, total int)) (_ Rebuilt, err error) {
	began := time.Now()
	o.anew, o.acceptLoss = true, acceptLoss
	n, err := Open(ctx, o)
	if err != nil {
		return Rebuilt{}, err
	}
	defer func() {
		if closing := n.Close(); err == nil {
			err = closing
		}
	}()
	done := Rebuilt{Messages: n.state.Ledger.Len(), Lost: n.record.Lost(), Entries: n.record.LostEntries()}
	if !n.halts.NotWhole() { // else the cache would lack what may come back
		if err := n.freezer.Freeze(); err != nil {
			return Rebuilt{}, fmt.Errorf("cannot write the cache of the state: %w", err)
		}
	}
	if done.Indexed, err = n.talk.Indexer.IndexAll(ctx, indexing); err != nil {
		return Rebuilt{}, fmt.Errorf("cannot make the index of words: %w", err)
	}
	done.Elapsed = time.Since(began)
	return done, nil
}

// discard removes what a home holds and what can be computed.
func (n *Node) discard() error {
	if err := os.RemoveAll(n.home.Cache()); err != nil {
		return fmt.Errorf("cannot remove the caches: %w", err)
	}
	return n.home.Create()
}
