package main

import (
	"bytes"
	"syscall"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// typing runs parley at a terminal and types a line when parley asks for it. It returns what parley
// printed to standard output.
func (h *storyHost) typing(line string, args ...string) string {
	h.t.Helper()
	p := clitest.OpenTerminal(h.t)
	cmd := h.command(h.t.Context(), args...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Side, &stdout, p.Side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	p.Shows("to do it:")
	p.Type(line + "\n")
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("parley %v: %v: %s", args, err, stdout.String())
	}
	return stdout.String()
}
