package gitsync

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

const testChannel = protocol.ChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")

// testPath returns the n-th path of a writer. The paths of one writer rise.
func testPath(writer, n int) protocol.Path {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC).Add(time.Duration(n) * time.Millisecond)
	return protocol.NewPath(testChannel, at, uint32(writer)<<24|uint32(n)&0xffffff)
}

func testMessage(writer, n int) MessageFile {
	p := testPath(writer, n)
	return MessageFile{Path: p, Data: fmt.Appendf(nil, "---\nfrom: w%d\n---\n\nmessage %d\n", writer, n)}
}

func rootFiles() map[string][]byte {
	return map[string][]byte{
		"upstream/CROSSTALK-VERSION": []byte("5.0\n"),
		"data/channels/.gitkeep":     nil,
		"README.md":                  []byte("a record\n"),
	}
}

// gitOut runs the git program as an operator would.
func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return gitInput(t, dir, "", args...)
}

func gitInput(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(ownEnvironment(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=operator", "GIT_AUTHOR_EMAIL=o@example.org",
		"GIT_COMMITTER_NAME=operator", "GIT_COMMITTER_EMAIL=o@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// ownEnvironment returns the environment of this process. It leaves out what points git at another
// repository, and what lets git speak another language.
func ownEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GIT_") })
	return append(env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

func bareRemote(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	gitOut(t, t.TempDir(), "init", "--quiet", "--bare", "--template=", "--initial-branch=main", dir)
	return dir
}

// seen collects events.
type seen struct {
	mu               sync.Mutex // guards the fields below
	arrived          []string
	files            []string
	recorded, pushed []string
	inside           int
	overlapped       bool
}

func (s *seen) events() Events {
	note := func(add func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.inside++; s.inside > 1 {
			s.overlapped = true
		}
		add()
		s.inside--
	}
	paths := func(to *[]string) func([]protocol.Path) {
		return func(ps []protocol.Path) {
			note(func() {
				for _, p := range ps {
					*to = append(*to, p.String())
				}
			})
		}
	}
	return Events{
		Arrived: func(messages []MessageFile) {
			note(func() {
				for _, l := range messages {
					s.arrived = append(s.arrived, l.Path.String())
				}
			})
		},
		Files:    func(files []string) { note(func() { s.files = append(s.files, files...) }) },
		Recorded: paths(&s.recorded),
		Pushed:   paths(&s.pushed),
	}
}

func (s *seen) get(list *[]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*list)
}

// home is one node's record in a test.
type home struct {
	*Record
	opts Options
	seen *seen
	log  *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// isBuiltin reports whether a test runs without the git program as the carrier, as a part of
// TestBuiltinCarrier.
func isBuiltin(t testing.TB) bool { return strings.Contains(t.Name(), "/builtin") }

func newHome(t *testing.T, name, remote string) *home {
	t.Helper()
	h := &home{log: &safeBuffer{}}
	h.opts = Options{
		Dir: filepath.Join(t.TempDir(), name), Remote: remote,
		Author: Author{Name: name, Email: name + "@example.org"},
		Log:    zerolog.New(h.log), Builtin: isBuiltin(t),
	}
	if _, err := Init(t.Context(), h.opts, rootFiles); err != nil {
		t.Fatal(err)
	}
	h.open(t)
	t.Cleanup(func() { h.close(t) })
	return h
}

func (h *home) open(t *testing.T) {
	t.Helper()
	h.seen = &seen{}
	h.opts.Events = h.seen.events()
	r, err := Open(t.Context(), h.opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Record = r
}

func (h *home) close(t *testing.T) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func (h *home) repo() string { return filepath.Join(h.opts.Dir, repoName) }

func (h *home) append(t *testing.T, messages ...MessageFile) {
	t.Helper()
	if err := h.Append(t.Context(), messages); err != nil {
		t.Fatal(err)
	}
}

func (h *home) sync(t *testing.T) {
	t.Helper()
	if err := h.Sync(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, h.log)
	}
}

// run starts Run and returns a function that stops it.
func (h *home) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// messages lists the messages of a commit as the git program sees them.
func messages(t *testing.T, repo, commit string) []string {
	t.Helper()
	var out []string
	for _, line := range strings.Split(gitOut(t, repo, "ls-tree", "-r", "--name-only", commit), "\n") {
		if p, ok := messagePath(line); ok {
			out = append(out, p.String())
		}
	}
	return out
}

func paths(messages ...MessageFile) []string {
	var out []string
	for _, l := range messages {
		out = append(out, l.Path.String())
	}
	return out
}

func wantSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantClean lets the git program check a repository and clone it.
func wantClean(t *testing.T, repo string) {
	t.Helper()
	gitOut(t, repo, "fsck", "--strict", "--no-dangling")
	clone := filepath.Join(t.TempDir(), "clone")
	gitOut(t, t.TempDir(), "clone", "--quiet", "--bare", "--no-local", repo, clone)
	if got, want := gitOut(t, clone, "rev-parse", "HEAD"), gitOut(t, repo, "rev-parse", "main"); got != want {
		t.Errorf("a clone has %s, main is %s", got, want)
	}
}

// eventually waits for something that goroutines bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(scratch.Patience())
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", scratch.Patience(), what)
		}
	}
}
