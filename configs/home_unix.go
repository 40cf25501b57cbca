//go:build unix

package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// UsualHome is the home of a node for which PARLEY_HOME names none.
func UsualHome(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "parley"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("cannot find a home: set PARLEY_HOME, or HOME to an absolute path")
	}
	return filepath.Join(home, ".local", "share", "parley"), nil
}

// foreign says why a folder is not only for us, or "".
func foreign(dir string, info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		if reason := foreignOwner(int(stat.Uid), os.Geteuid()); reason != "" {
			return reason
		}
	}
	if mode := info.Mode().Perm(); othersMay(mode) {
		return fmt.Sprintf("it is open to other users (mode %04o), and a home holds keys; run: chmod 700 %s", mode, shellWord(dir))
	}
	return ""
}

func foreignOwner(owner, self int) string {
	if owner == self {
		return ""
	}
	return fmt.Sprintf("it belongs to another user (uid %d, and you are uid %d)", owner, self)
}

// othersMay reports whether a mode gives any right to users other than the owner.
func othersMay(mode fs.FileMode) bool { return mode&0o077 != 0 }

// openToOthers reports whether users other than the owner can read a file.
func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }
