// Package folders finds folders that are there. Those that were named when a process was started may
// be gone.
package folders

import "os"

// First is the first of the folders that is there now; else the home of this user, or the root.
func First(first ...string) string {
	home, _ := os.UserHomeDir() // "" is no folder
	for _, dir := range append(first, home) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return string(os.PathSeparator)
}

// Temporary is a folder for temporary files that is there: somebody may have removed the one that
// was named when this process was started.
func Temporary() string { return First(os.TempDir(), "/tmp") }
