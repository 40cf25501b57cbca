package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// headlessVar has the test binary start a child and end its first thread.
const headlessVar = "PARLEY_PROCESS_TEST_HEADLESS"

func TestMain(m *testing.M) {
	switch os.Getenv(headlessVar) {
	case "":
		os.Exit(m.Run())
	case "child":
		fmt.Println(os.Getpid())
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until its input ends
		os.Exit(0)
	}
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		fmt.Println("this is not the first thread")
		os.Exit(0)
	}
	go func() {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), headlessVar+"=child")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		_ = child.Run() // the test sees what it prints
		os.Exit(0)
	}()
	unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
}

// It prevents: a process whose first thread has ended looks as if it were gone, so that all that it
// has started seems to have no ancestors.
func TestParentWithoutItsFirstThread(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), headlessVar+"=parent")
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = parent.Wait() // how it ends does not matter
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Skip(line)
	}
	if s, err := look(parent.Process.Pid); err != nil || !s.ended {
		t.Fatalf("the parent has not ended its first thread: %v", err)
	}
	chain, err := Ancestry(child)
	if err != nil || len(chain) < 3 || chain[1].PID != parent.Process.Pid || chain[2].PID != os.Getpid() {
		t.Errorf("the child runs beneath %v, %v; want %d and %d", chain, err, parent.Process.Pid, os.Getpid())
	}
}

// It prevents: a parent that cannot be read, because no more files can be opened, is taken for one
// that the system hides. What runs beneath it then seems to have no more ancestors.
func TestUnreadIsNotHidden(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := look(os.Getppid())
	if restored := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); restored != nil {
		t.Fatal(restored)
	}
	if err == nil || errors.Is(err, ErrGone) {
		t.Errorf("without a file to spare, the parent is said to be: %v", err)
	}
	if _, err := look(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("a process that is not there: %v", err)
	}
}
