package configs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

func userHome(getenv func(string) string) (string, error) {
	local := getenv("LocalAppData")
	if !filepath.IsAbs(local) {
		return "", errors.New("cannot find a home: set PARLEY_HOME, or LocalAppData to an absolute path")
	}
	return filepath.Join(local, "parley"), nil
}

// foreign finds nothing: on Windows what lies below a user's profile is closed
// to others by inherited access lists, which file modes do not show.
func foreign(string, fs.FileInfo) string { return "" }

// othersMay finds nothing, for the same reason.
func othersMay(fs.FileMode) bool { return false }

// openToOthers finds nothing, for the same reason.
func openToOthers(fs.FileInfo) bool { return false }
