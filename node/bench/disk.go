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
			{Name: "disk_vs_fresh", Unit: "bytes", What: "disk_per_message, beside what git makes of it when it searches all deltas anew", Better: Lower,
				Beside: `a copy after "git repack -a -d -f"`},
			{Name: "packs_most", Unit: "", What: "most packs in the record at any time", Better: Lower,
				Beside: `a copy after "git gc --prune=now"`, Aim: 50, AimOn: OnValue, Full: true},
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
	left, err := contentOf(repo)
	if err != nil {
		return nil, err
	}
	var noGit skipped
	commit, err := s.tools.commitTime(ctx)
	if err != nil && !errors.As(err, &noGit) {
		return nil, err
	}
	var small, fresh content
	if noGit == "" {
		if small, err = s.repacked(ctx, repo, "gc", "--quiet", "--prune=now"); err != nil {
			return nil, err
		}
		if fresh, err = s.repacked(ctx, repo, "repack", "--quiet", "-a", "-d", "-f"); err != nil {
			return nil, err
		}
	}
	n, beside := float64(len(letters)), milliseconds(commit)
	return readings{
		"idle_p50":         {value: milliseconds(percentile(paced.lags, 50)), yardstick: beside},
		"idle_p99":         {value: milliseconds(percentile(paced.lags, 99)), yardstick: beside},
		"disk_per_message": {value: float64(left.bytes) / n, yardstick: float64(small.bytes) / n},
		"disk_vs_fresh":    {value: float64(left.bytes) / n, yardstick: float64(fresh.bytes) / n},
		"packs_most":       {value: float64(paced.packs), yardstick: float64(small.packs)},
	}, nil
}

// paced is what is measured while messages come one in each commit.
type paced struct {
	lags  []time.Duration
	packs int // the most at any time
}

// commitEach stores each letter when the one before it is recorded. So each letter has a commit of
// its own.
func (s *stand) commitEach(ctx context.Context, r *openRecord, repo string, letters []gitsync.MessageFile, recorded <-chan struct{}) (paced, error) {
	var seen paced
	for i, l := range letters {
		if err := r.Append(ctx, []gitsync.MessageFile{l}); err != nil {
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

// content is what a repository takes on disk.
type content struct {
	bytes int64
	packs int
}

func contentOf(repo string) (content, error) {
	var c content
	err := filepath.WalkDir(repo, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		c.bytes += info.Size()
		if filepath.Ext(path) == ".pack" {
			c.packs++
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("cannot add up the size of %s: %w", repo, err)
	}
	return c, nil
}

// repacked is what a command of the git program makes of a copy of a repository.
func (s *stand) repacked(ctx context.Context, repo string, command ...string) (_ content, err error) {
	s.progress(fmt.Sprintf(`"git %s" on a copy`, command[0]), 0, 0)
	copied := s.path("copy.git")
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := os.CopyFS(copied, os.DirFS(repo)); err != nil {
		return content{}, fmt.Errorf("cannot copy the record: %w", err)
	}
	kept, err := filepath.Glob(filepath.Join(copied, "objects", "pack", "*.keep"))
	if err != nil {
		return content{}, fmt.Errorf("cannot look for packs: %w", err)
	}
	for _, keep := range kept {
		if err := os.Remove(keep); err != nil {
			return content{}, fmt.Errorf("cannot let git have a pack: %w", err)
		}
	}
	if _, err := s.tools.run(ctx, copied, command...); err != nil {
		return content{}, err
	}
	return contentOf(copied)
}
