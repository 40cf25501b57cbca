package doctor

import "golang.org/x/sys/windows"

// free is how much room the disk of a folder has for its user, in bytes.
func free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var room uint64
	if err := windows.GetDiskFreeSpaceEx(name, &room, nil, nil); err != nil {
		return 0, err
	}
	return int64(room), nil
}
