package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sharedRepo is a bare repository that notes each push. So git counts them, and not parley.
type sharedRepo struct {
	tools *tools
	dir   string
}

// pushesDir has a file for each push. Its name has the commit that main became and the one that it
// was. Its time is the time of the push.
const (
	pushesDir = "pushes"
	pushHook  = "#!/bin/sh\nwhile read -r old new ref; do printf '%s' \"$old\" >\"" + pushesDir + "/$new\"; done\n"
)

func (s *stand) newShared(ctx context.Context) (*sharedRepo, error) {
	r := &sharedRepo{tools: s.tools, dir: s.path("shared.git")}
	if _, err := s.tools.run(ctx, s.dir, "init", "--quiet", "--bare", "--initial-branch=main", r.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "hooks"), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a shared repository: %w", err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, pushesDir), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a shared repository: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "hooks", "post-receive"), []byte(pushHook), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a shared repository: %w", err)
	}
	return r, nil
}

// pushed is one push that the repository took.
type pushed struct {
	at       time.Time
	old, new string
}

// pushes are all pushes so far, the oldest first.
func (r *sharedRepo) pushes() ([]pushed, error) {
	files, err := os.ReadDir(filepath.Join(r.dir, pushesDir))
	if err != nil {
		return nil, fmt.Errorf("cannot count the pushes: %w", err)
	}
	var all []pushed
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return nil, fmt.Errorf("cannot count the pushes: %w", err)
		}
		old, err := os.ReadFile(filepath.Join(r.dir, pushesDir, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("cannot count the pushes: %w", err)
		}
		all = append(all, pushed{at: info.ModTime(), old: string(old), new: f.Name()})
	}
	slices.SortFunc(all, func(a, b pushed) int { return a.at.Compare(b.at) })
	return all, nil
}

// files are the paths in main below data, as the git program lists them, with the number of times
// that each is there.
func (r *sharedRepo) files(ctx context.Context) (map[string]int, error) {
	out, err := r.tools.run(ctx, r.dir, "ls-tree", "-r", "-z", "--name-only", "main", "data/")
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for name := range strings.SplitSeq(out, "\x00") {
		found[name]++
	}
	delete(found, "")
	return found, nil
}

// arrivals are when each path first came with a push.
func (r *sharedRepo) arrivals(ctx context.Context) (map[string]time.Time, error) {
	all, err := r.pushes()
	if err != nil {
		return nil, err
	}
	came := map[string]time.Time{}
	for _, p := range all {
		if strings.Trim(p.old, "0") == "" {
			continue // main began
		}
		out, err := r.tools.run(ctx, r.dir, "diff-tree", "-r", "-z", "--name-only", "--diff-filter=A", p.old, p.new, "--", "data/")
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(out, "\x00") {
			if _, known := came[name]; !known {
				came[name] = p.at
			}
		}
	}
	return came, nil
}
