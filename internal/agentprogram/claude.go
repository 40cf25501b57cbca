package agentprogram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/random"
)

// claude is Claude Code.
type claude struct{ hooks }

func (claude) Name() string { return "claude" }

func (claude) Shares() bool { return false }

func (claude) Once([]string) bool { return false }

func (claude) Variable() string { return "CLAUDE_CODE_SESSION_ID" }

func (claude) Is(exe string, argv []string) bool {
	name, _ := Known(exe, argv)
	return name == "claude"
}

func (claude) Event(in []byte, env func(string) string) (Event, error) {
	i, e, err := read(in)
	if err != nil {
		return Event{}, err
	}
	if e.Kind != Prompted { // at a typed prompt it still says the turn before
		e.Turn = i.PromptID
	}
	if e.Kind == Prompted && (i.Source != "" && i.Source != "user" && i.Source != "sdk" || // a time that was set, or a watch
		strings.HasPrefix(strings.TrimSpace(e.Prompt), "<task-notification>")) { // a monitor, or what it does in the background
		e.Typed = false
	}
	switch i.Notification {
	case "permission_prompt", "elicitation_dialog", "agent_needs_input":
		e.Kind = Asks
	}
	if e.Process, err = processOf(env("CLAUDE_PID")); err != nil {
		return Event{}, err
	}
	e.Attended, e.Holds = env("CLAUDE_CODE_SESSION_ATTENDED") == "1", i.Mode == "bypassPermissions"
	e.Bell = Bell{Home: homeOf(env, "CLAUDE_CONFIG_DIR", ".claude"), Socket: env("CLAUDE_CODE_MESSAGING_SOCKET")}
	return e, nil
}

// ringing bounds the ringing of a bell. On a busy machine a program takes seconds.
const ringing = 30 * time.Second

// Ring writes into the session's inbox. It needs no token: the inbox is open to programs of the same
// user, and what they write is shown to the model as the message of a peer, which cannot approve
// anything. The program does not say whether it hands on what it was told; see Event.Holds.
func (claude) Ring(ctx context.Context, to process.ID, b Bell, sentence string) error {
	ctx, cancel := context.WithTimeout(ctx, ringing)
	defer cancel()
	conn, err := inbox(ctx, to, b.Socket)
	if err != nil {
		return fmt.Errorf("cannot ring the session: %w", bare(err))
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	type message struct {
		Role string `json:"role"`
		Text string `json:"content"`
	}
	line, _ := json.Marshal(struct { // texts alone: it cannot fail
		Type     string  `json:"type"`
		Version  int     `json:"msgV"`
		ID       string  `json:"msg_id"`
		Priority string  `json:"priority"`
		Message  message `json:"message"`
	}{"user", 1, random.Hex(16), "next", message{"user", sentence}})
	if _, err = conn.Write(append(line, '\n')); err == nil {
		err = conn.CloseWrite()
	}
	if err == nil { // it closes its end when it has read all
		_, err = io.Copy(io.Discard, io.LimitReader(conn, 64<<10))
	}
	if err != nil {
		return fmt.Errorf("cannot ring the session: %w", errors.Join(ctx.Err(), err))
	}
	return nil
}

// bare is why something failed, without the path: it may be a session's own (R71).
func bare(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err
	}
	if at, is := errors.AsType[*net.OpError](err); is {
		return at.Err
	}
	return err
}

// inbox opens the inbox of a process's session. It says nothing there before it knows that the
// process itself listens.
func inbox(ctx context.Context, of process.ID, socket string) (*net.UnixConn, error) {
	// The program puts inboxes of sessions into a folder of such a name, below one for temporary files.
	folder := filepath.Dir(socket)
	if name := filepath.Base(folder); !filepath.IsAbs(socket) || name != "cc-socks" && name != "cc-socks-"+strconv.Itoa(os.Geteuid()) {
		return nil, errors.New("its inbox is in no folder that the program uses for it")
	}
	if info, err := os.Lstat(folder); err != nil {
		return nil, err
	} else if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !own(info) {
		return nil, errors.New("the folder of its inbox is open to others")
	}
	if info, err := os.Lstat(socket); err != nil {
		return nil, err
	} else if info.Mode().Type() != os.ModeSocket || !own(info) {
		return nil, errors.New("its inbox is no socket of this user")
	}
	opened, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	conn := opened.(*net.UnixConn)
	peer, err := process.PeerOf(conn)
	if err == nil {
		if peer.UID != os.Geteuid() || peer.ID != of {
			err = errors.New("another process listens at its inbox")
		}
		_ = peer.Close() // a handle that was only looked at
	}
	if err != nil {
		_ = conn.Close() // nothing was written
		return nil, err
	}
	return conn, nil
}

// State reads the program's own register of sessions.
func (claude) State(home string, of process.ID) (State, error) {
	s, err := registered(filepath.Join(home, "sessions", strconv.Itoa(of.PID)+".json"), of)
	if err != nil {
		return State{}, fmt.Errorf("cannot tell what the session is at: %w", err)
	}
	return s, nil
}

func registered(path string, of process.ID) (State, error) {
	file, err := OpenPlain(path)
	if err != nil {
		return State{}, err
	}
	defer file.Close()
	var said struct {
		Session string `json:"sessionId"`
		Start   string `json:"procStart"`
		Folder  string `json:"cwd"`
		Status  string `json:"status"`
		Socket  string `json:"messagingSocketPath"`
	}
	if err := json.NewDecoder(io.LimitReader(file, 64<<10)).Decode(&said); err != nil {
		return State{}, err
	}
	if runtime.GOOS == "linux" && said.Start != strconv.FormatUint(of.Start, 10) { // elsewhere in another form
		return State{}, errors.New("its register is of another process")
	}
	s := State{Session: said.Session, Folder: said.Folder, Socket: said.Socket}
	switch said.Status {
	case "idle":
		s.Status = Idle
	case "busy":
		s.Status = Busy
	case "waiting":
		s.Status = Waiting
	}
	return s, nil
}

// OpenPlain opens a file, and nothing at which one would wait, such as a named pipe, also if that takes
// the place of the file meanwhile.
func OpenPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unblocked, 0)
	if err != nil {
		return nil, err
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(info, now) {
		_ = file.Close()
		return nil, fmt.Errorf("%s has just become another file", path)
	}
	return file, nil
}

// homeOf returns a program's folder of settings, as its own process finds it.
func homeOf(env func(string) string, variable, below string) string {
	if dir := env(variable); dir != "" {
		return dir
	}
	if dir := env("HOME"); dir != "" {
		return filepath.Join(dir, below)
	}
	return ""
}
