package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Somebody installs parley on a bare Debian by install.sh, upgrades, goes back, and leaves. It
// prevents: a step that works only on a machine of somebody who builds parley.
func TestInstallUpgradeLeave(t *testing.T) {
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || !scratch.Longer() || os.Geteuid() != 0 {
		t.Skip("SKIPPED: it makes a Debian in a folder: PARLEY_ROOT_TESTS=1 PARLEY_LONG_TESTS=1, as root")
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skip("SKIPPED: debootstrap is not here, so nobody has tried install.sh, upgrade and uninstall on a bare system")
	}
	root, err := os.MkdirTemp("/var/tmp", "parley-debian-") // a disk that may have programs and devices
	if err == nil {
		err = os.Chmod(root, 0o755) // it is the root folder of nat
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run(t, "", "rm", "-rf", "--one-file-system", root) }) // whatever is still mounted there stays
	run(t, "", "debootstrap", "--variant=minbase", "--include=git,curl,ca-certificates", "stable", root)
	for _, dir := range []string{"proc", "dev", "dev/pts"} {
		at := filepath.Join(root, dir)
		run(t, "", "mount", "--bind", "/"+dir, at)
		t.Cleanup(func() { run(t, "", "umount", at) })
	}
	run(t, "", "chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "nat")
	web := t.TempDir()
	release(t, web, "0.1.0")
	script, err := os.ReadFile("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "home", "nat", "install.sh"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(web)))
	t.Cleanup(s.Close)
	as := func(lines string) string {
		return run(t, "cd; export TMPDIR=/tmp HOME=/home/nat SHELL=/bin/bash PATH=/home/nat/.local/bin:/usr/bin:/bin PARLEY_UNWATCHED=1 PARLEY_BASE="+s.URL+"\nset -e\n"+lines, "chroot", root, "su", "nat", "-s", "/bin/bash")
	}
	wants := func(lines string, all ...string) {
		t.Helper()
		said := as(lines)
		for _, want := range all {
			if !strings.Contains(said, want) {
				t.Fatalf("%s\nsaid %s\nand not %q", lines, said, want)
			}
		}
	}
	t.Cleanup(func() { as("parley stop || true") }) // after a failure: it would hold what is mounted
	wants("sh install.sh", "installed: /home/nat/.local/bin/parley")
	wants("parley init --alias white --human nat; parley up -d; parley agent add blob --exec 'git hash-object --stdin'; parley hey blob --wait 1m first", "version 0.1.0", "\n9c59e24b8393179a5d712de4f990178df5734d99")
	release(t, web, "0.2.0")
	wants("parley upgrade; parley hey blob --wait 1m second", "version 0.2.0", "e019be006cf33489e2d0177a3837a2384eddebc5")
	wants("parley upgrade --back; parley record verify", "version 0.1.0", "nothing is wrong")
	wants("parley record backup kept --with-keys; parley agent skill install codex", "with the secret keys")
	wants("printf 'y\\ny\\nremove white\\n\\n' | script -qec 'parley uninstall' /dev/null", "out: skills for codex", "white is removed from the fleet", "packed: /home/nat/parley-home-", "rm /home/nat/.local/bin/parley")
	wants("parley record restore kept", "white, of the fleet nat, is here again")
}

// release builds parley as a version, and lays it where install.sh and upgrade look.
func release(t *testing.T, web, version string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "parley")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -X github.com/parleyfleet/parley/cmd/parley/cli.Version="+version, "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	lay(t, web, version, program)
}

// lay lays a program where install.sh and upgrade look for the newest version.
func lay(t *testing.T, web, version, program string) {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("parley_%s_linux_%s.tar.gz", version, runtime.GOARCH)
	hash := sha256.New()
	for _, dir := range []string{"download/v" + version, "latest/download"} {
		if err := os.MkdirAll(filepath.Join(web, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(web, "download", "v"+version, name))
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed) // it fails only for a level that there is not
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "parley", Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	hash.Write(archive)
	if err := os.WriteFile(filepath.Join(web, "latest", "download", "checksums.txt"), fmt.Appendf(nil, "%x  %s\n", hash.Sum(nil), name), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a program with some input, and returns what it says.
func run(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(input)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, said)
	}
	return string(said)
}
