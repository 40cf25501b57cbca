//go:build !linux

package door

import (
	"os"
	"os/exec"

	"github.com/parleyfleet/parley/internal/keeper"
)

// startFamily starts a command. There are no keepers on this system.
func startFamily(cmd *exec.Cmd, _ Command, began func(pid int)) (family, error) {
	return startAlone(cmd, began)
}

// belongs finds nothing: commands run as the node's own user.
func belongs(os.FileInfo, *keeper.User) bool { return false }
