package node

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/parleyfleet/parley/node/control"
)

// progress is how far something has come that takes long.
type progress struct{ done, total atomic.Int64 }

func (p *progress) step(n int) { p.done.Add(int64(n)) }

// verifying is how far the looks at the whole record that are under way have come.
type verifying struct {
	mu  sync.Mutex // guards all
	all []*progress
}

func (v *verifying) begin(total int) *progress {
	p := new(progress)
	p.total.Store(int64(total))
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, p)
	return p
}

func (v *verifying) end(p *progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, other := range v.all {
		if other == p {
			v.all = append(v.all[:i:i], v.all[i+1:]...)
			return
		}
	}
}

// VerifyProgress answers control.VerifyProgress.
func (n *Node) VerifyProgress(context.Context) (control.Progress, error) {
	n.verifying.mu.Lock()
	defer n.verifying.mu.Unlock()
	if len(n.verifying.all) == 0 {
		return control.Progress{}, nil
	}
	p := n.verifying.all[len(n.verifying.all)-1]
	total := int(p.total.Load())
	return control.Progress{Done: min(int(p.done.Load()), total), Total: total}, nil
}
