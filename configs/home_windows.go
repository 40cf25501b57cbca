package configs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// UsualHome is the home of a node for which PARLEY_HOME names none.
func UsualHome(getenv func(string) string) (string, error) {
	local := getenv("LocalAppData")
	if !filepath.IsAbs(local) {
		return "", errors.New("cannot find a home: set PARLEY_HOME, or LocalAppData to an absolute path")
	}
	return filepath.Join(local, "parley"), nil
}

// foreign finds nothing. On Windows, inherited access lists close to others what is below a user's
// profile, and file modes do not show that.
func foreign(string, fs.FileInfo) string { return "" }

// othersMay finds nothing, for the same reason.
func othersMay(fs.FileMode) bool { return false }

// openToOthers finds nothing, for the same reason.
func openToOthers(fs.FileInfo) bool { return false }
