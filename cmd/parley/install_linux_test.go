package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// On a fresh machine a person types one command and pastes the invitation line where it asks: the
// machine is a host of the fleet, its node runs, and parley is in the program. It prevents: a
// newcomer who is in the program, and in no fleet.
func TestInstallTakesAnInvitationLine(t *testing.T) {
	t.Parallel()
	white := newStoryHost(t, "white")
	white.start()
	line := strings.TrimSpace(white.must("fleet", "invite", "--listen", "127.0.0.1:0", "--yes", "--json"))
	_, line, _ = strings.Cut(line, `"line":"`)
	line, _, _ = strings.Cut(line, `"`)
	black := emptyStoryHost(t)
	black.env = append(black.env, "HOME="+t.TempDir())
	p := clitest.OpenTerminal(t)
	cmd := black.command(t.Context(), "install", "claude", "--alias", "black", "--human", "ida")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Side, p.Side, p.Side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = black.try("stop") }) // it may not run
	p.Shows("invitation line or repository")
	p.Type(line + "\n")
	p.Shows("Write this?")
	p.Type("y\n")
	p.Shows("start a session")
	if err := cmd.Wait(); err != nil || !strings.Contains(p.Seen(), "Waiting for the human at white") {
		t.Errorf("%v: %s", err, p.Seen())
	}
	black.until("it is linked", func() bool { return strings.Contains(black.must("fleet", "hosts"), "live") })
}
