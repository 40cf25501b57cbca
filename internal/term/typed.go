package term

import (
	"context"
	"errors"
	"io"

	"golang.org/x/term"
)

// ErrLeft says that a person typed no line: they pressed Esc, Ctrl-C or Ctrl-D.
var ErrLeft = errors.New("nothing was typed")

// Typed reads a line that a person types behind a prompt. What is typed ahead stays at the terminal,
// for the next question. If `ctx` ends first, the error is that of `ctx`, and no further key is taken
// (on Windows, one).
func Typed(ctx context.Context, terminal io.Reader, screen io.Writer, prompt string) (string, error) {
	return typed(ctx, terminal, screen, prompt, (*term.Terminal).ReadLine)
}

// Hidden is Typed for a line that the terminal does not show.
func Hidden(ctx context.Context, terminal io.ReadWriter, prompt string) (string, error) {
	return typed(ctx, terminal, terminal, "", func(keyboard *term.Terminal) (string, error) { return keyboard.ReadPassword(prompt) })
}

func typed(ctx context.Context, terminal io.Reader, screen io.Writer, prompt string, ask func(*term.Terminal) (string, error)) (string, error) {
	file, ok := terminal.(interface{ Fd() uintptr })
	if !ok {
		return "", errors.New("it is no terminal")
	}
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd) // else Esc would wait for Enter
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // if it fails, nothing else can be tried
	stop, err := newInterrupt()
	if err != nil {
		return "", err
	}
	defer stop.close()
	keyboard := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys{terminal, fd, stop}, screen}, prompt)
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = keyboard.SetSize(width, height) // it draws nothing yet
	}
	var line string
	read := make(chan struct{})
	go func() {
		line, err = ask(keyboard)
		close(read)
	}()
	select {
	case <-read:
	case <-ctx.Done():
		if stop.raise() {
			<-read // else it would take the first key of the next question
		}
		_, _ = io.WriteString(screen, "\r\n")
		return "", ctx.Err()
	}
	if err == io.EOF || errors.Is(err, ErrLeft) {
		_, _ = io.WriteString(screen, "\r\n")
		return "", ErrLeft
	}
	if err == term.ErrPasteIndicator {
		err = nil
	}
	return line, err
}

// Forget drops what was typed ahead at a terminal, for a question that nobody expects.
func Forget(terminal io.Reader) {
	file, ok := terminal.(interface{ Fd() uintptr })
	if !ok {
		return
	}
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd) // else a line without its end stays
	if err != nil {
		return // it is no terminal
	}
	defer func() { _ = term.Restore(fd, before) }()
	forget(fd)
}

// keys reads one byte after the other, so that none is taken that belongs to the next line. Esc alone
// is ErrLeft; arrows and other keys that begin with it come at once.
type keys struct {
	io.Reader
	fd   int
	stop *interrupt
}

func (k keys) Read(p []byte) (int, error) {
	if !k.stop.wait(k.fd) {
		return 0, ErrLeft
	}
	n, err := k.Reader.Read(p[:1])
	if n == 1 && p[0] == '\x1b' && !waits(k.fd) {
		return 0, ErrLeft
	}
	return n, err
}
