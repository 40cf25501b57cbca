package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

const (
	// joinAbove is how many packs there may be before the smaller ones are joined.
	joinAbove = 8
	// joinFactor is how many times larger a pack must be than all smaller packs together to be left
	// alone. So an object is copied only a few times in its life.
	joinFactor = 2
	// joinFloor is the size that a smaller pack counts as, so that tiny packs are all alike.
	joinFloor = 1 << 20
	// joinBytes and joinObjects bound a joined pack. They also bound the memory that it takes to
	// make one, which is about 100 bytes an object.
	joinBytes   = 1 << 30
	joinObjects = 1 << 20
	// maxBehind is how many packs may be sealed while a join is under way. After that the rolling
	// pack grows beyond its size, but not beyond growBytes.
	maxBehind = 10
	growBytes = 64 << 20
	// joinRetry is how long nothing is joined after a failure.
	joinRetry = 30 * time.Second
	// tendApart is the least time between two looks for packs of other programs.
	tendApart = 200 * time.Millisecond
)

// joins joins packs in the background. It also gathers loose objects if there are many.
type joins struct {
	packs *Writer
	loose *looseObjects
	trees *treeCache
	log   zerolog.Logger

	mu      sync.Mutex      // guards all below. The mu of packs is taken after it
	running *joining        // nil while no join runs
	sealed  int             // how many packs were sealed since the join began
	tended  time.Time       // when tend last looked at the pack folder
	counted time.Time       // when loose objects were last counted
	resume  time.Time       // after a failure, nothing is joined before this time
	unfit   map[string]bool // packs that cannot be joined
}

// joining is a goroutine that joins packs. It ends when no packs are left to join, or by cancel.
type joining struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// areBehind reports whether the rolling pack should not be sealed until a join has ended.
func (j *joins) areBehind() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running != nil && j.sealed >= maxBehind
}

// packSealed notes that there is one more pack, and begins a join if there are too many.
func (j *joins) packSealed() {
	j.mu.Lock()
	j.sealed++
	j.mu.Unlock()
	j.tend()
}

// areDue reports whether it is time to look for packs of other programs.
func (j *joins) areDue() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Since(j.tended) > tendApart
}

// tend begins to join packs and to gather loose objects if there are too many. It does not wait
// until that is done.
func (j *joins) tend() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tended = time.Now()
	if j.running != nil || j.tended.Before(j.resume) {
		return
	}
	sources, err := j.plan()
	if err != nil {
		j.noteFailed(err)
	}
	loose := j.hasManyLoose()
	if len(sources) == 0 && !loose {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := &joining{cancel: cancel, done: make(chan struct{})}
	j.running, j.sealed = run, 0
	go func() {
		defer close(run.done)
		defer cancel()
		j.work(ctx, sources, loose)
	}()
}

// plan returns the packs to be joined next, or none if there are few. The caller holds mu.
func (j *joins) plan() ([]candidate, error) {
	all, err := j.packs.candidates(j.unfit)
	return chooseJoin(all), err
}

// Join joins packs until there are few, and waits until that is done. It is for a repository that
// is worked on for a moment only. For others see Retire.
func (s *Store) Join(ctx context.Context) error {
	s.joins.stop()
	for {
		s.joins.mu.Lock()
		sources, err := s.joins.plan()
		s.joins.mu.Unlock()
		if err != nil || len(sources) == 0 {
			return err
		}
		if err := s.Writer.join(ctx, sources, nil); err != nil {
			return err
		}
	}
}

// work gathers loose objects if loose is set, and joins packs until there are few.
func (j *joins) work(ctx context.Context, sources []candidate, loose bool) {
	var err error
	if loose {
		err = j.gatherLoose(ctx)
	}
	for {
		if err == nil && len(sources) > 0 {
			err = j.packs.join(ctx, sources, nil)
		}
		if sources = j.next(ctx, err); len(sources) == 0 {
			return
		}
		err = nil
	}
}

// next returns the packs to join after a join that ended with err, which may be nil. If it returns
// none, no join is running any more.
func (j *joins) next(ctx context.Context, err error) []candidate {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sealed = 0
	if broken := (*sourceError)(nil); errors.As(err, &broken) {
		j.setUnfit(broken)
		err = nil
	}
	var sources []candidate
	if err == nil && ctx.Err() == nil {
		sources, err = j.plan()
	}
	if err != nil && ctx.Err() == nil {
		j.noteFailed(err)
	}
	if len(sources) == 0 {
		j.running = nil
	}
	return sources
}

func (j *joins) noteFailed(err error) {
	j.resume = time.Now().Add(joinRetry)
	j.log.Warn().Err(err).Msg("packs and loose objects stay as they are for the moment")
}

// stop cancels a join that is under way and waits for its end. What the join has written so far is
// removed.
func (j *joins) stop() {
	j.mu.Lock()
	run := j.running
	j.mu.Unlock()
	if run != nil {
		run.cancel()
		<-run.done
	}
}

// setUnfit leaves a pack out of all joins that follow. Nothing is lost by that. The caller holds
// mu.
func (j *joins) setUnfit(broken *sourceError) {
	if errors.Is(broken, fs.ErrNotExist) {
		return // a gc removed the pack first
	}
	j.log.Warn().Err(broken).Msg("a pack cannot be joined with others")
	if j.unfit == nil {
		j.unfit = map[string]bool{}
	}
	j.unfit[broken.base] = true
}

// join makes one pack of several and retires those. The new pack has its .keep from the beginning
// until the packs that it replaces are gone. The comment of Install gives the reason. The .keep
// names the replaced packs, so that Repair can bring the join to its end. `good` gives good copies of
// damaged objects. If it is not nil, something must be damaged that a copy mends.
func (w *Writer) join(ctx context.Context, sources []candidate, good pack.ReadFunc) error {
	j, err := newJoiner(w.folder, sources)
	if err != nil {
		return err
	}
	defer j.discard()
	j.good = good
	if err := j.write(ctx); err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	if good != nil && j.mended == 0 {
		if right, err := pack.WrongSum(sources[0].base + ".pack"); err == nil && right == nil {
			return errors.New("it was written so: its bytes have its own sums")
		}
	}
	base, err := j.place(ctx)
	if err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.packs.add(base); err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	w.kept[base] = true
	now := time.Now()
	for _, c := range sources {
		w.packs.replace(c.base)
		w.retired = append(w.retired, retired{base: c.base, since: now})
	}
	w.retired = append(w.retired, retired{base: base, since: now, stays: true})
	return w.removeRetired(now.Add(-retireAfter))
}

// candidate is a pack that may be joined with others.
type candidate struct {
	base     string
	size     int64
	objects  int64
	modified time.Time
}

func (c candidate) weight() int64 { return max(c.size, joinFloor) }

// chooseJoin returns the packs to be joined next, or none if there are few.
func chooseJoin(all []candidate) []candidate {
	if len(all) <= joinAbove {
		return nil
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.base, b.base))
	})
	n, weight, bytes, objects := 0, int64(0), int64(0), int64(0)
	for _, c := range all {
		bytes += c.size
		objects += c.objects
		if bytes > joinBytes || objects > joinObjects || n > 1 && c.weight() > joinFactor*weight {
			break
		}
		weight += c.weight()
		n++
	}
	if n < 2 {
		return nil
	}
	return all[:n]
}

// candidates returns the packs that may be joined. They are whole, not very large and not unfit.
// They are not about to be replaced, and no other program keeps them.
func (w *Writer) candidates(unfit map[string]bool) ([]candidate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entries, err := os.ReadDir(string(w.folder))
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name()] = true
	}
	passing := w.passing()
	var all []candidate
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		base := filepath.Join(string(w.folder), name)
		if !ok || !strings.HasPrefix(name, "pack-") || !there[name+".pack"] || passing[base] || w.packs.isDamaged(base) || unfit[base] {
			continue
		}
		// Packs of a partial clone stay apart, and so do packs of objects that a gc would drop.
		if there[name+".promisor"] || there[name+".mtimes"] || there[name+".keep"] && !w.kept[base] {
			continue
		}
		idx, err := e.Info()
		if err != nil {
			continue // it is being removed just now
		}
		info, err := os.Stat(base + ".pack")
		if err != nil {
			continue
		}
		c := candidate{base: base, size: info.Size(), objects: pack.CountOf(idx.Size()), modified: info.ModTime()}
		if c.size <= joinBytes/2 && c.objects <= joinObjects/2 {
			all = append(all, c)
		}
	}
	return all, nil
}
