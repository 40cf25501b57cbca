package record

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
)

// progress is how far a long task has come.
type progress struct{ done, total atomic.Int64 }

func (p *progress) step(n int) { p.done.Add(int64(n)) }

// Audits are the audits of the whole record that are under way.
type Audits struct {
	Record *gitsync.Record
	Folded folded.State
	Now    func() time.Time

	mu  sync.Mutex // guards all
	all []*progress
}

// Verify answers control.Verify.
func (as *Audits) Verify(ctx context.Context) (control.Verification, error) {
	a := &audit{record: as.Record, folded: as.Folded, now: as.Now}
	total := as.Record.Objects()
	as.Folded(func(s *fleet.State) {
		a.state = s
		total += s.Ledger.Len()
	})
	a.far = as.begin(total)
	defer as.end(a.far)
	err := a.run(ctx)
	return a.found, err
}

func (as *Audits) begin(total int) *progress {
	p := new(progress)
	p.total.Store(int64(total))
	as.mu.Lock()
	defer as.mu.Unlock()
	as.all = append(as.all, p)
	return p
}

func (as *Audits) end(p *progress) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if i := slices.Index(as.all, p); i >= 0 {
		as.all = slices.Delete(as.all, i, i+1)
	}
}

// VerifyProgress answers control.VerifyProgress.
func (as *Audits) VerifyProgress(context.Context) (control.Progress, error) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if len(as.all) == 0 {
		return control.Progress{}, nil
	}
	p := as.all[len(as.all)-1]
	total := int(p.total.Load())
	return control.Progress{Done: min(int(p.done.Load()), total), Total: total}, nil
}
