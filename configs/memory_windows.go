package configs

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// machineMemory is how many bytes of memory the machine has; 0 if nobody can tell.
func machineMemory() uint64 {
	var status struct { // MEMORYSTATUSEX
		length, load                                       uint32
		total, available                                   uint64
		totalPage, availablePage, totalVirtual, virtual, x uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.total
}
