package gitsync

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const crashHome = "PARLEY_TEST_CRASH_HOME"

// TestMain turns the test binary into the child that is killed.
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
	os.Exit(m.Run())
}

func crashOptions(dir, remote string) Options {
	return Options{Dir: dir, Remote: remote, Author: Author{Name: "a", Email: "a@example.org"}, PushInterval: 10 * time.Millisecond,
		Builtin: os.Getenv(crashBuiltin) != ""}
}

// crashBuiltin, set in the environment, has the killed process do without the git
// program.
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
				l := Letter{Path: protocol.NewPath(testChannel, at, run), Data: fmt.Appendf(nil, "%d %d\n", w, n)}
				l2 := Letter{Path: protocol.NewPath(testChannel, at, run+1), Data: l.Data}
				if err := r.Append(ctx, []Letter{l, l2}); err != nil {
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

// TestKillLosesNothing kills a node at random moments. It prevents: an answer
// "stored" for what is not there after a crash.
func TestKillLosesNothing(t *testing.T) {
	rounds := 20
	if os.Getenv("PARLEY_SOAK") != "" {
		rounds = 400
	} else if testing.Short() {
		rounds = 5
	}
	for _, c := range []struct {
		name   string
		remote string
	}{{"alone", ""}, {"shared", bareRemote(t)}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a")
			if _, err := Init(t.Context(), crashOptions(dir, c.remote), rootFiles); err != nil {
				t.Fatal(err)
			}
			var acknowledged []string
			for range rounds / 2 {
				acknowledged = append(acknowledged, killOnce(t, dir, c.remote)...)
			}
			r, err := Open(t.Context(), crashOptions(dir, c.remote))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			if err := r.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			repo := filepath.Join(dir, repoName)
			if c.remote != "" {
				repo = c.remote
			}
			have := map[string]int{}
			for _, p := range messages(t, repo, "main") {
				have[p]++
			}
			for _, p := range acknowledged {
				if have[p] != 1 {
					t.Errorf("%s was acknowledged and is in the record %d times", p, have[p])
				}
			}
			t.Logf("%d acknowledged, %d in the record", len(acknowledged), len(have))
			if conflicts := gitOut(t, repo, "ls-tree", "--name-only", "main", conflictsPrefix); conflicts != "" {
				t.Errorf("the same letter has two contents: %s", conflicts)
			}
			if len(acknowledged) == 0 {
				t.Error("no child acknowledged anything")
			}
			wantClean(t, repo)
		})
	}
}

func killOnce(t *testing.T, dir, remote string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashHome+"="+dir, "PARLEY_TEST_CRASH_REMOTE="+remote)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var paths []string
	killed := false
	for lines.Scan() {
		paths = append(paths, strings.TrimSpace(lines.Text()))
		if !killed {
			killed = true
			after := time.Duration(rand.IntN(60)) * time.Millisecond
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || !killed {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return paths
}
