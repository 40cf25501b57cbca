package frame

import (
	"bufio"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// At a terminal Esc alone leaves a gate, without Enter. Keys that begin with it move in the line. It
// prevents: "^[" in the line, and a human who finds no way out of a question but to answer it.
func TestEscAtAGateLeaves(t *testing.T) {
	for _, c := range []struct{ typed, want string }{{"\x1b", "q"}, {"2\x1b", "q"}, {"\x03", "q"}, {"\x04", "q"}, {"13\x1b[D2\r", "123"}, {"éa\n", "éa"}} {
		p := clitest.OpenTerminal(t)
		s := &session{p: &cli.Program{Stdin: p.Side}}
		s.view.Err = term.Screen{Writer: p.Side}
		lines := make(chan string)
		go func() { // ends when a line is typed
			line, err := s.line(t.Context(), bufio.NewReader(p.Side), "Mode [number] ")
			if err != nil {
				line = err.Error()
			}
			lines <- line
		}()
		p.Shows("Mode [number] ")
		p.Type(c.typed)
		if line := <-lines; line != c.want {
			t.Errorf("typed %q: %q, want %q", c.typed, line, c.want)
		}
	}
}
