package gitsync

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

const crashHome = "PARLEY_TEST_CRASH_HOME"

// TestMain turns the test binary into the child that is killed, if the environment names a home for
// it. Otherwise the tests run, and keep what they mount to themselves. Most of the time they wait for
// git, so twice as many run at a time as there are processors, unless -parallel says otherwise, or
// the race detector keeps the processors busy.
func TestMain(m *testing.M) {
	for variable, child := range map[string]func(string) error{crashHome: crashChild, stepsHome: stepsChild} {
		dir := os.Getenv(variable)
		if dir == "" {
			continue
		}
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	ownMounts()
	if !scratch.Raced {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(scratch.InMemory(m).Run())
}

func crashOptions(dir, remote string) Options {
	return Options{Dir: dir, Remote: remote, Author: Author{Name: "a", Email: "a@example.org"}, PushInterval: 10 * time.Millisecond,
		Builtin: os.Getenv(crashBuiltin) != ""}
}

// crashBuiltin is a variable of the environment. If it is set, the killed process does without the
// git program.
const crashBuiltin = "PARLEY_TEST_CRASH_BUILTIN"

// crashChild appends without end and prints each path that was acknowledged.
func crashChild(dir string) error {
	ctx := context.Background()
	r, err := Open(ctx, crashOptions(dir, os.Getenv("PARLEY_TEST_CRASH_REMOTE")))
	if err != nil {
		return err
	}
	var out sync.Mutex
	go func() { _ = r.Run(ctx) }()
	start := time.Now()
	var writers sync.WaitGroup
	for w := range 4 {
		run := rand.Uint32()
		writers.Go(func() {
			for n := 0; ; n++ {
				at := start.Add(time.Duration(n) * time.Millisecond)
				l := MessageFile{Path: protocol.NewPath(testChannel, at, run), Data: fmt.Appendf(nil, "%d %d\n", w, n)}
				l2 := MessageFile{Path: protocol.NewPath(testChannel, at, run+1), Data: l.Data}
				if err := r.Append(ctx, []MessageFile{l, l2}); err != nil {
					return
				}
				out.Lock()
				fmt.Println(l.Path)
				fmt.Println(l2.Path)
				out.Unlock()
			}
		})
	}
	writers.Wait()
	return nil
}

// kills returns how often processes are killed in all: as often as PARLEY_SOAK says, or else
// `least` times if tests that take long are asked for, or else half as often.
func kills(t *testing.T, least int) int {
	t.Helper()
	text := os.Getenv("PARLEY_SOAK")
	n, err := strconv.Atoi(text)
	switch {
	case text != "" && err != nil:
		t.Fatalf("PARLEY_SOAK=%q is not a number of rounds", text)
	case text != "":
		return n
	}
	return scratch.Rounds(least/2, least)
}

// TestKillLosesNothing kills a node at random moments, also while it starts. In two cases the git
// program works in the record meanwhile. It prevents: an answer "stored" for a message that is not
// there after a crash, and a commit of an operator that is gone.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	killLosesNothing(t)
}

func killLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		remote string
		raced  bool
	}{{"alone", "", false}, {"shared", bareRemote(t), false}, {"raced", "", true}, {"shared and raced", bareRemote(t), true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := crashed{dir: filepath.Join(t.TempDir(), "a"), remote: c.remote}
			if _, err := Init(t.Context(), crashOptions(k.dir, c.remote), rootFiles); err != nil {
				t.Fatal(err)
			}
			end := func() []string { return nil }
			if c.raced {
				end = race(t, filepath.Join(k.dir, repoName)).end
			}
			for round := range kills(t, 24) / 4 {
				k.killOnce(t, round%3 == 2)
			}
			k.acknowledged = append(k.acknowledged, end()...)
			k.check(t)
		})
	}
}

// crashed is a home whose process is killed again and again.
type crashed struct {
	dir, remote  string
	acknowledged []string
	longest      time.Duration // from a start to the first acknowledged message
}

// check wants each acknowledged message once, where all can read it.
func (k *crashed) check(t *testing.T) {
	t.Helper()
	began := time.Now()
	r, err := Open(t.Context(), crashOptions(k.dir, k.remote))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	opened := time.Since(began)
	if err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(k.dir, repoName)
	if k.remote != "" {
		repo = k.remote
	}
	have := map[string]int{}
	for _, p := range messages(t, repo, "main") {
		have[p]++
	}
	for _, p := range k.acknowledged {
		if have[p] != 1 {
			t.Errorf("%s was acknowledged and is in the record %d times", p, have[p])
		}
	}
	t.Logf("%d acknowledged, %d in the record; opened in %s, the longest start to the first answer %s",
		len(k.acknowledged), len(have), opened, k.longest)
	if conflicts := gitOut(t, repo, "ls-tree", "--name-only", "main", conflictsPrefix); conflicts != "" {
		t.Errorf("the same message has two contents: %s", conflicts)
	}
	if len(k.acknowledged) == 0 {
		t.Error("no child acknowledged anything")
	}
	wantClean(t, repo)
}

// environ lets the child work in the home that is crashed.
func (k *crashed) environ() []string {
	return []string{crashHome + "=" + k.dir, "PARLEY_TEST_CRASH_REMOTE=" + k.remote}
}

// startChild starts this test binary. By `env` it is the child and runs no tests. What the child
// prints is read from `out`.
func startChild(t *testing.T, env ...string) (cmd *exec.Cmd, out io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// killOnce starts the child and kills it after its first answer, or soon after its
// start.
func (k *crashed) killOnce(t *testing.T, early bool) {
	t.Helper()
	began := time.Now()
	cmd, out := startChild(t, k.environ()...)
	kill := func(within time.Duration) {
		time.AfterFunc(rand.N(within), func() { _ = cmd.Process.Kill() })
	}
	if early {
		kill(80 * time.Millisecond)
	}
	answered := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		k.acknowledged = append(k.acknowledged, strings.TrimSpace(lines.Text()))
		if answered {
			continue
		}
		answered = true
		k.longest = max(k.longest, time.Since(began))
		if !early {
			kill(60 * time.Millisecond)
		}
	}
	if err := cmd.Wait(); err == nil || !answered && !early {
		t.Fatalf("the child ended by itself: %v", err)
	}
}
