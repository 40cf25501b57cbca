package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

func diskMeasure() Measure {
	return Measure{
		Name: "disk", What: "messages come one per commit, in one channel on one day", take: takeDisk,
		Figures: []Spec{
			{Name: "idle_p50", Unit: "ms", What: "nothing else to do, from stored to recorded: median", Better: Lower,
				Beside: `one "git add" and "git commit"`},
			{Name: "idle_p99", Unit: "ms", What: "nothing else to do, from stored to recorded: 99 of 100 take no longer", Better: Lower,
				Beside: `one "git add" and "git commit"`, Aim: 100, AimOn: OnValue},
			{Name: "disk_per_message", Unit: "bytes", What: "size of the record per message, each in a commit of its own", Better: Lower,
				Beside: `a copy after "git gc --prune=now"`, Aim: 3, AimOn: OnRatio, Full: true},
			{Name: "packs_most", Unit: "", What: "most packs in the record at any time", Better: Lower,
				Aim: 50, AimOn: OnValue, Full: true},
		},
	}
}

func takeDisk(ctx context.Context, s *stand) (_ readings, err error) {
	recorded := make(chan struct{}, 1)
	r, err := s.newRecord(ctx, func([]protocol.Path) { recorded <- struct{}{} })
	if err != nil {
		return nil, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, r.close())
		}
	}()
	letters, err := s.lettersOfADay(ctx, r.ID(), s.count(10_000, 200))
	if err != nil {
		return nil, err
	}
	repo := s.path("home/record.git")
	paced, err := s.commitEach(ctx, r, repo, letters, recorded)
	if err != nil {
		return nil, err
	}
	closed = true
	if err := r.close(); err != nil {
		return nil, err
	}
	size, err := sizeOf(repo)
	if err != nil {
		return nil, err
	}
	taken := readings{"packs_most": {value: float64(paced.packs)}}
	commit, err := s.tools.commitTime(ctx)
	var noGit skipped
	if err != nil && !errors.As(err, &noGit) {
		return nil, err
	}
	taken["idle_p50"] = reading{value: milliseconds(percentile(paced.lags, 50)), yardstick: milliseconds(commit)}
	taken["idle_p99"] = reading{value: milliseconds(percentile(paced.lags, 99)), yardstick: milliseconds(commit)}
	perMessage := reading{value: float64(size) / float64(len(letters))}
	if noGit == "" {
		small, err := s.sizeAfterGC(ctx, repo)
		if err != nil {
			return nil, err
		}
		perMessage.yardstick = float64(small) / float64(len(letters))
	}
	taken["disk_per_message"] = perMessage
	return taken, nil
}

// paced is what is seen while messages come one per commit.
type paced struct {
	lags  []time.Duration
	packs int // most at any time
}

// commitEach stores each letter when the one before is recorded, so that each has
// a commit of its own.
func (s *stand) commitEach(ctx context.Context, r *openRecord, repo string, letters []gitsync.Letter, recorded <-chan struct{}) (paced, error) {
	var seen paced
	for i, l := range letters {
		if err := r.Append(ctx, []gitsync.Letter{l}); err != nil {
			return seen, err
		}
		stored := time.Now()
		select {
		case <-recorded:
		case <-ctx.Done():
			return seen, context.Cause(ctx)
		case <-time.After(patience):
			return seen, fmt.Errorf("waited %s in vain until a message was recorded", patience)
		}
		seen.lags = append(seen.lags, time.Since(stored))
		if i%20 == 0 {
			s.progress("one commit per message", i, len(letters))
			packs, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.pack"))
			if err != nil {
				return seen, fmt.Errorf("cannot count the packs: %w", err)
			}
			seen.packs = max(seen.packs, len(packs))
		}
	}
	return seen, nil
}

// sizeOf adds up the files below a folder.
func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("cannot add up the size of %s: %w", dir, err)
	}
	return size, nil
}

// sizeAfterGC is what the git program makes of a copy of a repository.
func (s *stand) sizeAfterGC(ctx context.Context, repo string) (int64, error) {
	s.progress(`"git gc" on a copy`, 0, 0)
	copied := s.path("copy.git")
	if err := os.CopyFS(copied, os.DirFS(repo)); err != nil {
		return 0, fmt.Errorf("cannot copy the record: %w", err)
	}
	kept, err := filepath.Glob(filepath.Join(copied, "objects", "pack", "*.keep"))
	if err != nil {
		return 0, fmt.Errorf("cannot look for packs: %w", err)
	}
	for _, keep := range kept {
		if err := os.Remove(keep); err != nil {
			return 0, fmt.Errorf("cannot let git have a pack: %w", err)
		}
	}
	if _, err := s.tools.run(ctx, copied, "gc", "--quiet", "--prune=now"); err != nil {
		return 0, err
	}
	return sizeOf(copied)
}
