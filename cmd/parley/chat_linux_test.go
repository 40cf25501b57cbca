package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"
)

// pty is a terminal: what is written to keys is typed, what the program shows is
// collected.
type pty struct {
	*testing.T
	keys *os.File // the person's side
	side *os.File // the program's side

	mu    sync.Mutex // guards seen
	seen  strings.Builder
	ended chan struct{}
}

func openPty(t *testing.T) *pty {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(side.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 60}); err != nil {
		t.Fatal(err)
	}
	p := &pty{T: t, keys: keys, side: side, ended: make(chan struct{})}
	go func() { // ends when both sides are closed
		defer close(p.ended)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			p.mu.Lock()
			p.seen.Write(buffer[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		side.Close()
		<-p.ended
		keys.Close()
	})
	return p
}

func (p *pty) shows(text string) {
	p.Helper()
	for deadline := time.Now().Add(scriptPatience); ; {
		p.mu.Lock()
		seen := p.seen.String()
		p.mu.Unlock()
		if strings.Contains(seen, text) {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%q was never shown; the screen had:\n%q", text, seen)
		}
		<-time.After(5 * time.Millisecond) // spares the processor only
	}
}

func (p *pty) typed(keys string) {
	p.Helper()
	if _, err := p.keys.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// talker is a node with one channel, whose messages the test hands out.
type talker struct {
	recorder
	sent chan control.SendRequest
	come chan control.Message
	read chan control.ShownRequest
}

func (s *talker) Shown(_ context.Context, r control.ShownRequest) (control.Marked, error) {
	s.read <- r
	return control.Marked{}, nil
}

func (s *talker) Channel(context.Context, control.ChannelRequest) (control.Channel, error) {
	return control.Channel{ID: s.message.Channel, Participants: []string{"mawjs", "nat"}}, nil
}

func (s *talker) Send(_ context.Context, r control.SendRequest) (control.Message, error) {
	s.sent <- r
	m := s.message
	m.Path = protocol.NewPath(m.Channel, m.Timestamp, uint32(len(r.Body)))
	return m, nil
}

// Answer implements control.Service.
func (s *talker) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	own := []control.Binding{control.Send.By(s.Send), control.Shown.By(s.Shown), control.ShowChannel.By(s.Channel), control.Log.By(s.Log)}
	return control.Bind(append(s.bindings(), own...)...).Answer(ctx, v, request, yield)
}

func (s *talker) Log(ctx context.Context, _ control.LogRequest, yield func(control.Message) error) error {
	for {
		select {
		case m := <-s.come:
			if err := yield(m); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// At a terminal, what comes is shown above the line that is being typed, which
// stays whole, and the terminal is as it was when the chat ends.
func TestChatAtATerminal(t *testing.T) {
	p := openPty(t)
	before, err := xterm.GetState(int(p.side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	run := newRun(t)
	s := &talker{recorder: recorder{message: letter(""), status: someStatus()}, sent: make(chan control.SendRequest), come: make(chan control.Message), read: make(chan control.ShownRequest, 1)}
	run.program.Connect = func(string) control.Service { return s }
	run.program.Stdin = p.side
	run.program.Out = term.NewScreen(p.side, func(string) string { return "" })
	code := make(chan int, 1)
	go func() { code <- run.do("chat", "mawjs", "--channel", "sprint") }()
	p.shows("talking with mawjs as nat")

	p.typed("hello there\r")
	if r := <-s.sent; r.Body != "hello there" || r.To[0] != "mawjs" || r.As != "nat" || r.Channel != "sprint" {
		t.Errorf("sent %+v", r)
	}
	p.shows("stored")
	p.typed("half a li")
	m := letter("an answer that is too long for one line of sixty columns, \x1b[31mwith red\x1b[0m in it")
	m.Path = protocol.NewPath(m.Channel, m.Timestamp, 1)
	s.come <- m
	p.shows("␛[31mwith red␛[0m in it")
	if r := <-s.read; r.As != "nat" || len(r.Paths) != 1 || r.Paths[0] != m.Path {
		t.Errorf("what was shown to nat is told as %+v", r)
	}
	p.typed("ne\r")
	if r := <-s.sent; r.Body != "half a line" {
		t.Errorf("sent %q: what came broke the line that was typed", r.Body)
	}

	// Several lines make one message: by a backslash, in quotes, or pasted.
	for keys, want := range map[string]string{
		"one\\\rtwo\r":                         "one\ntwo",
		"\"\"\"\rthree\r\rfour\r\"\"\"\r":      "three\n\nfour",
		"\x1b[200~five\rsix\r\x1b[201~seven\r": "five\nsix\nseven",
	} {
		p.typed(keys)
		if r := <-s.sent; r.Body != want {
			t.Errorf("%q sends %q, want %q", keys, r.Body, want)
		}
	}
	p.typed("/who\r")
	p.shows("mawjs, nat")
	p.typed("/nonsense\r")
	p.shows("there is no command /nonsense")
	p.typed("\x04")
	if c := <-code; c != cli.ExitDone {
		t.Errorf("exit %d, %s", c, run.err.String())
	}
	after, err := xterm.GetState(int(p.side.Fd()))
	if err != nil || fmt.Sprintf("%+v", *after) != fmt.Sprintf("%+v", *before) {
		t.Errorf("the terminal was left as %+v, was %+v, %v", after, before, err)
	}
}

// A name with a slip in it was taken, and refused only once a whole text was typed.
func TestChatWithNobodyIsRefusedAtOnce(t *testing.T) {
	p := openPty(t)
	run := newRun(t)
	run.recorder.err = control.Errorf(control.KindNotFound, "did you mean mawjs? see: parley ls", `nobody is called "mawsj"`)
	run.program.Stdin = p.side
	run.program.Out = term.NewScreen(p.side, func(string) string { return "" })
	if code := run.do("chat", "mawsj"); code != cli.ExitFailed {
		t.Errorf("exit %d", code)
	}
	want := "parley: nobody is called \"mawsj\"\nhint: did you mean mawjs? see: parley ls\n"
	if got := run.asked; len(got) != 1 || got[0] != `talk {"to":"mawsj"}` {
		t.Errorf("asked %q", got)
	}
	if got := run.err.String(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
