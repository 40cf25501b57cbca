package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

const (
	// joinAbove is how many packs may stand beside each other before the smaller
	// ones are joined.
	joinAbove = 8
	// joinFactor is how many times larger than all smaller ones together a pack
	// must be to be left alone: so an object is copied a few times in its life.
	joinFactor = 2
	// joinFloor is what a smaller pack counts as: tiny ones are all alike.
	joinFloor = 1 << 20
	// joinBytes and joinObjects bound a joined pack, and the memory that it takes
	// to make one: about 100 bytes an object.
	joinBytes   = 1 << 30
	joinObjects = 1 << 20
	// maxBehind is how many packs may be sealed while a join is under way; after
	// that the rolling pack grows beyond its size, but not beyond growBytes.
	maxBehind = 10
	growBytes = 64 << 20
	// joinRetry is how long nothing is joined after a failure.
	joinRetry = 30 * time.Second
	// tendApart is the least time between two looks for packs of other programs.
	tendApart = 200 * time.Millisecond
)

// joins is what a store knows of the joining of its packs.
type joins struct {
	running *joining        // nil while none is
	sealed  int             // packs since it began
	tended  time.Time       // when the pack folder was last looked at for it
	counted time.Time       // when loose objects were last counted
	resume  time.Time       // after a failure
	unfit   map[string]bool // packs that cannot be joined
}

// joining is a goroutine that joins packs; it ends when none are left to join, or
// by cancel.
type joining struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// mustWait says that sealing the rolling pack must wait for a join. The caller
// holds writing.
func (s *Store) mustWait() bool {
	return s.running != nil && s.sealed >= maxBehind && len(s.rolling.body) < growBytes
}

// tend begins to join packs if there are too many. It does not wait for it. The
// caller holds writing.
func (s *Store) tend() {
	s.tended = time.Now()
	if s.running != nil || s.tended.Before(s.resume) {
		return
	}
	sources, err := s.plan()
	if err != nil {
		s.noteJoinFailed(err)
	}
	loose := s.hasManyLoose()
	if len(sources) == 0 && !loose {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := &joining{cancel: cancel, done: make(chan struct{})}
	s.running, s.sealed = run, 0
	go func() {
		defer close(run.done)
		defer cancel()
		s.joinWhile(ctx, sources, loose)
	}()
}

// Join joins packs until there are few, and waits for it. It is for a repository
// that is worked on for a moment only; for others see Retire.
func (s *Store) Join(ctx context.Context) error {
	s.stopJoining()
	s.writing.Lock()
	sources, err := s.plan()
	for ; err == nil && len(sources) > 0; sources, err = s.plan() {
		s.writing.Unlock()
		err = s.join(ctx, sources)
		s.writing.Lock()
		if err != nil {
			break
		}
	}
	s.writing.Unlock()
	return err
}

// joinWhile gathers loose objects, and joins packs until there are few.
func (s *Store) joinWhile(ctx context.Context, sources []candidate, loose bool) {
	for {
		var err error
		if loose {
			err = s.gatherLoose(ctx)
		}
		if err == nil && len(sources) > 0 {
			err = s.join(ctx, sources)
		}
		loose = false
		s.writing.Lock()
		s.sealed = 0
		if broken := (*sourceError)(nil); errors.As(err, &broken) {
			s.setUnfit(broken)
			err = nil
		}
		if err == nil && ctx.Err() == nil {
			sources, err = s.plan()
		}
		if err != nil && ctx.Err() == nil {
			s.noteJoinFailed(err)
		}
		if err != nil || len(sources) == 0 || ctx.Err() != nil {
			s.running = nil
			s.writing.Unlock()
			return
		}
		s.writing.Unlock()
	}
}

func (s *Store) noteJoinFailed(err error) {
	s.resume = time.Now().Add(joinRetry)
	s.log.Warn().Err(err).Msg("packs and loose objects stay as they are for the moment")
}

// stopJoining ends a join that is under way and waits for its end. What it has
// written so far goes.
func (s *Store) stopJoining() {
	s.writing.Lock()
	run := s.running
	s.writing.Unlock()
	if run != nil {
		run.cancel()
		<-run.done
	}
}

// join makes one pack of several and retires them. The new one has its .keep from
// its beginning until those that it replaces are gone, for the reason that Install
// gives; the .keep names them, so that Repair can bring it to its end.
func (s *Store) join(ctx context.Context, sources []candidate) error {
	j, err := newJoiner(s, sources)
	if err != nil {
		return err
	}
	defer j.discard()
	if err := j.write(ctx); err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	base, err := j.place(ctx)
	if err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.packs.add(base); err != nil {
		return fmt.Errorf("cannot join %d packs: %w", len(sources), err)
	}
	s.kept[base] = true
	now := time.Now()
	for _, c := range sources {
		s.packs.replace(c.base)
		s.retired = append(s.retired, retired{base: c.base, since: now})
	}
	s.retired = append(s.retired, retired{base: base, since: now, stays: true})
	return s.removeRetired(now.Add(-retireAfter))
}

// setUnfit has a pack left out of all joins that follow: nothing is lost by it. The
// caller holds writing.
func (s *Store) setUnfit(broken *sourceError) {
	if errors.Is(broken, fs.ErrNotExist) {
		return // a gc was faster
	}
	s.log.Warn().Err(broken).Msg("a pack cannot be joined with others")
	if s.unfit == nil {
		s.unfit = map[string]bool{}
	}
	s.unfit[broken.base] = true
}
