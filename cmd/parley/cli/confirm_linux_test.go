package cli_test

import (
	"io"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// It prevents: Esc at a question waits for Enter, and is then taken for the beginning of an answer.
func TestEscLeavesAQuestionAtOnce(t *testing.T) {
	for keys, want := range map[string]bool{"\x1b": false, "y\x1b": false, "\x03": false, "y\r": true, "n\r": false, "y\n": true} {
		terminal := clitest.OpenTerminal(t)
		p := cli.New(terminal.Side, io.Discard, terminal.Side, func(string) string { return "" })
		said := make(chan bool)
		go func() { said <- p.Confirm(t.Context(), "Proceed? [y/N] ") }() // ends with the keys
		terminal.Shows("[y/N]")
		terminal.Type(keys)
		if got := <-said; got != want {
			t.Errorf("%q: %t", keys, got)
		}
	}
}
