package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Inventory is text that changes when a pack, or a loose object, comes, goes or is
// replaced. A git program at work moves objects from files to others: what could not
// be found is missing only if that text was the same before and after the look.
func (s *Store) Inventory() string {
	var text strings.Builder
	for _, folder := range []string{filepath.Join(s.dir, "objects"), string(s.folder)} {
		entries, _ := os.ReadDir(folder) // none that can be read: none
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(&text, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return text.String()
}
