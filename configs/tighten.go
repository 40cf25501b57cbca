package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Opened is something in a home that other users of the machine could have read or changed if they
// could enter the home.
type Opened struct {
	Path string
	Mode fs.FileMode // its mode before
	Key  bool        // it is a secret key
	Err  error       // why it could not be closed; the home itself still keeps others out
}

// Tighten closes everything in the home to other users, and returns what was open. So nobody can
// read it even if the home itself is opened by mistake. A key that cannot be closed is an error. On
// Windows it finds nothing, because inherited access lists close what lies in a user's profile.
func (h Home) Tighten() ([]Opened, error) { return h.open(true) }

// Open is what Tighten would close.
func (h Home) Open() ([]Opened, error) { return h.open(false) }

func (h Home) open(mend bool) ([]Opened, error) {
	var opened []Opened
	folders := []string{h.Agents(), h.Keys(), h.Record(), h.Journal(), h.Cache(), h.Prompts(), filepath.Dir(h.AgentSocket())}
	files := []string{h.Config(), h.Lock(), h.Log(), h.Log() + ".1", h.Runs(), h.Runs() + ".1"}
	for _, pattern := range []string{filepath.Join(h.Keys(), "*"), filepath.Join(h.Agents(), "*"+agentExt)} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("cannot look into the home %s: %w", h.Dir, err)
		}
		files = append(files, found...)
	}
	for _, path := range append(folders, files...) {
		key := filepath.Dir(path) == h.Keys()
		mode, err := closeToOthers(path, mend)
		if err != nil && key {
			return opened, err
		}
		if mode != 0 {
			opened = append(opened, Opened{Path: path, Mode: mode, Key: key, Err: err})
		}
	}
	return opened, nil
}

// closeToOthers takes away the rights of other users to a file or folder. If they had any, `had` is
// the mode before. It does nothing to a link, which has no mode of its own, and without `mend` to
// nothing.
func closeToOthers(path string, mend bool) (had fs.FileMode, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot look at %s: %w", path, err)
	}
	mode := info.Mode().Perm()
	if info.Mode()&fs.ModeSymlink != 0 || !othersMay(mode) {
		return 0, nil
	}
	if !mend {
		return mode, nil
	}
	const owners = 0o700
	if err := os.Chmod(path, mode&owners); err != nil {
		return mode, fmt.Errorf("cannot close %s to other users (mode %04o): %w; run: chmod go= %s", path, mode, err, shellWord(path))
	}
	return mode, nil
}

// KeyGone says that the host's key is not there; "" if it is.
func (h Home) KeyGone() string {
	if _, err := os.Stat(h.HostKey()); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return h.HostKey() + " is not there; bring it back from a backup: without it this host can only join anew, under another name"
}

// OpenToOthers says that other users may enter the home, and what to do about it. It is "" if they
// may not.
func (h Home) OpenToOthers() string {
	info, err := os.Stat(h.Dir)
	if err != nil || !othersMay(info.Mode().Perm()) {
		return ""
	}
	return fmt.Sprintf("the home is open to other users of this machine (mode %04o); run: chmod 700 %s", info.Mode().Perm(), shellWord(h.Dir))
}
