package cli

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// ByPhrase does what cannot be undone. Without a phrase, do says what it would do, and
// refuses whoever may not do it. Then ask says what is shown of that at the terminal,
// and which phrase has to be typed there.
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

// phrase has whoever sits at the terminal type what is to be done, and returns it. It
// asks at the controlling terminal, not at standard input, which anything can fill.
// about is shown before; doing says what cannot be done without a terminal.
func (p *Program) phrase(ctx context.Context, doing, about, want string) (string, error) {
	tty, err := p.Terminal()
	if err != nil {
		return "", control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it), and type  "+want+"  there when it asks",
			"cannot %s: nobody is there to ask: this command has no terminal, and it cannot be undone. %s", doing, about)
	}
	defer tty.Close()
	typed := make(chan string, 1)
	go func() { // ends with a line, with the terminal, or with the program
		line, _ := bufio.NewReader(tty).ReadString('\n') // who closes it has typed nothing
		typed <- strings.TrimSpace(line)
	}()
	question := "It cannot be undone. Type  " + want + "  to do it: "
	if about != "" {
		question = about + "\n" + question
	}
	if _, err := io.WriteString(tty, strings.Join(term.Wrap(question, p.Err.Width), "\n")); err != nil {
		return "", err
	}
	select {
	case line := <-typed:
		if line == want {
			return line, nil
		}
	case <-ctx.Done():
	}
	p.Err.Printf("nothing was changed\n")
	return "", ErrSaid
}
