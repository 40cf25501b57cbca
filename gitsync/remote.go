package gitsync

import (
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/internal/gitremote"
)

// cleanRemote checks what names the shared repository; a path becomes absolute.
func cleanRemote(remote string) (string, error) {
	if remote != "" && gitremote.IsPath(remote) && remote[0] != '-' {
		path, err := filepath.Abs(remote)
		if err != nil {
			return "", fmt.Errorf("cannot find the shared repository: %w", err)
		}
		remote = path
	}
	if err := gitremote.Check(remote); err != nil {
		return "", fmt.Errorf("the shared repository: %w", err)
	}
	return remote, nil
}
