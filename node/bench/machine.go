package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Machine says on what a run was made, one thing in each line: the figures mean little without it.
func Machine(ctx context.Context, dir string) []string {
	system := fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if model := fieldOf("/proc/cpuinfo", "model name"); model != "" {
		system += ", " + model
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(load), " ")
		system += ", load " + first + " before"
	}
	return []string{"machine: " + system, "disk: " + describeDisk(dir), "git: " + gitVersion(ctx)}
}

func gitVersion(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, gitAsking)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.WaitDelay = gitLinger
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "does not answer"
	case err != nil:
		return "not installed: what is measured against it is left out"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
}

// fieldOf is the first value of a key in a file of lines "key : value".
func fieldOf(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func describeDisk(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	kind, device := diskOf(dir)
	text := dir
	if kind != "" {
		text += ", " + kind
	}
	if device != "" {
		text += " on " + device
	}
	if inMemory(kind) {
		text += ": in memory, so that fsync does nothing and the figures flatter; choose a disk with --dir"
	}
	return text
}

func inMemory(kind string) bool { return kind == "tmpfs" || kind == "ramfs" }

// DefaultDir is where a bench works if it is not told otherwise: the system's folder for temporary
// files or, if that is in memory, the user's cache folder.
func DefaultDir() string {
	temporary := os.TempDir()
	if kind, _ := diskOf(temporary); !inMemory(kind) {
		return temporary
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(cache); err == nil {
			return cache
		}
	}
	return temporary
}

// makeDir makes the folder of one run below dir.
func makeDir(dir string) (string, error) {
	if dir == "" {
		dir = DefaultDir()
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = os.MkdirTemp(dir, "parley-bench-")
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a folder to measure in: %w", err)
	}
	return dir, nil
}
