package control_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/node/control"
)

// shortDir is a private folder in which the path of a socket is short enough.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// longDir is a folder in which no socket can be bound.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(shortDir(t), strings.Repeat("deep/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// serveAt serves s at path until the test, or the returned function, ends it.
func serveAt(t *testing.T, path string, s control.Answers, info control.Info) (end func()) {
	t.Helper()
	listener, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- control.Serve(ctx, listener, s, info) }() // ends with ctx
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(end)
	return end
}

func thisVersion() control.Info {
	return control.Info{Version: "0.1.0", API: control.API, Judge: controltest.Operator}
}

// Crosstalk C24.
func TestListenIsPrivateAndCleansUp(t *testing.T) {
	for name, dir := range map[string]string{"short path": shortDir(t), "path too long for the system": longDir(t)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "home", "control.sock")
			end := serveAt(t, path, newMemory().answers(), thisVersion())
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != fs.ModeSocket|0o600 {
				t.Errorf("socket: %v, %v; want mode 0600", info, err)
			}
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, folder := range []string{filepath.Dir(path), filepath.Dir(real)} {
				if info, err := os.Stat(folder); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
					t.Errorf("folder %s: %v, %v; want mode 0700", folder, info, err)
				}
			}
			if _, err := control.ShowStatus.Ask(t.Context(), control.NewClient(path, "0.1.0")); err != nil {
				t.Error(err)
			}
			end()
			for _, gone := range []string{path, real} {
				if _, err := os.Lstat(gone); !os.IsNotExist(err) {
					t.Errorf("%s is still there after Close (%v)", gone, err)
				}
			}
			if filepath.Dir(real) != filepath.Dir(path) {
				if _, err := os.Lstat(filepath.Dir(real)); !os.IsNotExist(err) {
					t.Errorf("the temporary folder is still there after Close (%v)", err)
				}
			}
		})
	}
}

func TestListenReplacesADeadNodesSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	wantKind(t, status(t, path), control.KindUnavailable)
	serveAt(t, path, newMemory().answers(), thisVersion())
	if err := status(t, path); err != nil {
		t.Error(err)
	}
}

func TestListenReplacesADeadNodesLink(t *testing.T) {
	path := filepath.Join(longDir(t), "control.sock")
	listener, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.Readlink(path)
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, path, newMemory().answers(), thisVersion()) // nothing was closed, as after kill -9
	if err := status(t, path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Dir(old)); !os.IsNotExist(err) {
		t.Errorf("the dead node's folder %s is still there (%v)", filepath.Dir(old), err)
	}
	_ = listener // keeps the old socket's file open until here
}

func TestListenLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(path); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("error %v, want it to say that a file is in the way", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file is now %q, %v", data, err)
	}
}

func TestNoNode(t *testing.T) {
	for name, dir := range map[string]string{"short path": shortDir(t), "long path": longDir(t)} {
		err := status(t, filepath.Join(dir, "control.sock"))
		wantKind(t, err, control.KindUnavailable)
		if e := control.AsError(err); e.Message != "no node is running for "+dir || e.Hint != "parley up -d" {
			t.Errorf("%s: %q, hint %q", name, e.Message, e.Hint)
		}
	}
}

// It prevents: if a node is killed while a command waits, the command shows an internal URL.
func TestNodeThatDiesMeanwhile(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			_, _ = conn.Read(make([]byte, 1))
			conn.Close()
		}
	}()
	err = status(t, path)
	wantKind(t, err, control.KindUnavailable)
	if strings.Contains(err.Error(), "http") {
		t.Error(err)
	}
}

func status(t *testing.T, path string) error {
	t.Helper()
	_, err := control.ShowStatus.Ask(t.Context(), control.NewClient(path, "0.1.0"))
	return err
}

func wantKind(t *testing.T, err error, kind control.Kind) {
	t.Helper()
	if err == nil || control.AsError(err).Kind != kind {
		t.Errorf("error %v, want one of kind %s", err, kind)
	}
}
