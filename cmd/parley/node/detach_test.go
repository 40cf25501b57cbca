package node

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// It prevents: an error of the node behind "starting the node …", in the same line.
func TestAnErrorOfTheStartHasItsOwnLine(t *testing.T) {
	failed := exec.Command(os.Args[0], "-no-such-flag").Run()
	if !errors.As(failed, new(*exec.ExitError)) {
		t.Fatal(failed)
	}
	home := configs.Home{Dir: t.TempDir()}
	if err := os.WriteFile(home.Log(), []byte("parley: cannot start: no bus\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	r.AtTerminal(80)
	v := r.Program.View()
	bar := v.Progress("starting the node")
	for !strings.Contains(r.Err.String(), "starting the node …") { // it is shown after a second
		bar.Say("")
	}
	if err := whyNotUp(home, 0, failed, bar, v); err == nil {
		t.Error("no error")
	}
	if said := r.Err.String(); !strings.Contains(said, "\r\x1b[Kparley: cannot start: no bus\n") {
		t.Errorf("said %q", said)
	}
}
