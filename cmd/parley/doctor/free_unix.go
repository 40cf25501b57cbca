//go:build unix

package doctor

import "golang.org/x/sys/unix"

// free is how much room the disk of a folder has for its user, in bytes.
func free(dir string) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}
