//go:build unix && !linux && !darwin

package whereabouts

import (
	"time"

	"golang.org/x/sys/unix"
)

func folderOf(dir string) (folder uint64, born time.Time, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return 0, time.Time{}, err
	}
	return uint64(stat.Ino), time.Time{}, nil
}

// machineID is "": these systems have no common way to tell it.
func machineID() string { return "" }
