package place

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A member of another user can work in its place, and can only read what it investigates. Nobody
// else sees what it writes. No link of that user has root read what the user may not read.
func TestMakeForOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
	const nobody, other = 65534, 65533
	base, err := os.MkdirTemp("/tmp", "parley-owner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home")
	write(t, filepath.Join(home, "login"), "secret")
	for _, path := range []string{home, filepath.Join(home, "login")} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s := Spec{Base: filepath.Join(base, "places"), Inquiry: inquiry, Perspective: "Cost", Login: []string{"login"}, Owner: &Owner{UID: nobody, GID: nobody, Home: home}, Material: material(t)}
	p := place(t, s)
	if p.Grade != "user" {
		t.Errorf("its grade is %q", p.Grade)
	}
	as := func(uid uint32, script string) (string, error) {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir, cmd.Env = "/", []string{"PATH=/bin:/usr/bin", "WORK=" + p.Dir, "OWN=" + p.Home}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	out, err := as(nobody, "cd $WORK && cat material/a/b.txt $OWN/login && echo mine >notes && echo tmp >$OWN/tmp/x")
	if err != nil || out != "bsecret" {
		t.Errorf("its owner: %q, %v", out, err)
	}
	for _, script := range []string{"echo x >>$WORK/material/a/b.txt", "chmod u+w $WORK/material/a", "rm $WORK/material/a/b.txt", "echo x >$WORK/../made"} {
		if out, err := as(nobody, script); err == nil {
			t.Errorf("its owner may %s: %q", script, out)
		}
	}
	for _, script := range []string{"ls $WORK", "cat $WORK/notes", "cat $OWN/login", "ls $WORK/.."} {
		if out, err := as(other, script); err == nil {
			t.Errorf("another user may %s: %q", script, out)
		}
	}
	if err := os.Symlink("/etc/shadow", filepath.Join(home, "stolen")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stolen", "pipe"} {
		s.Perspective, s.Login = name, []string{name}
		if _, err := Make(s); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if info, err := os.Stat(filepath.Join(p.Home, "login")); err != nil || info.Mode().Perm() != fs.FileMode(0o600) {
		t.Errorf("the login: %v, %v", info, err)
	}
}

// It prevents: what an agent names is read with root's rights, because the agent runs as another user
// and the node as root.
func TestAgentReadsAsItsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
	const nobody, group = 65534, 65533
	dir, err := os.MkdirTemp("/tmp", "parley-reader-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"own/a.txt": 0o644, "own/shared.txt": 0o640, "rooted/a.txt": 0o644, "rooted/secret.txt": 0o600, "closed/secret.txt": 0o644} {
		path := filepath.Join(dir, name)
		write(t, path, name)
		if err := errors.Join(os.Chmod(path, mode), os.Chmod(filepath.Dir(path), 0o755), os.Chown(path, 0, group)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	user := &Owner{UID: nobody, GID: nobody, Groups: []int{nobody, group}}
	for folder, want := range map[string]string{"own": "a.txt=own/a.txt shared.txt=own/shared.txt", "rooted": "", "closed": ""} {
		s, err := Snapshot(t.Context(), t.TempDir(), Ask{In: filepath.Join(dir, folder), Home: t.TempDir(), By: &Reader{Dir: dir, User: user}})
		got := ""
		if err == nil {
			got = listing(t, s.Dir)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", folder, got, err)
		}
	}
	if os.Geteuid() != 0 { // the rest of the program keeps its rights
		t.Error("the node is no longer root")
	}
	if _, err := os.ReadFile(filepath.Join(dir, "closed", "secret.txt")); err != nil {
		t.Error(err)
	}
}
