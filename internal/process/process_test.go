//go:build linux || darwin

package process

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestAncestry(t *testing.T) {
	chain, err := Ancestry(os.Getpid())
	if err != nil || len(chain) < 2 || chain[0].PID != os.Getpid() || chain[1].PID != os.Getppid() {
		t.Errorf("this process runs beneath %v, %v; its parent is %d", chain, err, os.Getppid())
	}
	// It prevents: beneath thousands of processes, a process seems to have no ancestors.
	if _, _, err := walk(os.Getpid(), len(chain)-1); !errors.Is(err, ErrDeep) {
		t.Errorf("with one ancestor too many: %v", err)
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	at, err := Find(child.Process.Pid)
	if err != nil || !at.Alive() {
		t.Errorf("the child is %v, %v", at, err)
	}
	in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if at.Alive() {
		t.Error("a process that was waited for is alive")
	}
	if chain, err := Ancestry(at.PID); err == nil && chain[0] == at {
		t.Errorf("a process that was waited for runs beneath %v", chain)
	}
	if wrong := (ID{PID: os.Getpid(), Start: chain[0].Start + 1}); wrong.Alive() {
		t.Error("another process of this number is taken for this one")
	}
}

func TestPeerOf(t *testing.T) {
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	p, err := PeerOf(theirs)
	if err != nil || p.UID != os.Getuid() || p.PID != os.Getpid() || !p.Here() {
		t.Errorf("the other end is %+v, %v", p, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	inside, outside := net.Pipe()
	defer inside.Close()
	defer outside.Close()
	if p, err := PeerOf(inside); err == nil {
		t.Errorf("the other end of a pipe is %+v", p)
	}
}
