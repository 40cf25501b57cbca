package place

import (
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
