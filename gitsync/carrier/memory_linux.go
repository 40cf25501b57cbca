package carrier

import "golang.org/x/sys/unix"

// boundMemory bounds how much memory a process may take, and each of those that it starts from then
// on. If that fails, the process has no bound.
func boundMemory(pid int, most uint64) {
	var has unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &has) == nil {
		has.Max = min(has.Max, most)
		has.Cur = min(has.Cur, has.Max)
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &has, nil)
	}
}
