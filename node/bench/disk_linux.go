package bench

import (
	"os"
	"path/filepath"
	"strings"
)

// diskOf is the kind of file system that a folder is on, and its device.
func diskOf(dir string) (kind, device string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", ""
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", ""
	}
	longest := -1
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		point := strings.ReplaceAll(fields[1], `\040`, " ")
		// Of two mounts at one place the later one is seen.
		if below(real, point) && len(point) >= longest {
			longest, device, kind = len(point), fields[0], fields[2]
		}
	}
	return kind, device
}

func below(dir, point string) bool {
	return dir == point || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/")
}
