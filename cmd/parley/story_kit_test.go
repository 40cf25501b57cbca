package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// storyHost is one host of a story told in Go: a home, and the process of its node while that runs.
type storyHost struct {
	t       testing.TB
	home    configs.Home
	inside  []string // words that run a program on its machine; none: on this one
	program string   // of parley; "": this test binary (TestMain)
	env     []string // more of the environment of its processes
	client  *control.Client
	up      *exec.Cmd     // nil while no node runs
	ended   chan struct{} // closed when up has ended
	output  *firstWord    // of up
}

// firstWord keeps what a process prints, and tells when the process begins to print.
type firstWord struct {
	text bytes.Buffer // read after the process has ended
	once sync.Once
	came chan struct{} // closed at the first output
}

// Write keeps data. The process's own goroutine calls it, one call at a time.
func (w *firstWord) Write(data []byte) (int, error) {
	w.once.Do(func() { close(w.came) })
	return w.text.Write(data)
}

// newStoryHost makes a home of its own with "parley init".
func newStoryHost(t testing.TB, alias string, flags ...string) *storyHost {
	t.Helper()
	return newStoryHostInside(t, nil, append([]string{"init", "--alias", alias, "--human", "nat"}, flags...)...)
}

// newStoryHostInside makes a home with these words of parley on a machine.
func newStoryHostInside(t testing.TB, inside []string, words ...string) *storyHost {
	t.Helper()
	h := emptyStoryHost(t)
	h.inside = inside
	h.must(words...)
	return h
}

// emptyStoryHost returns a host whose home is still to be made.
func emptyStoryHost(t testing.TB) *storyHost {
	t.Helper()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	h := &storyHost{t: t, home: home, client: control.NewClient(home.Socket(), cli.Version)}
	t.Cleanup(func() {
		h.kill()
		scratch.Clear(t, home.Dir) // the git of a killed node may still write into the shared repository
	})
	return h
}

// command returns parley with these words at this host.
func (h *storyHost) command(ctx context.Context, args ...string) *exec.Cmd {
	program := cmp.Or(h.program, "parley") // TestMain put it in PATH
	words := slices.Concat(h.inside, []string{program}, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = filepath.Dir(h.home.Dir) // agents keep files where they work
	cmd.Env = append(slices.Concat(os.Environ(), h.env), "PARLEY_HOME="+h.home.Dir, "PARLEY_AGENT=", "PARLEY_TOKEN=", "PARLEY_SOCKET=", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// try runs parley and returns what it printed.
func (h *storyHost) try(args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := h.command(h.t.Context(), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("parley %s: %w: %s%s", strings.Join(args, " "), err, stderr.String(), out)
	}
	return string(out), err
}

func (h *storyHost) must(args ...string) string {
	h.t.Helper()
	out, err := h.try(args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// start runs "parley up" and returns when the node says that it runs.
func (h *storyHost) start() {
	h.t.Helper()
	warnings := h.begin()
	select {
	case <-h.output.came:
	case <-h.ended:
		h.t.Fatalf("the node ended at once (%s): %s", h.up.ProcessState, warnings)
	case <-time.After(scratch.Patience()):
		h.t.Fatalf("the node does not say within %s that it runs", scratch.Patience())
	}
}

// begin runs "parley up". It returns the warnings of the node, which may be read once the node has
// ended.
func (h *storyHost) begin() (warnings *bytes.Buffer) {
	h.t.Helper()
	h.output, h.ended = &firstWord{came: make(chan struct{})}, make(chan struct{})
	h.up = h.command(context.Background(), "up")
	warnings = new(bytes.Buffer)
	h.up.Stdout, h.up.Stderr = h.output, warnings
	if err := h.up.Start(); err != nil {
		h.up = nil
		h.t.Fatal(err)
	}
	go func(up *exec.Cmd, ended chan<- struct{}) { // ends with the process
		_ = up.Wait() // ProcessState says how it ended
		close(ended)
	}(h.up, h.ended)
	return warnings
}

// stop runs "parley stop" and checks that the node ends well.
func (h *storyHost) stop() {
	h.t.Helper()
	h.must("stop")
	<-h.ended
	if !h.up.ProcessState.Success() {
		h.t.Errorf("the node ended with %s: %s", h.up.ProcessState, h.output.text.String())
	}
	h.up = nil
}

// kill ends the node with kill -9, if it runs.
func (h *storyHost) kill() {
	if h.up == nil {
		return
	}
	if err := h.up.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		h.t.Errorf("cannot kill the node: %v", err)
	}
	<-h.ended
	h.up = nil
}

// until asks again and again until so returns true. It fails after the time that scripts wait.
func (h *storyHost) until(what string, so func() bool) {
	h.t.Helper()
	for deadline, pause := time.Now().Add(scratch.Patience()), 10*time.Millisecond; !so(); pause = min(pause*3/2, 100*time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited %s in vain until %s", scratch.Patience(), what)
		}
		<-time.After(pause) // spares the processor only
	}
}

func (h *storyHost) status() control.Status {
	h.t.Helper()
	s, err := control.ShowStatus.Ask(h.t.Context(), h.client)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// log returns the whole record as "parley log --all --json" prints it.
func (h *storyHost) log() []control.Message {
	h.t.Helper()
	var all []control.Message
	dec := json.NewDecoder(strings.NewReader(h.must("log", "--all", "--json")))
	for dec.More() {
		var m control.Message
		if err := dec.Decode(&m); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// gitOut returns what the git program prints about a repository.
func gitOut(t testing.TB, repository string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// filesInGit returns the message files on main of a repository, read by git alone.
func filesInGit(t *testing.T, repository string) map[protocol.Path][]byte {
	t.Helper()
	names := strings.Fields(gitOut(t, repository, "ls-tree", "-r", "--name-only", "main", protocol.ChannelsDir+"/"))
	var asked strings.Builder
	var paths []protocol.Path
	for _, name := range names {
		p, err := protocol.ParsePath(name)
		if err != nil {
			continue // such as .gitkeep
		}
		paths = append(paths, p)
		fmt.Fprintf(&asked, "main:%s\n", name)
	}
	cmd := exec.CommandContext(t.Context(), "git", "-C", repository, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(asked.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git cat-file: %v", err)
	}
	files := map[protocol.Path][]byte{}
	for _, p := range paths {
		var id, kind string
		var size int
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		if _, err := fmt.Sscanf(string(head), "%s %s %d", &id, &kind, &size); err != nil {
			t.Fatalf("git cat-file says %q of %s", head, p)
		}
		files[p], out = rest[:size], rest[size+1:]
	}
	return files
}

// sharedRepository makes an empty bare repository.
func sharedRepository(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shared.git")
	gitOut(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return dir
}
