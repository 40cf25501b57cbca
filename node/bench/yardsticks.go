package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync"
)

// tools are the yardsticks: the bare disk and the git program. What takes long is measured only
// once in a run.
type tools struct {
	dir   string
	quick bool
	git   string // path of the git program; "" where there is none

	commit, push time.Duration // of one message, by the git program; 0: not measured yet
}

// toolsOf are the tools of this machine. They work in `dir`.
func toolsOf(dir string, quick bool) *tools {
	git, _ := exec.LookPath("git") // if it is missing, the measures say so
	return &tools{dir: dir, quick: quick, git: git}
}

// bareFile is the least that makes a message durable: a file to which it is appended, and fsync.
type bareFile struct{ file *os.File }

func openBare(path string) (bareFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return bareFile{}, fmt.Errorf("cannot make a file to measure with: %w", err)
	}
	return bareFile{f}, nil
}

func (b bareFile) append(data []byte) error {
	if _, err := b.file.Write(data); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	if err := b.file.Sync(); err != nil {
		return fmt.Errorf("cannot sync: %w", err)
	}
	return nil
}

func (b bareFile) close() error { return b.file.Close() }

const (
	// gitAsking is how long the git program may take to say which one it is.
	gitAsking = 5 * time.Second
	// gitLinger is how long its helpers may keep its output open after it has ended.
	gitLinger = time.Second
)

// run is the git program in a folder, without the user's own settings.
func (t *tools) run(ctx context.Context, dir string, args ...string) (string, error) {
	if t.git == "" {
		return "", skipped("the git program is not installed")
	}
	cmd := exec.CommandContext(ctx, t.git, args...)
	cmd.Dir = dir
	cmd.WaitDelay = gitLinger
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// commitTime is the median time of "git add" and "git commit" for one message.
func (t *tools) commitTime(ctx context.Context) (time.Duration, error) {
	if t.commit == 0 {
		if err := t.measureGit(ctx); err != nil {
			return 0, err
		}
	}
	return t.commit, nil
}

// pushTime is the median time of these two and of "git push" to a bare repository on the same disk.
func (t *tools) pushTime(ctx context.Context) (time.Duration, error) {
	_, err := t.commitTime(ctx)
	return t.push, err
}

// measureGit keeps messages as a script would, with nothing but the git program.
func (t *tools) measureGit(ctx context.Context) error {
	if t.git == "" {
		return skipped("the git program is not installed")
	}
	work := filepath.Join(t.dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	commits, pushes := 200, 20
	if t.quick {
		commits, pushes = 40, 5
	}
	letters, err := (&stand{}).lettersOfADay(ctx, "bench", commits+pushes)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"init", "--quiet", "--bare", "../remote.git"}, {"remote", "add", "origin", "../remote.git"}} {
		if _, err := t.run(ctx, work, args...); err != nil {
			return err
		}
	}
	var committing, pushing []time.Duration
	for i, l := range letters {
		began := time.Now()
		if err := t.commitOne(ctx, work, l); err != nil {
			return err
		}
		if i < commits {
			committing = append(committing, time.Since(began))
			continue
		}
		if _, err := t.run(ctx, work, "push", "--quiet", "origin", "HEAD:main"); err != nil {
			return err
		}
		pushing = append(pushing, time.Since(began))
	}
	t.commit, t.push = percentile(committing, 50), percentile(pushing, 50)
	return nil
}

func (t *tools) commitOne(ctx context.Context, work string, l gitsync.MessageFile) error {
	file := filepath.Join(work, filepath.FromSlash(l.Path.RepoPath()))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	if err := os.WriteFile(file, l.Data, 0o600); err != nil {
		return fmt.Errorf("cannot write a message: %w", err)
	}
	if _, err := t.run(ctx, work, "add", l.Path.RepoPath()); err != nil {
		return err
	}
	_, err := t.run(ctx, work, "commit", "--quiet", "-m", "one message")
	return err
}

// percentile is the nearest rank: the smallest of the times that p percent of them do not exceed.
// It sorts `times`.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	rank := (len(times)*p + 99) / 100
	return times[max(0, rank-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// perSecond is how many of `n` things are done in a second.
func perSecond(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
