package cli

import (
	"bufio"
	"context"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// Confirm asks a question. Anything but y or yes is a no, and so is Ctrl-C.
func (p *Program) Confirm(ctx context.Context, question string) bool {
	p.Err.Printf("%s", strings.Join(term.Wrap(question, p.Err.Width), "\n"))
	line, _ := Line(ctx, bufio.NewReader(p.Stdin)) // somebody who closes the input says no
	if ctx.Err() != nil {
		p.Err.Printf("\n")
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

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
