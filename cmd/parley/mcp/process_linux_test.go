package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// served is parley mcp as a process, and what speaks to it by hand.
type served struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func serve(t *testing.T, n *realNode, token string) *served {
	t.Helper()
	cmd := n.command(t, "mcp")
	cmd.Env = append(cmd.Env, "PARLEY_TOKEN="+token)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &served{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s.say(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.hear(t)
	return s
}

func (s *served) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (s *served) hear(t *testing.T) []byte {
	t.Helper()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// resident is the memory of a process, in bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// A client that dies while it waits leaves nothing: no process, and nobody at the node to whom mail
// is given.
func TestClientDies(t *testing.T) {
	n := startNode(t)
	token := n.token(t, "mawjs")
	s := serve(t, n, token)
	s.say(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inbox","arguments":{"wait":3600}}}`)
	s.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`)
	s.hear(t)
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil { // it ends well, long before the wait is over
		t.Error(err)
	}
	n.must(t, "hey", "mawjs", "still there?")
	again := serve(t, n, token)
	again.say(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inbox","arguments":{"wait":600}}}`)
	if line := again.hear(t); !bytes.Contains(line, []byte("still there?")) {
		t.Errorf("the mail went to a client that is gone: %s", line)
	}
}

// Ten thousand calls, good and bad, cost no memory that stays.
func TestMemoryStaysFlat(t *testing.T) {
	t.Parallel()
	calls, warm := 1000, 500
	if scratch.Longer() {
		calls, warm = 10_000, 2000
	}
	n := startNode(t)
	s := serve(t, n, n.token(t, "mawjs"))
	kinds := []string{
		`"tools/call","params":{"name":"whoami","arguments":{}}`, `"tools/call","params":{"name":"who","arguments":{}}`,
		`"tools/call","params":{"name":"inbox","arguments":{"limit":-1}}`, `"tools/call","params":{"name":"work_with","arguments":{"do":"pending"}}`,
		`"tools/call","params":{"name":"log","arguments":{"last":5}}`, `"tools/list"`, `"no/such"`, `"tools/call","params":{"name":"trace","arguments":{"id":"00000000"}}`,
	}
	before := 0
	for i := range calls {
		if i == warm {
			before = resident(t, s.cmd.Process.Pid)
		}
		s.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+1, kinds[i%len(kinds)]))
		var heard struct{ ID int }
		if line := s.hear(t); json.Unmarshal(line, &heard) != nil || heard.ID != i+1 {
			t.Fatalf("call %d is answered with %s", i+1, line)
		}
	}
	after := resident(t, s.cmd.Process.Pid)
	t.Logf("%d calls: %d kB, after the first %d: %d kB", calls, after>>10, warm, before>>10)
	if after > before+before/4 {
		t.Errorf("memory grows from %d to %d bytes", before, after)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil || len(files) > 20 {
		t.Errorf("%d files are open (%v)", len(files), err)
	}
}
