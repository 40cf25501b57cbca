package keeper

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/parleyfleet/parley/internal/folders"
	"github.com/parleyfleet/parley/internal/walls"
)

// CheckWalls returns an error that says why this system puts up no walls around a command of a
// user; nil stands for this process's own user. It tries it with a command that does nothing.
func CheckWalls(u *User) error {
	dir, err := os.MkdirTemp(folders.Temporary(), "parley-walls-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: u.credential()}
	path, args := walls.Walls{Hide: []string{dir}}.Around(attr, "/", walls.Idle, nil)
	runtime.LockOSThread() // the command would end with the thread
	defer runtime.UnlockOSThread()
	out, err := (&exec.Cmd{Path: path, Args: args, Dir: "/", SysProcAttr: attr}).CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}
