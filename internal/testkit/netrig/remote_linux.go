package netrig

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Remote is a bare git repository that a host serves, for fetching and pushing, to all who can
// reach it.
type Remote struct {
	*Host
	URL string
	Dir string // for git on this machine, without the network
}

// Remote adds a host that serves an empty repository.
func (n *Net) Remote(t testing.TB) *Remote {
	t.Helper()
	h, base := n.Host("remote"), t.TempDir()
	r := &Remote{Host: h, URL: "git://" + h.Address + "/shared.git", Dir: filepath.Join(base, "shared.git")}
	n.must("git", "init", "--quiet", "--bare", "--initial-branch=main", r.Dir)
	daemon := h.Command(context.Background(), "git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack",
		"--base-path="+base, "--listen="+h.Address, base)
	var said bytes.Buffer
	daemon.Stdout, daemon.Stderr = &said, &said
	daemon.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children
	if err := daemon.Start(); err != nil {
		t.Fatalf("cannot serve a repository: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-daemon.Process.Pid, syscall.SIGKILL) // it may have ended already
		_ = daemon.Wait()                                      // it ends by the signal
	})
	for deadline := time.Now().Add(scratch.Patience()); ; {
		err := h.Command(context.Background(), "git", "ls-remote", r.URL).Run()
		if err == nil {
			return r
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(-daemon.Process.Pid, syscall.SIGKILL)
			_ = daemon.Wait()
			t.Fatalf("git daemon does not answer: %v: %s", err, &said)
		}
		<-time.After(20 * time.Millisecond) // only spares the processor
	}
}

// Git runs the git program in the repository, without the network.
func (r *Remote) Git(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.Dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}
