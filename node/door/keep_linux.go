package door

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/parleyfleet/parley/internal/keeper"
)

func startFamily(cmd *exec.Cmd, c Command, began func(pid int)) (family, error) {
	if c.Keepers == nil {
		return startAlone(cmd, began)
	}
	k := keeper.Command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ(), User: c.User, Limits: c.Limits, Walls: c.Walls}
	for i, file := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		k.Files[i], _ = file.(*os.File)
		if c.User != nil && k.Files[i] != nil { // so that it can open /dev/stdout and the like
			if err := k.Files[i].Chown(int(c.User.UID), int(c.User.GID)); err != nil {
				return nil, err
			}
		}
	}
	if c.Run != "" {
		k.Group = keeper.NewGroup(c.Run, c.Limits)
	}
	kept, err := c.Keepers.Start(k, began)
	if err != nil {
		return nil, err
	}
	return keptFamily{kept}, nil
}

// keptFamily is a command beneath a keeper, with all processes that come of it.
type keptFamily struct{ *keeper.Kept }

func (k keptFamily) terminate() { k.Terminate() }

func (k keptFamily) kill() { k.Kill() }

func (k keptFamily) waitLeader() { <-k.Ended() }

func (k keptFamily) release() ending {
	e, left := k.Release()
	return ending{exitCode: e.ExitCode, signal: e.Signal, limit: e.Limit, left: left}
}

func belongs(info os.FileInfo, user *keeper.User) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == user.UID
}
