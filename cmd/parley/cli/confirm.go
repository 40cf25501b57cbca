package cli

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// Confirm asks a question. Anything but y or yes is a no, and so are Esc and Ctrl-C.
func (p *Program) Confirm(ctx context.Context, question string) bool {
	answer, _ := p.Ask(ctx, question) // somebody who closes the input says no
	return Yes(answer)
}

// Yes reports whether an answer is a yes.
func Yes(answer string) bool {
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// Ask asks a question, and returns the line that is typed. At a terminal, Esc is term.ErrLeft.
func (p *Program) Ask(ctx context.Context, question string) (string, error) {
	return p.asked(ctx, p.Stdin, p.Err.Writer, question)
}

// asked asks a question on a screen, and returns the line that is typed at `in`.
func (p *Program) asked(ctx context.Context, in io.Reader, screen io.Writer, question string) (string, error) {
	lines := term.Wrap(question, p.Err.Width)
	last := len(lines) - 1
	for _, line := range lines[:last] {
		_, _ = io.WriteString(screen, line+"\n") // whoever reads no question gives no answer either
	}
	if term.IsTerminal(in) {
		line, err := term.Typed(ctx, in, screen, lines[last])
		return strings.TrimSpace(line), err
	}
	_, _ = io.WriteString(screen, lines[last])
	line, err := Line(ctx, bufio.NewReaderSize(byteByByte{in}, 1))
	if ctx.Err() != nil {
		_, _ = io.WriteString(screen, "\n")
	}
	return strings.TrimSpace(line), err
}

// byteByByte reads no more than is asked for, so that what follows a line is there for the next question.
type byteByByte struct{ io.Reader }

func (b byteByByte) Read(p []byte) (int, error) { return b.Reader.Read(p[:1]) }

// Line reads a line. If `ctx` ends first, the error is that of `ctx`. In that case, the goroutine
// that reads goes on until a line comes or the process ends, which happens soon after a Ctrl-C.
func Line(ctx context.Context, in *bufio.Reader) (string, error) {
	var line string
	var err error
	read := make(chan struct{})
	go func() {
		line, err = in.ReadString('\n')
		close(read)
	}()
	select {
	case <-read:
		return line, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ByPhrase does something that cannot be undone. At first it calls `do` without a phrase: `do` then
// returns what it would do, or an error if the caller may not do it. From this, `ask` makes the
// text that is shown at the terminal, and the phrase that has to be typed there. With that phrase,
// `do` is called again.
func ByPhrase[T any](ctx context.Context, p *Program, doing string, do func(phrase string) (T, error), ask func(T) (about, want string)) (T, error) {
	plan, err := do("")
	if err != nil {
		return plan, err
	}
	about, want := ask(plan)
	phrase, err := p.phrase(ctx, doing, about, want)
	if err != nil {
		return plan, err
	}
	return do(phrase)
}

// phrase has the person at the terminal type the phrase `want`, and returns it. It shows `about`
// before. `doing` is used in the error if there is no terminal.
func (p *Program) phrase(ctx context.Context, doing, about, want string) (string, error) {
	d, err := p.OpenDesk()
	if err != nil {
		return "", control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it), and type  "+want+"  there when it asks",
			"cannot %s: nobody is there to ask: this command has no terminal, and it cannot be undone. %s", doing, about)
	}
	defer d.Close()
	if line, _ := d.Ask(ctx, about+"\nIt cannot be undone. Type  "+want+"  to do it: "); line == want { // somebody who leaves or closes it has typed nothing
		return line, nil
	}
	p.Err.Printf("that was not  %s : it was not done\n", want)
	return "", ErrSaid
}

// Desk is where a person is asked: the controlling terminal, and not standard input, which anything
// can fill.
type Desk struct {
	io.Closer
	ask func(ctx context.Context, question string) (string, error)
}

// OpenDesk opens the terminal. Whoever opens it closes it.
func (p *Program) OpenDesk() (*Desk, error) {
	tty, err := p.Terminal()
	return &Desk{tty, func(ctx context.Context, question string) (string, error) { return p.asked(ctx, tty, tty, question) }}, err
}

// Ask asks a question, and returns the line that is typed. The error is term.ErrLeft, that of `ctx`, or
// says that the terminal was closed.
func (d *Desk) Ask(ctx context.Context, question string) (string, error) { return d.ask(ctx, question) }

// Decide asks a question at the controlling terminal. Anything but y or yes is a no; Esc and Ctrl-C
// are errors.
func (p *Program) Decide(ctx context.Context, question string) (yes bool, err error) {
	d, err := p.OpenDesk()
	if err != nil {
		return false, control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it)", "cannot ask: this command has no terminal")
	}
	defer d.Close()
	line, err := d.Ask(ctx, question)
	return Yes(line), err
}
