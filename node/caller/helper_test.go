package caller

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/protocol"
)

// dialVar names the socket that the test binary dials instead of running tests. The test binary
// stays until its standard input ends.
const dialVar = "PARLEY_CALLER_TEST_DIAL"

// keptVar has the test binary run itself beneath a keeper, as another node does.
const keptVar = "PARLEY_CALLER_TEST_KEPT"

func TestMain(m *testing.M) {
	switch socket := os.Getenv(dialVar); {
	case os.Getenv(keptVar) != "":
		os.Exit(keepDialler())
	case socket != "":
		conn, err := net.Dial("unix", socket)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("dialled")
		_, _ = io.Copy(io.Discard, os.Stdin)
		conn.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// book returns the Book of a host whose human is nat, and that serves mawjs and volt.
func book(now func() time.Time) *Book {
	return New(Options{Key: []byte("the key of this test"), Human: "nat", Now: now,
		Serves: func(name protocol.Name) (time.Time, bool) {
			return time.Unix(1_700_000_000, 0), name == "mawjs" || name == "volt"
		}})
}

func letter(suffix uint32) protocol.Path {
	return protocol.NewPath(protocol.SystemChannel("record"), time.Unix(1_700_000_000, 0).UTC(), suffix)
}

// dialler is a process that has opened a socket of the test.
type dialler struct {
	pid  int
	peer *process.Peer
	end  func() // ends it; its connection stays
}

// dial has a process open a socket. start makes the command that starts the process from its
// program and environment.
func dial(t *testing.T, start func(path string, env []string) *exec.Cmd) dialler {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := start(self, append(os.Environ(), dialVar+"="+l.Addr().String()))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	peer, err := process.PeerOf(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ended := false
	d := dialler{pid: cmd.Process.Pid, peer: peer}
	d.end = func() {
		if !ended {
			ended = true
			in.Close()
			_ = cmd.Wait() // how it ended does not matter
		}
	}
	t.Cleanup(d.end)
	return d
}

// direct starts the program as it is.
func direct(path string, env []string) *exec.Cmd {
	cmd := exec.Command(path)
	cmd.Env = env
	return cmd
}
