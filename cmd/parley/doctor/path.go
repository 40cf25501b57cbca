package doctor

import (
	"cmp"
	"context"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/service"
)

// unlooked are the folders in which a new terminal of the person looks for programs, and the node with
// the process `pid` does not; none if nobody can tell.
func unlooked(ctx context.Context, pid int, getenv func(string) string) []string {
	path, known := process.Environment(pid, "PATH")
	if !known || path == "" {
		return nil
	}
	login := service.Login{Shell: cmp.Or(getenv("SHELL"), "/bin/sh"), Home: getenv("HOME"), User: cmp.Or(getenv("USER"), getenv("LOGNAME")), UID: -1}
	return service.Missing(login.Path(ctx), path)
}
