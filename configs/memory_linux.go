package configs

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is how many bytes of memory this program and those that it starts may use: those of
// the machine, or fewer if its control group has a limit, as in a container. It is 0 if nobody can
// tell.
func machineMemory() uint64 {
	memory := uint64(math.MaxUint64)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it there is no limit to be seen
	for line := range strings.Lines(string(groups)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ; ok && strings.HasPrefix(group, "/"); group = path.Dir(group) {
			limit, _ := os.ReadFile("/sys/fs/cgroup" + path.Join(group, "memory.max"))
			if n, err := strconv.ParseUint(strings.TrimSpace(string(limit)), 10, 64); err == nil {
				memory = min(memory, n)
			}
			if group == "/" {
				break
			}
		}
	}
	if memory == math.MaxUint64 {
		return 0
	}
	return memory
}
