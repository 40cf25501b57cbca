package configs

import "golang.org/x/sys/unix"

// machineMemory is how many bytes of memory the machine has; 0 if nobody can tell.
func machineMemory() uint64 {
	memory, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return memory
}
