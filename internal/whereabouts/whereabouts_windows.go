package whereabouts

import (
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

func folderOf(dir string) (folder uint64, born time.Time, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, time.Time{}, err
	}
	// Only this flag lets a folder be opened.
	handle, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return 0, time.Time{}, err
	}
	defer windows.CloseHandle(handle)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &info); err != nil {
		return 0, time.Time{}, err
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), time.Unix(0, info.CreationTime.Nanoseconds()), nil
}

// machineID is the id that Windows was given when it was installed.
func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
}
