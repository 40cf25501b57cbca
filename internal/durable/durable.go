// Package durable makes files survive a power cut.
package durable

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Folder makes the names in a folder durable. Windows cannot sync a folder. There it does nothing,
// and relies on the file system: NTFS journals its folders.
func Folder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot sync a folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("cannot sync %s: %w", path, err)
	}
	return nil
}
