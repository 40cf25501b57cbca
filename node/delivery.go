package node

import (
	"context"
	"sync"

	"github.com/parleyfleet/parley/node/catchup"
)

// delivery is what a node does so that nothing the bus loses stays lost: messages of
// keys that come later are tried again, gaps in the chains of hosts are found and
// filled (DESIGN section 7).
type delivery struct {
	// Each holds a token.
	keys   chan struct{} // a host act was taken in: keys may be known now
	wrote  chan struct{} // this host has published a message
	linked chan struct{} // a link came up

	gaps       *catchup.Gaps
	queueBytes int // what may wait at the bus's door, 0: as the bus thinks best
}

func newDelivery(queueBytes int) delivery {
	one := func() chan struct{} { return make(chan struct{}, 1) }
	return delivery{
		keys: one(), wrote: one(), linked: one(), gaps: catchup.NewGaps(), queueBytes: queueBytes}
}

// startDelivery works until the node goes down; it ends before the bus.
func (n *Node) startDelivery(down *teardown) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.retryAlways(ctx) })
	running.Go(func() { n.tellHeads(ctx) })
	running.Go(func() { n.repairAlways(ctx) })
	running.Go(func() { n.asker.Run(ctx) })
	down.push(func() {
		cancel()
		running.Wait()
	})
}

// retryAlways tries what was held again whenever the key history has changed, and
// brings mail to the doors that counts by then and did not when it came. It ends with
// ctx.
func (n *Node) retryAlways(ctx context.Context) {
	looked := 0
	for {
		select {
		case <-n.delivery.keys:
			n.retryHeld()
			looked = n.refill(looked)
		case <-ctx.Done():
			return
		}
	}
}

// refill brings what waits to the doors if messages are judged otherwise than at the
// given version of the keys, and returns the present one.
func (n *Node) refill(looked int) int {
	n.mu.Lock()
	version := n.state.Keys().Version()
	n.mu.Unlock()
	if version != looked {
		for _, w := range n.awake("") {
			n.fill(w)
		}
	}
	return version
}
