// Package natstool runs the NATS programs of other people for tests, as their makers built them:
// the server nats-server, and the command line nats. They are pinned in go.mod and tools/go.mod.
package natstool

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Program builds nats-server, or the command line nats, and returns its path. Go keeps what it has
// built.
func Program(t testing.TB, name string) string {
	t.Helper()
	root := filepath.Dir(goSays(t, ".", "env", "GOMOD"))
	if name == "nats" {
		return goSays(t, filepath.Join(root, "tools"), "tool", "-n", name)
	}
	return goSays(t, root, "tool", "-n", name)
}

func goSays(t testing.TB, dir string, args ...string) string {
	t.Helper()
	var problem bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = dir, &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, &problem)
	}
	return strings.TrimSpace(string(out))
}

// Server is a nats-server in a process of its own. It ends with the test.
type Server struct {
	Address string // host:port, the same after a restart
	program string
	config  string // path
	process *exec.Cmd
	output  *output
}

// output is what a server prints. It can be read while the server runs.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write takes in what the process prints.
func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Prepare chooses a free port of 127.0.0.1 for a server that is to be configured and started.
func Prepare(t testing.TB) *Server {
	t.Helper()
	s := &Server{Address: freeAddress(t), program: Program(t, "nats-server"), config: filepath.Join(t.TempDir(), "nats.conf")}
	t.Cleanup(s.Stop)
	return s
}

// Serve starts a server with the text of a configuration file. It adds the address to the text.
func Serve(t testing.TB, config string) *Server {
	t.Helper()
	s := Prepare(t)
	s.Configure(t, config)
	s.Start(t)
	return s
}

// Configure writes another configuration. It is used from the next Start on.
func (s *Server) Configure(t testing.TB, config string) {
	t.Helper()
	if err := os.WriteFile(s.config, []byte("listen: \""+s.Address+"\"\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Start starts the server, and returns when it greets.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.output = &output{}
	s.process = exec.Command(s.program, "-c", s.config)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		s.process = nil
		t.Fatal(err)
	}
	for deadline := time.Now().Add(scratch.Patience()); ; {
		conn, err := net.DialTimeout("tcp", s.Address, time.Second)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nats-server does not start: %v\n%s", err, s.output)
		}
		<-time.After(5 * time.Millisecond) // only spares the processor
	}
}

// Stop ends the server as kill -9 does. It may be called several times.
func (s *Server) Stop() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have ended by itself
	_ = s.process.Wait()         // it was killed
	s.process = nil
}

// freeAddress is an address of this machine at which nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Reload makes the running server read its configuration again.
func (s *Server) Reload(t testing.TB) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
