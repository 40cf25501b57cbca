package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

const (
	socketMode fs.FileMode = 0o600
	folderMode fs.FileMode = 0o700
	// shortPrefix begins the names of folders for sockets whose own path would be too long for the
	// system.
	shortPrefix = "parley-"
	shortName   = "control.sock"
)

// maxSocketPath is the longest path of a socket, in bytes: the system's
// sun_path without its final NUL.
func maxSocketPath() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 107
	}
	return 103
}

// Listen opens the control socket at `path`, only for its owner. It makes the folder with mode 0700
// if it is missing. The caller holds the lock of the home. So a socket that is already there is a
// dead node's, and is replaced. Anything else there is left alone and is an error. If `path` is too
// long for the system, the socket lies in a private temporary folder, and `path` is a symbolic link
// to it. Close removes what Listen has made.
func Listen(path string) (net.Listener, error) {
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the control socket: %w", err)
	}
	return l, nil
}

func listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	if len(path) > maxSocketPath() {
		return listenShort(path)
	}
	return bind(path)
}

// bind makes the socket. The mode of the folder protects it until its own mode is set.
func bind(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	socket, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then another node's socket may be there, if the home was replaced
	return &linkedListener{Listener: l, close: sync.OnceValue(func() error {
		err := l.Close()
		if now, statErr := os.Lstat(path); statErr == nil && os.SameFile(socket, now) {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	})}, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeSocket:
	case fs.ModeSymlink:
		removeShort(path)
	case fs.ModeIrregular: // how Windows shows a socket
	default:
		return fmt.Errorf("%s is in the way: it is no socket; move it elsewhere", path)
	}
	return os.Remove(path)
}

// removeShort removes the temporary folder to which the link at `path` leads, if listenShort has
// made it. If this fails, the system's clean-up of temporary files does it.
func removeShort(path string) {
	target, err := os.Readlink(path)
	if err != nil || filepath.Base(target) != shortName || !strings.HasPrefix(filepath.Base(filepath.Dir(target)), shortPrefix) {
		return
	}
	_ = os.Remove(target)
	_ = os.Remove(filepath.Dir(target)) // only if it is empty
}

// listenShort binds a socket in a private temporary folder and links to it.
func listenShort(path string) (net.Listener, error) {
	dir, err := shortFolder()
	if err != nil {
		return nil, err
	}
	real := filepath.Join(dir, shortName)
	l, err := bind(real)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := os.Symlink(real, path); err != nil {
		return nil, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
	return &linkedListener{Listener: l, close: sync.OnceValue(func() error {
		err := l.Close()
		if target, linkErr := os.Readlink(path); linkErr == nil && target == real {
			err = errors.Join(err, os.Remove(path))
		}
		return errors.Join(err, os.RemoveAll(dir))
	})}, nil
}

// shortFolder makes a private folder (mode 0700) in which the path of a socket
// is short enough.
func shortFolder() (string, error) {
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(parent, shortPrefix)
		if err != nil {
			continue
		}
		if len(filepath.Join(dir, shortName)) <= maxSocketPath() {
			return dir, nil
		}
		_ = os.Remove(dir)
	}
	return "", errors.New("its path is too long for this system, and no temporary folder with a shorter one could be made")
}

// linkedListener is a listener whose Close also removes its socket, and the link to it if there is
// one, unless something else is there.
type linkedListener struct {
	net.Listener
	close func() error // once
}

// Close closes the listener and removes what Listen has made.
func (l *linkedListener) Close() error { return l.close() }

// Dial connects to the control socket at path, wherever Listen had to put it.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	if len(path) > maxSocketPath() {
		target, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		path = target
	}
	return new(net.Dialer).DialContext(ctx, "unix", path)
}
