package entry

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// maxRefused bounds for how many hosts refusals are counted one by one. Refusals in the names of
// others are counted together.
const maxRefused = 64

// Refusals counts what was refused from the bus since the start, by the host on whose subjects it
// came. It is bounded, because anybody who sends garbage can send much.
type Refusals struct {
	log zerolog.Logger
	now func() time.Time

	mu sync.Mutex // guards by
	by map[protocol.Name]*control.BusRefusal
}

// NewRefusals has counted none.
func NewRefusals(log zerolog.Logger, now func() time.Time) *Refusals {
	return &Refusals{log: log, now: now, by: map[protocol.Name]*control.BusRefusal{}}
}

// Add counts a message that came on a subject of `from`. There is a warning for the first one of
// each host. The others are only shown in status.
func (r *Refusals) Add(from protocol.Name, p protocol.Path, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.by[from]
	if !ok && len(r.by) >= maxRefused {
		from = ""
		known, ok = r.by[from]
	}
	level := zerolog.DebugLevel
	if !ok {
		known, level = &control.BusRefusal{From: from}, zerolog.WarnLevel
		r.by[from] = known
	}
	known.Count++
	known.Last, known.At = p.String()+": "+why.Error(), r.now()
	r.log.WithLevel(level).Err(why).Stringer("from", from).Stringer("path", p).Msg("a message on the bus was refused")
}

// List is what was refused, by host.
func (r *Refusals) List() []control.BusRefusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []control.BusRefusal{}
	for _, known := range r.by {
		all = append(all, *known)
	}
	slices.SortFunc(all, func(a, b control.BusRefusal) int { return strings.Compare(a.From.String(), b.From.String()) })
	return all
}
