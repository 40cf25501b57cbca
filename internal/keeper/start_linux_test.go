package keeper

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// endedVar has the test binary be a keeper that its command ends before the keeper has said that
// the command has begun.
const endedVar = "PARLEY_KEEPER_TEST_ENDED"

// A test binary that is asked to be a keeper is one before any test begins.
var _ = endIfAsked()

func endIfAsked() bool {
	if !Asked(os.Args) || os.Getenv(endedVar) == "" {
		return false
	}
	if line, err := net.FileConn(os.NewFile(lineFD, "starter")); err == nil {
		_, _ = receive(line.(*net.UnixConn)) // this is the whole order: the command has begun
	}
	return syscall.Kill(os.Getpid(), syscall.SIGKILL) == nil
}

// It prevents: a command that ends its keeper at once is run a second time, outside of its control
// group, and then counts as not started, so that nobody is told that some of it lives on.
func TestKeeperEndedBeforeItsFirstWord(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv(endedVar, "1")
	var keepers Pool
	t.Cleanup(keepers.Close)
	for _, group := range []*Group{nil, NewGroup(fmt.Sprintf("test%d", os.Getpid()), Limits{})} {
		began := 0
		k, err := keepers.Start(Command{
			Path: "/bin/true", Args: []string{"true"}, Files: [3]*os.File{null, null, null}, Group: group,
		}, func(int) { began++ })
		if err != nil || began != 1 {
			t.Fatalf("started %d times, %v; want once", began, err)
		}
		<-k.Ended()
		if got, left := k.Release(); !left || got != (Ending{ExitCode: -1, Signal: "killed"}) {
			t.Errorf("in the group %v it ended with %+v, and something may be left: %v", group, got, left)
		}
	}
}

// It prevents: the control groups of commands whose node was killed stay until the machine's end,
// and so do the processes in them if the keeper was killed too.
func TestEndLeft(t *testing.T) {
	mine := fmt.Sprintf("mine%d-", os.Getpid())
	group := func(name string, age time.Duration) *Group {
		t.Helper()
		g := NewGroup(name, Limits{})
		if g == nil {
			t.Skip("this process may not make control groups")
		}
		t.Cleanup(func() { _ = removeGroups(g.path); g.folder.Close() }) // a group that is gone needs it no more
		if err := os.Mkdir(filepath.Join(g.path, "inner"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(g.path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	cat := func(in *Group) (ended <-chan error) {
		cmd := exec.Command("cat")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(in.folder.Fd()), Setsid: true}
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 2)
		go func() { err := cmd.Wait(); end <- err; end <- err }() // ends with cat
		t.Cleanup(func() { input.Close(); <-end })                // ends before its group is removed
		return end
	}
	others := fmt.Sprintf("others%d-", os.Getpid())
	left, fresh, used := group(others+"left", time.Hour), group(others+"fresh", 0), group(others+"used", time.Hour)
	of, empty := group(mine+"used", 0), group(mine+"fresh", 0)
	cat(used)
	ended := cat(of)
	EndLeft(mine)
	for g, stays := range map[*Group]bool{left: false, fresh: true, used: true, of: false, empty: false} {
		if _, err := os.Stat(filepath.Join(g.path, "inner")); (err == nil) != stays {
			t.Errorf("%s stays: %v, want %v", g.path, err == nil, stays)
		}
	}
	if err := <-ended; err == nil {
		t.Error("what ran in a group of a killed keeper ended by itself")
	}
}
