// Package mapped reads files through the system's memory mapping. Their pages count as the file's,
// not as memory of the process. They come and go as they are used.
package mapped

import (
	"fmt"
	"os"
)

// File is a file that is mapped for reading.
type File struct {
	// Data is the content of the file when it was opened. It must not be changed, nor used after
	// Close. If the file is cut short meanwhile, the program ends.
	Data  []byte
	unmap func() error
}

// Open maps the file at path.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return &File{unmap: func() error { return nil }}, nil
	}
	if int64(int(info.Size())) != info.Size() {
		return nil, fmt.Errorf("cannot map %s: it is too large for this system", path)
	}
	data, unmap, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("cannot map %s: %w", path, err)
	}
	return &File{Data: data, unmap: unmap}, nil
}

// Close ends the mapping.
func (f *File) Close() error {
	f.Data = nil
	return f.unmap()
}
