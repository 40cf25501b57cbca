package whereabouts

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func folderOf(dir string) (folder uint64, born time.Time, err error) {
	var stat unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &stat); err != nil {
		return 0, time.Time{}, err
	}
	if stat.Mask&unix.STATX_BTIME != 0 {
		born = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
	}
	return stat.Ino, born, nil
}

// machineID is the id that systemd was given or, on older systems, D-Bus.
func machineID() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if data, err := os.ReadFile(file); err == nil && len(data) > 0 {
			return string(data)
		}
	}
	return ""
}
