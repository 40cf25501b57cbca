package agentprogram

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
)

// self is this process, which listens at the inboxes of these tests.
func self(t *testing.T) process.ID {
	t.Helper()
	id, err := process.Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// inboxOf listens in a folder that the program uses, and returns the socket and what is read there.
func inboxOf(t *testing.T, read func(net.Conn) string) (socket string, got <-chan string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "cc-socks", "1.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			lines <- read(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return socket, lines
}

func all(conn net.Conn) string {
	data, _ := io.ReadAll(conn)
	return string(data)
}

func TestClaudeRings(t *testing.T) {
	socket, got := inboxOf(t, all)
	if err := (claude{}).Ring(t.Context(), self(t), Bell{Socket: socket}, "You have \"mail\".\n"); err != nil {
		t.Fatal(err)
	}
	line := <-got
	var said struct {
		Type, Priority string
		MsgV           int
		ID             string `json:"msg_id"`
		From           *string
		Message        struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(line), &said); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q %v", line, err)
	}
	if said.Type != "user" || said.MsgV != 1 || said.ID == "" || said.From != nil || said.Message.Role != "user" || said.Message.Content != "You have \"mail\".\n" {
		t.Errorf("%s", line)
	}
}

// Nothing is written to a socket that is not the inbox of that very process.
func TestClaudeRingsNobodyElse(t *testing.T) {
	socket, got := inboxOf(t, all)
	folder := filepath.Dir(socket)
	me := self(t)
	later := me
	later.Start++
	other, err := process.Find(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(folder, "link.sock"), filepath.Join(folder, "file.sock")
	if err := errors.Join(os.Symlink(socket, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	open, linked := filepath.Join(t.TempDir(), "cc-socks"), filepath.Join(t.TempDir(), "cc-socks")
	if err := errors.Join(os.Mkdir(open, 0o755), os.Symlink(folder, linked)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		socket string
		of     process.ID
		want   string
		opened bool
	}{
		"no socket":           {"", me, "in no folder", false},
		"another folder":      {filepath.Join(t.TempDir(), "docker.sock"), me, "in no folder", false},
		"up and down":         {folder + "/../docker.sock", me, "in no folder", false},
		"a relative path":     {"cc-socks/1.sock", me, "in no folder", false},
		"another user's":      {"/tmp/cc-socks-" + strconv.Itoa(os.Geteuid()+1) + "/1.sock", me, "in no folder", false},
		"an open folder":      {filepath.Join(open, "1.sock"), me, "open to others", false},
		"a link to a folder":  {filepath.Join(linked, "1.sock"), me, "open to others", false},
		"a link":              {link, me, "no socket of this user", false},
		"a file":              {file, me, "no socket of this user", false},
		"nothing there":       {filepath.Join(folder, "gone.sock"), me, "no such file", false},
		"another process":     {socket, other, "another process listens", true},
		"its number, reused":  {socket, later, "another process listens", true},
		"a process not known": {socket, process.ID{}, "another process listens", true},
	} {
		err := (claude{}).Ring(t.Context(), c.of, Bell{Socket: c.socket}, "mail")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if c.opened {
			if line := <-got; line != "" {
				t.Errorf("%s: it was told %q", name, line)
			}
		}
	}
}

// A session that does not read holds nobody up.
func TestClaudeRingIsBounded(t *testing.T) {
	hung := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	socket, _ := inboxOf(t, func(conn net.Conn) string {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		cancel()
		<-hung
		return ""
	})
	defer close(hung)
	if err := (claude{}).Ring(ctx, self(t), Bell{Socket: socket}, "mail"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestClaudeState(t *testing.T) {
	home, me := t.TempDir(), self(t)
	file := filepath.Join(home, "sessions", strconv.Itoa(me.PID)+".json")
	write := func(text string) {
		t.Helper()
		_ = os.RemoveAll(filepath.Dir(file)) // of the case before
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for status, want := range map[string]Status{"idle": Idle, "busy": Busy, "waiting": Waiting, "shell": Unknown} {
		write(fmt.Sprintf(`{"procStart":"%d","sessionId":"s","cwd":"/w","status":%q,"messagingSocketPath":"/tmp/cc-socks/1.sock","new":[]}`, me.Start, status))
		got, err := (claude{}).State(home, me)
		if err != nil || got != (State{want, "s", "/w", "/tmp/cc-socks/1.sock"}) {
			t.Errorf("%s: %+v %v", status, got, err)
		}
	}
	for _, text := range []string{"", "{", `{"status":1}`, `{"procStart":"1","status":"idle"}`, `{"status":"idle"}`, strings.Repeat(" ", 1<<20)} {
		write(text)
		if s, err := (claude{}).State(home, me); err == nil {
			t.Errorf("%.20q: %+v", text, s)
		}
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	if s, err := (claude{}).State(home, me); err == nil { // and does not wait for a writer
		t.Errorf("a pipe: %+v", s)
	}
	if _, err := (claude{}).State(t.TempDir(), me); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// script is a program in place of Codex.
func script(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// Codex is asked by the installed program, for the installed home, and without the variables of any
// session.
func TestCodexRings(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CODE_MESSAGING_TOKEN", "secret")
	t.Setenv("CODEX_HOME", "/of/a/session")
	path := script(t, `printf '%s\n' "$@" >"$CODEX_HOME/asked"; env >"$CODEX_HOME/env"`)
	if err := (codex{}).Ring(t.Context(), process.ID{}, Bell{Path: path, Home: home, Thread: "t-1"}, "You have mail."); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(filepath.Join(home, "asked"))
	if err != nil || string(asked) != "queue\n--thread=t-1\n--message=You have mail.\n" {
		t.Errorf("%q %v", asked, err)
	}
	given, err := os.ReadFile(filepath.Join(home, "env"))
	if err != nil || strings.Contains(string(given), "secret") || strings.Contains(string(given), "/of/a/session") {
		t.Errorf("%s %v", given, err)
	}
}

func TestCodexCannotRing(t *testing.T) {
	home := t.TempDir()
	fails := Bell{Path: script(t, `echo "a warning" >&2; echo "no thread $2" >&2; exit 1`), Home: home, Thread: "t-1"}
	if err := (codex{}).Ring(t.Context(), process.ID{}, fails, "mail"); err == nil ||
		!strings.Contains(err.Error(), "no thread --thread=the thread") || strings.Contains(err.Error(), "warning") {
		t.Errorf("%v", err)
	}
	for _, b := range []Bell{{Path: "codex", Home: home, Thread: "t"}, {Path: fails.Path, Thread: "t"}, {Path: fails.Path, Home: home}} {
		if err := (codex{}).Ring(t.Context(), process.ID{}, b, "mail"); err == nil || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// What hangs is ended with all that it has started.
func TestCodexRingIsBounded(t *testing.T) {
	home := t.TempDir()
	pipe := filepath.Join(home, "pipe")
	path := script(t, `mkfifo "$CODEX_HOME/pipe"; sh -c 'echo begun; exec sleep 1000' >"$CODEX_HOME/pipe"`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- (codex{}).Ring(ctx, process.ID{}, Bell{Path: path, Home: home, Thread: "t"}, "mail") }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(pipe); err == nil {
			break
		}
	}
	from, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	reader := bufio.NewReader(from)
	if line, err := reader.ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q %v", line, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if rest, err := reader.ReadString('\n'); !errors.Is(err, io.EOF) { // the pipe ends with the last that writes to it
		t.Errorf("%q %v", rest, err)
	}
}
