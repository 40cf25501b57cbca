package mapped

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	at, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, errors.Join(err, windows.CloseHandle(mapping))
	}
	// The address is a number here. unsafe.Slice needs it as a pointer.
	data = unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return data, func() error {
		return errors.Join(windows.UnmapViewOfFile(at), windows.CloseHandle(mapping))
	}, nil
}
