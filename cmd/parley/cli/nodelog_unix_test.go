//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// It prevents: "up -d" as root in the home of another user is refused, and leaves a log that belongs
// to root, so that the owner's node can no longer start.
func TestARefusedUserLeavesNoLog(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(home.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Config(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home.Dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if file, err := OpenLog(home); err == nil {
		_ = file.Close()
		t.Error("the log is opened")
	}
	if _, err := os.Lstat(home.Log()); err == nil {
		t.Error("there is a log")
	}
}
