package gitsync

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTwoHostsFillOneRemoteAtOnce(t *testing.T) {
	t.Parallel()
	for range 4 {
		remote := bareRemote(t)
		var ids [2]string
		var hosts sync.WaitGroup
		for i := range ids {
			opts := Options{Dir: filepath.Join(t.TempDir(), "home"), Remote: remote, Author: Author{Name: string(rune('a' + i))}, Builtin: isBuiltin(t) || isMixed(t) && i%2 == 0}
			hosts.Go(func() {
				found, err := Init(t.Context(), opts, rootFiles)
				if err != nil {
					t.Error(err)
				}
				ids[i] = found.ID
			})
		}
		hosts.Wait()
		if ids[0] != ids[1] || ids[0] == "" {
			t.Errorf("two records were begun: %q", ids)
		}
	}
}

// sshScript makes a script stand in for ssh.
func sshScript(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH_COMMAND", path)
}

func TestErrorsOfSSHAreReadable(t *testing.T) {
	sshScript(t, "echo 'git@host: Permission denied (publickey).' >&2; exit 255\n")
	_, err := Init(t.Context(), Options{Dir: t.TempDir(), Remote: "git@host:x.git", Author: Author{Name: "a"}}, rootFiles)
	if err == nil || !strings.Contains(err.Error(), "Permission denied (publickey)") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Init: %v", err)
	}
}

// TestHungRemoteIsKilled prevents that a helper of git which hangs keeps the node from stopping.
func TestHungRemoteIsKilled(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	sshScript(t, "echo $$ > "+started+"; exec sleep 1000\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Init(ctx, Options{Dir: t.TempDir(), Remote: "git@host:x.git", Author: Author{Name: "a"}}, rootFiles)
		done <- err
	}()
	eventually(t, "ssh runs", func() bool { data, err := os.ReadFile(started); return err == nil && len(data) > 0 })
	cancel(errors.New("the operator had enough"))
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "had enough") {
			t.Errorf("Init: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for the helper")
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// TestACutOffPushLeavesNoLock prevents that a node which is stopped in the middle of a push to a
// path leaves main of the shared repository locked. Then nobody could push any more.
func TestACutOffPushLeavesNoLock(t *testing.T) {
	t.Parallel()
	remote, started := bareRemote(t), filepath.Join(t.TempDir(), "started")
	h := newHome(t, "a", remote)
	hook := filepath.Join(remote, "hooks", "reference-transaction")
	script := "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\ntouch " + started + "\nexec sleep 1000\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(hook), 0o700), os.WriteFile(hook, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 1))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Sync(ctx) }()
	lock := filepath.Join(remote, "refs", "heads", "main.lock")
	eventually(t, "main is locked", func() bool { return exists(started) && exists(lock) })
	cancel()
	if err := <-done; err == nil {
		t.Error("a push that was cut off is said to have succeeded")
	}
	eventually(t, "main can be moved again", func() bool { return !exists(lock) })
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
}

// TestInheritedRepositoryIsIgnored prevents that parley, started from a git hook, works on the
// repository of the hook.
func TestInheritedRepositoryIsIgnored(t *testing.T) {
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "x")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.bare")
	t.Setenv("GIT_CONFIG_VALUE_0", "false")
	h := newHome(t, "a", bareRemote(t))
	h.append(t, testMessage(1, 1))
	h.sync(t)
}

func TestRefusedPushIsNoRace(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	h := newHome(t, "a", remote)
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho not today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.append(t, testMessage(1, 1))
	if err := h.Sync(t.Context()); !errors.Is(err, ErrRemote) {
		t.Errorf("Sync: %v", err)
	}
	if got := h.Status().Trouble.Text; !strings.Contains(got, "cannot push main") {
		t.Errorf("RemoteError = %q", got)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	h.sync(t)
	if got := h.Status().Trouble.Text; got != "" {
		t.Errorf("RemoteError = %q", got)
	}
}
