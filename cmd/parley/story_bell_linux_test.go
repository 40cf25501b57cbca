package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// claudeStandIn plays Claude Code for its hooks and its inbox: at each bell it says when that came,
// takes the mail as its prompt, and ends its turn. It ends with its standard input.
func claudeStandIn() {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	socket := filepath.Join(os.Getenv("TMPDIR"), "cc-socks", strconv.Itoa(os.Getpid())+".sock")
	fail(os.MkdirAll(filepath.Dir(socket), 0o700))
	inbox, err := net.Listen("unix", socket)
	fail(err)
	hook := func(event string, more map[string]any) {
		said := map[string]any{"hook_event_name": event, "session_id": "s-1"}
		for key, value := range more {
			said[key] = value
		}
		in, err := json.Marshal(said)
		fail(err)
		cmd := exec.Command("parley", "hook", "claude")
		cmd.Env = append(os.Environ(), "CLAUDE_CODE_MESSAGING_SOCKET="+socket)
		cmd.Stdin = strings.NewReader(string(in))
		fail(cmd.Run())
	}
	hook("SessionStart", map[string]any{"source": "startup"})
	fmt.Println("open")
	go func() { // ends with the process
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}()
	for {
		conn, err := inbox.Accept()
		fail(err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		came := time.Now()
		_ = conn.Close()
		if err != nil {
			continue // the node only looked who listens
		}
		var bell struct{ Message struct{ Content string } }
		fail(json.Unmarshal([]byte(line), &bell))
		hook("UserPromptSubmit", map[string]any{"prompt": bell.Message.Content})
		hook("Stop", nil)
		fmt.Println("bell", came.UnixNano())
	}
}

// How soon a session's program has the bell for a message that somebody sends on another host.
func BenchmarkBell(b *testing.B) {
	remote := sharedRepository(b)
	far := newStoryHost(b, "white", "--remote", remote, "--listen", "127.0.0.1:0")
	far.start()
	near := emptyStoryHost(b)
	near.must("join", remote, "--alias", "desk", "--human", "nat", "--hub", far.status().Bus.Links)
	config, err := os.ReadFile(near.home.Config())
	if err == nil {
		err = os.WriteFile(near.home.Config(), regexp.MustCompile(`max_turns: \d+`).ReplaceAll(config, []byte("max_turns: 100000")), 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	near.start()
	program := near.command(b.Context(), "x")
	path, err := exec.LookPath("claude")
	if err != nil {
		b.Fatal(err)
	}
	program.Path, program.Args = path, []string{"claude"}
	program.Dir = b.TempDir()
	in, err := program.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	told := func(what string) string {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), what) {
			b.Fatalf("the program says %q in place of %q", lines.Text(), what)
		}
		return strings.TrimPrefix(lines.Text(), what+" ")
	}
	told("open")
	name := string(must(control.Sessions.Ask(b.Context(), near.client))[0].Agent)
	far.until("the other host sees it", func() bool {
		shown, err := far.try("fleet", "show", "desk")
		return err == nil && strings.Contains(shown, name)
	})
	var took []float64
	for b.Loop() {
		began := time.Now()
		must(control.Send.Ask(b.Context(), far.client, control.SendRequest{To: []string{name}, Act: protocol.ActHey, Body: "x"}))
		came, _ := strconv.ParseInt(told("bell"), 10, 64)
		took = append(took, float64(time.Unix(0, came).Sub(began).Microseconds())/1000)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-median")
	b.ReportMetric(took[0], "ms-least")
	_ = in.Close()
	_ = program.Wait()
	near.stop()
	far.stop()
}

// must returns a value that came without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
