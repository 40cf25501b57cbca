package agentprogram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/process"
)

// codex is OpenAI's Codex.
type codex struct{ hooks }

func (codex) Name() string { return "codex" }

func (codex) Shares() bool { return true }

// Once is as in Program: codex exec queues what rings it, and never takes it up.
func (codex) Once(argv []string) bool {
	return slices.ContainsFunc(argv, func(word string) bool { return word == "exec" || word == "e" })
}

func (codex) Variable() string { return "CODEX_SESSION_ID" }

func (codex) Is(exe string, argv []string) bool {
	name, _ := Known(exe, argv)
	return name == "codex"
}

func (codex) Event(in []byte, env func(string) string) (Event, error) {
	_, e, err := read(in)
	if err != nil {
		return Event{}, err
	}
	e.Bell = Bell{Home: homeOf(env, "CODEX_HOME", ".codex"), Thread: e.Session}
	return e, nil
}

// Ring puts the sentence into the queue of the session's thread. Codex takes it up until the session
// has Ended, also when its window is closed, and then keeps it until somebody resumes the thread. A
// session whose human has stopped a turn takes up nothing before the human's next prompt.
func (codex) Ring(ctx context.Context, _ process.ID, b Bell, sentence string) error {
	if !filepath.IsAbs(b.Path) || !filepath.IsAbs(b.Home) || b.Thread == "" {
		return errors.New("cannot ring the session: Codex's executable, its folder or the thread is not known")
	}
	ctx, cancel := context.WithTimeout(ctx, ringing)
	defer cancel()
	said := &head{}
	cmd := exec.CommandContext(ctx, b.Path, "queue", "--thread="+b.Thread, "--message="+sentence)
	cmd.Env = append(environ.Clean(os.Environ()), "CODEX_HOME="+b.Home)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.Home, said, said
	cmd.WaitDelay = time.Second
	apart(cmd)
	if err := cmd.Run(); err != nil {
		all := strings.TrimSpace(said.String())
		last := all[strings.LastIndexByte(all, '\n')+1:] // it begins with warnings
		return fmt.Errorf("cannot ring the session: codex queue: %w: %s", errors.Join(ctx.Err(), err), strings.ReplaceAll(last, b.Thread, "the thread"))
	}
	return nil
}

// head keeps the beginning of what is written.
type head struct{ bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	const most = 4 << 10
	h.Buffer.Write(b[:min(len(b), max(0, most-h.Len()))])
	return len(b), nil
}

// State knows nothing: Codex tells nobody what its sessions are at.
func (codex) State(string, process.ID) (State, error) { return State{}, nil }
