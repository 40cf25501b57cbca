package carrier

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/gitremote"
)

// Clean checks the name of the shared repository. It makes a path absolute.
func Clean(remote string) (string, error) {
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

// Noted is a remote in the form in which the record notes it: without passwords and the like,
// because the repository may be copied and read.
func Noted(remote string) string {
	address, _ := gitremote.Split(remote)
	if gitremote.HasQuery(address) {
		address, _, _ = strings.Cut(address, "?")
	}
	return address
}
