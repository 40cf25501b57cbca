package scratch

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// folder is in memory on nearly every machine.
const folder = "/dev/shm"

// least is how much room, in bytes, the folder must have. There must be twice as much free memory,
// because several packages are tested at a time.
const least = 3 << 30

// plenty reports whether tests may fill a folder in memory.
func plenty(folder string) bool {
	const inMemory = 0x01021994 // TMPFS_MAGIC of the kernel
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Type != inMemory || fs.Bavail*uint64(fs.Bsize) < least {
		return false
	}
	text, _ := os.ReadFile("/proc/meminfo") // without it, nothing is known
	_, text, _ = bytes.Cut(text, []byte("MemAvailable:"))
	var kilobytes uint64
	_, err := fmt.Fscan(bytes.NewReader(text), &kilobytes)
	return err == nil && kilobytes<<10 >= 2*least
}
