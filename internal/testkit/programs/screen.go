package programs

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Screen is a program in a terminal of tmux's.
type Screen struct {
	// PID is the process that the user started: the program, or what starts it.
	PID int

	t      testing.TB
	socket string
}

// Open starts the program in a terminal, and returns when it waits for a prompt. Codex is told to
// trust its hooks, as its user would. The terminal ends with the test.
func (p *Program) Open(args ...string) *Screen {
	p.t.Helper()
	if p.Name == "claude" {
		args = slices.Concat(p.common(), args)
	}
	s := p.Window(append([]string{p.Path}, args...)...)
	if s.Await(Prompts[p.Name], trustQuestion, codexSlow) == codexSlow {
		s.Close()
		return p.Open(args...)
	}
	if p.Name == "codex" && p.hooks != "" && !p.trusted {
		s.Trust()
		p.trusted = true
	}
	s.Await(Prompts[p.Name])
	return s
}

const (
	trustQuestion = "Trust all and continue"
	codexSlow     = "timed out discarding buffered terminal input" // it was too slow for itself, and has ended
)

// Prompts is what each program shows while it waits for a prompt.
var Prompts = map[string]string{"claude": "❯", "codex": "? for shortcuts"}

// Window runs some words in a terminal, in the user's folder and with the user's environment. The
// terminal ends with the test.
func (p *Program) Window(words ...string) *Screen {
	p.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		p.t.Skip("needs a terminal: tmux is not installed")
	}
	s := &Screen{t: p.t, socket: filepath.Join(p.Home, "tmux"+strconv.Itoa(p.opened))}
	p.opened++
	start := slices.Concat([]string{"-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "45", "-c", p.Folder, "--", "env", "-i"}, p.environment(), words)
	s.tmux(start...)
	p.t.Cleanup(s.Close)
	s.tmux("set-option", "-g", "remain-on-exit", "on")
	pid, err := strconv.Atoi(s.tmux("display-message", "-p", "#{pane_pid}"))
	if err != nil {
		p.t.Fatal(err)
	}
	s.PID = pid
	return s
}

// Trust answers Codex's question about its hooks. A key that comes while it draws is lost.
func (s *Screen) Trust() {
	s.t.Helper()
	s.Await(trustQuestion)
	for {
		switch shown := s.Text(); {
		case strings.Contains(shown, "› 1. "):
			s.Press("Down")
		case strings.Contains(shown, "› 2. Trust all"):
			s.Press("Enter")
		case strings.Contains(shown, "› 3. "):
			s.Press("Up")
		default:
			return
		}
		<-time.After(time.Second) // it draws
	}
}

func (s *Screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", slices.Concat([]string{"-S", s.socket}, args)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Type types a text as a person would, without the key that sends it.
func (s *Screen) Type(text string) {
	s.t.Helper()
	s.tmux("send-keys", "-l", "--", text)
}

// Submit gives the program a prompt. It is pasted: after quick typing, a program would take the key
// that sends it for a part of the text.
func (s *Screen) Submit(prompt string) {
	s.t.Helper()
	s.tmux("set-buffer", "--", prompt)
	s.tmux("paste-buffer", "-p", "-d")
	s.Press("Enter")
}

// Press presses keys, by tmux's names: "Enter", "Escape", "C-c".
func (s *Screen) Press(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// Text is what the screen shows.
func (s *Screen) Text() string {
	s.t.Helper()
	return s.tmux("capture-pane", "-p")
}

// Joined is Text with each line as the program wrote it, however narrow the screen is.
func (s *Screen) Joined() string {
	s.t.Helper()
	return s.tmux("capture-pane", "-p", "-J")
}

// Await waits until the screen shows one of some texts, and returns which, and AwaitGone until it
// shows a text no more.
func (s *Screen) Await(texts ...string) string {
	s.t.Helper()
	return texts[s.until(texts, true)]
}

// AwaitGone is told of at Await.
func (s *Screen) AwaitGone(text string) {
	s.t.Helper()
	s.until([]string{text}, false)
}

func (s *Screen) until(texts []string, there bool) int {
	s.t.Helper()
	for deadline := time.Now().Add(scratch.Patience()); ; <-time.After(100 * time.Millisecond) { // only spares the processor
		shown := s.Text()
		i := slices.IndexFunc(texts, func(text string) bool { return strings.Contains(shown, text) })
		if i >= 0 == there {
			return i
		}
		if time.Now().After(deadline) || strings.Contains(shown, "Pane is dead (") {
			s.t.Fatalf("waited in vain for %q on the screen (or for its end: %v):\n%s", texts, !there, shown)
		}
	}
}

// Close ends the terminal, as closing its window does.
func (s *Screen) Close() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() } // it may have ended
