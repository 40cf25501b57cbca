//go:build !windows

package journal

import (
	"errors"
	"fmt"
	"os"
)

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot sync the journal's folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("cannot sync the journal's folder: %w", err)
	}
	return nil
}
