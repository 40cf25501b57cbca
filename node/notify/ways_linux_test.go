package notify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// The desktop shows a text as it is, and takes no markup or option from it.
func TestDesktop(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	got := filepath.Join(bin, "got")
	if err := os.WriteFile(filepath.Join(bin, "notify-send"), []byte("#!/bin/sh\nprintf '%s|' \"$@\" > "+got+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrong := New(Options{}).Try(t.Context(), configs.Notification{Way: "desktop"}, []Matter{{Text: `<a href="x">&\n`}})
	data, err := os.ReadFile(got)
	if want := `--app-name=parley|--|parley|&lt;a href="x"&gt;&amp;\\n|`; err != nil || wrong != "" || string(data) != want {
		t.Errorf("%q, %v: %s, want %s", wrong, err, data, want)
	}
}

// The bell rings at a terminal of the user.
func TestBell(t *testing.T) {
	p := clitest.OpenTerminal(t)
	if wrong := New(Options{}).Try(t.Context(), configs.Notification{Way: "bell"}, []Matter{{Text: "x"}}); wrong != "" {
		t.Error(wrong)
	}
	p.Shows("\a")
}
