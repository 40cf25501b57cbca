package scratch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// abandoned has this test binary be one whose tests start a process in the background, tell its
// folder, and wait for ever.
const abandoned = "PARLEY_TEST_ABANDONED"

func TestMain(m *testing.M) {
	if os.Getenv(watched) != "" {
		os.Exit(InMemory(m).Run())
	}
	if os.Getenv(abandoned) != "" {
		os.Exit(InMemory(endless{}).Run())
	}
	os.Exit(m.Run())
}

type endless struct{}

func (endless) Run() int {
	sleeper := exec.Command("sleep", "3600")
	apart(sleeper)
	if err := sleeper.Start(); err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString(os.Getenv("TMPDIR") + "\n")
	select {}
}

// someTests are tests that look where they may write, and leave a file there.
type someTests struct {
	t     *testing.T
	wrote string
}

func (s *someTests) Run() int {
	s.wrote = filepath.Join(os.TempDir(), "left")
	if err := os.WriteFile(s.wrote, nil, 0o600); err != nil {
		s.t.Error(err)
	}
	return 3
}

// It prevents: tests that ignore where they were told to write, or that leave what they wrote in
// memory.
func TestInMemory(t *testing.T) {
	for _, place := range []string{t.TempDir(), ""} {
		want := place
		if place == "" {
			if !plenty(folder) {
				t.Skip("there is not enough memory for tests to write into")
			}
			want = folder
		}
		t.Setenv("TMPDIR", place)
		s := &someTests{t: t}
		if code := InMemory(s).Run(); code != 3 || filepath.Dir(filepath.Dir(s.wrote)) != want {
			t.Errorf("told to write to %q they wrote %s and ended with %d", place, s.wrote, code)
		}
		if _, err := os.Stat(filepath.Dir(s.wrote)); !os.IsNotExist(err) {
			t.Errorf("what they wrote is left: %v", err)
		}
	}
}

// It prevents: nodes of tests that ran out of time, which load the machine for good.
func TestNothingOutlivesTheTests(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell the environment of other processes")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := exec.Command(program)
	tests.Env = append(os.Environ(), abandoned+"=1", "TMPDIR="+t.TempDir())
	out, err := tests.StdoutPipe()
	if err == nil {
		err = tests.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir = dir[:len(dir)-1]
	if err := tests.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tests.Wait()
	for deadline := time.Now().Add(Patience()); ; <-time.After(time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is left", dir)
		}
	}
	if left := endThose(dir); left != 0 {
		t.Errorf("%d processes were left", left)
	}
}
