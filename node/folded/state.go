// Package folded lets the parts of a node read its state.
package folded

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
)

// State gives the parts of the node access to the state. Nothing changes while `read` runs, so
// `read` must call nothing that may wait.
type State func(read func(*fleet.State))

// piece is how many messages of the past are looked at in one call.
const piece = 500

// Following are the next messages of the record after `last`, or the first ones if `last` is nil.
// If the result is empty, there are no more.
func Following(s *fleet.State, last *fleet.Item) []*fleet.Item {
	next := make([]*fleet.Item, 0, piece)
	for it := range s.Ledger.After(last) {
		if next = append(next, it); len(next) == piece {
			break
		}
	}
	return next
}

// Each calls `visit` with every message in the order of the record. It releases the state between
// pieces, so that a long record holds nobody up. It may see what comes or moves in the meantime, or
// not.
func (read State) Each(ctx context.Context, visit func(*fleet.Item)) error {
	var last *fleet.Item
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next []*fleet.Item
		read(func(s *fleet.State) {
			next = Following(s, last)
			for _, it := range next {
				visit(it)
			}
		})
		if len(next) == 0 {
			return nil
		}
		last = next[len(next)-1]
	}
}

// Size is how many messages the state holds.
func (read State) Size() (count int) {
	read(func(s *fleet.State) { count = s.Ledger.Len() })
	return count
}
