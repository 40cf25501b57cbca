package talk

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// lastReceipts is how long a command that ends waits at most for its last receipts.
const lastReceipts = 2 * time.Second

// receipts tells the node which messages a command has shown. So messages that waited for the
// participant who looks on count as read. Its goroutine runs from startReceipts until end. What
// could not be told while the node was away is told with the next message, or at the end.
type receipts struct {
	client control.Service
	as     string
	failed func(error) // is told of a refusal
	wake   chan struct{}
	end    func() // tells the rest, and ends the goroutine

	mu    sync.Mutex // guards shown
	shown []protocol.Path
}

func startReceipts(client control.Service, as string, failed func(error)) *receipts {
	r := &receipts{client: client, as: as, failed: failed, wake: make(chan struct{}, 1)}
	r.end = wait.Background(r.run)
	return r
}

// add notes that a message was shown. One whose text could not be read was not.
func (r *receipts) add(m control.Message) {
	if m.Type != protocol.TypeText || m.Unreadable != "" {
		return
	}
	r.mu.Lock()
	r.shown = append(r.shown, m.Path)
	r.mu.Unlock()
	wait.Nudge(r.wake)
}

func (r *receipts) run(ctx context.Context) {
	for {
		select {
		case <-r.wake:
			r.tell(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReceipts)
			defer cancel()
			r.tell(last)
			return
		}
	}
}

// tell tells the node what was shown since the last time.
func (r *receipts) tell(ctx context.Context) {
	r.mu.Lock()
	paths := r.shown
	r.shown = nil
	r.mu.Unlock()
	if len(paths) == 0 {
		return
	}
	_, err := control.Shown.Ask(ctx, r.client, control.ShownRequest{As: r.as, Paths: paths})
	switch {
	case err == nil:
	case nodeAway(err) || ctx.Err() != nil:
		r.mu.Lock()
		r.shown = append(paths, r.shown...)
		r.mu.Unlock()
	default:
		r.failed(err)
	}
}
