package objects

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

const crashRepo = "PARLEY_TEST_CRASH_REPO"

// TestMain turns the test binary into the child that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(crashRepo); dir != "" {
		if err := crashChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(scratch.InMemory(m).Run())
}

// crashChild commits, seals and joins without end. It prints each commit once main names it.
func crashChild(dir string) error {
	s, err := Open(dir, zerolog.Nop())
	if err != nil {
		return err
	}
	if _, err := s.Repair("refs/heads/main"); err != nil {
		return err
	}
	for n := 0; ; n++ {
		tip, _, err := s.Ref("refs/heads/main")
		if err != nil {
			return err
		}
		tree, err := s.TreeOf(tip)
		if err != nil {
			return err
		}
		var b Builder
		text := fmt.Appendf(nil, "%d of %d\n", n, os.Getpid())
		if tree, err = s.Update(tree, map[string]Change{"data/" + strconv.Itoa(rand.IntN(100_000)): {Hash: b.Blob(text)}}, &b); err != nil {
			return err
		}
		c := Commit{Tree: tree, Author: Identity{"a", "b"}, Committer: Identity{"a", "b"}, When: time.Now(), Message: string(text)}
		if tip != Zero {
			c.Parents = []Hash{tip}
		}
		next := b.Commit(c)
		if err := errors.Join(s.Install(&b), s.MoveRef("refs/heads/main", tip, next)); err != nil {
			return err
		}
		fmt.Println(next)
		if n%2 == 1 {
			if err := errors.Join(s.Seal(), s.Join(context.Background())); err != nil {
				return err
			}
		}
	}
}

// TestKillDuringJoins kills a process at random moments. The process does little else than joining.
// It prevents: an object that a crash between the packs loses.
func TestKillDuringJoins(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	rounds := 20
	if os.Getenv("PARLEY_SOAK") != "" {
		rounds = 150
	}
	s := newStore(t)
	var all []string
	for range rounds {
		all = append(all, killDuringJoins(t, s.dir)...)
		git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
		if rand.IntN(3) == 0 {
			git(t, s.dir, "", "repack", "-adq")
		}
	}
	again, err := Open(s.dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Repair("refs/heads/main"); err != nil {
		t.Fatal(err)
	}
	tip, _, err := again.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	commits, err := again.Only(tip, Zero)
	if err != nil {
		t.Fatal(err)
	}
	there := map[Hash]bool{}
	for _, h := range commits {
		there[h] = true
	}
	for _, h := range all {
		if !there[plumbing.NewHash(h)] {
			t.Errorf("commit %s is lost", h)
		}
	}
	t.Logf("%d commits were named", len(all))
	git(t, s.dir, "", "fsck", "--strict", "--no-dangling")
	if left, err := filepath.Glob(filepath.Join(string(s.folder), "tmp_*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	if packs := s.files(t, ".pack"); len(packs) > 3*joinAbove {
		t.Errorf("%d packs", len(packs))
	}
}

func killDuringJoins(t *testing.T, dir string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashRepo+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var named []string
	least := 10 + rand.IntN(20)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		named = append(named, strings.TrimSpace(lines.Text()))
		if len(named) == least {
			time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || len(named) < least {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return named
}
