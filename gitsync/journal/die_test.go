//go:build failpoint

package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/failpoint"
)

const dieIn = "PARLEY_TEST_DIE_IN"

// TestMain turns the test binary into the child that dies.
func TestMain(m *testing.M) {
	if dir := os.Getenv(dieIn); dir != "" {
		if err := dieChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// dieChild goes through everything that a journal does. It prints what it was told is stored, and
// what it then says is done.
func dieChild(dir string) error {
	j, err := Open(dir, Options{SegmentBytes: 2000, CompactBytes: 4000})
	if err != nil {
		return err
	}
	for n := range 300 {
		ids, err := j.Append(context.Background(), []Entry{entry(n)})
		if err != nil {
			return err
		}
		fmt.Println("stored", n)
		if n%50 != 0 && n < 250 {
			fmt.Println("done", n)
			if err := j.Done(ids...); err != nil {
				return err
			}
		}
	}
	return j.Close()
}

// TestDieInTheJournal prevents that an acknowledged entry is lost when the process dies while
// segments are begun, compacted or removed.
func TestDieInTheJournal(t *testing.T) {
	for _, p := range failpoint.All() {
		if !strings.HasPrefix(string(p), "journal/") {
			continue
		}
		for n := 1; n <= 7; n += 2 {
			t.Run(fmt.Sprintf("%s %d", strings.TrimPrefix(string(p), "journal/"), n), func(t *testing.T) {
				dir := t.TempDir()
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), dieIn+"="+dir, fmt.Sprintf("%s=%s:%d", failpoint.Variable, p, n))
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err == nil && n == 1 {
					t.Fatal("the child never came there")
				}
				wantKept(t, dir, out)
			})
		}
	}
}

// wantKept wants every entry that was stored and is not done.
func wantKept(t *testing.T, dir string, said []byte) {
	t.Helper()
	kept := map[int]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		var word string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &word, &n); err != nil {
			t.Fatal(err)
		}
		kept[n] = word == "stored"
	}
	j, got, trouble := open(t, dir, Options{})
	if lost := j.Losses(); len(lost) > 0 {
		t.Errorf("what was done or moved counts as lost: %v", lost)
	}
	if len(trouble) > 0 {
		t.Logf("trouble: %q", trouble)
	}
	have := map[string]string{}
	for _, e := range got {
		have[e.Path] = string(e.Data)
	}
	for n, is := range kept {
		if e := entry(n); is && have[e.Path] != string(e.Data) {
			t.Errorf("entry %d was stored and reads %q", n, have[e.Path])
		}
	}
}
