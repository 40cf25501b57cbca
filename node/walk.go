package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
)

// piece is how many messages of the past are looked at in one go.
const piece = 500

// following are the next messages of the record after last, nil standing for none.
// There are no more where it is empty. The caller holds mu.
func (n *Node) following(last *fleet.Item) []*fleet.Item {
	next := make([]*fleet.Item, 0, piece)
	for it := range n.state.After(last) {
		if next = append(next, it); len(next) == piece {
			break
		}
	}
	return next
}

// each calls visit with every message in the order of the record. mu is held while
// it is called and released between pieces, so that a long record holds nobody up.
// What comes or moves meanwhile may be seen or not.
func (n *Node) each(ctx context.Context, visit func(*fleet.Item)) error {
	var last *fleet.Item
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n.mu.Lock()
		next := n.following(last)
		for _, it := range next {
			visit(it)
		}
		n.mu.Unlock()
		if len(next) == 0 {
			return nil
		}
		last = next[len(next)-1]
	}
}
