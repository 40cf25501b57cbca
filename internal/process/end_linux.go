package process

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Environment returns a variable of the environment with which a process began its program. `ok` is
// false if the process had none of that name, or if that cannot be seen.
func Environment(pid int, name string) (value string, ok bool) {
	data, err := file(pid, "environ")
	if err != nil {
		return "", false
	}
	for one := range strings.SplitSeq(string(data), "\x00") {
		if value, ok := strings.CutPrefix(one, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Signal sends a signal to a process if `meant` returns true. It calls `meant` when the number can
// belong to no later process any more. It reports whether it sent the signal. It sends none if the
// system has no handles of processes.
func Signal(pid int, s syscall.Signal, meant func() bool) bool {
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(handle)
	return meant() && unix.PidfdSendSignal(handle, s, nil, 0) == nil
}
