//go:build unix

package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// play runs install.sh with only some programs in its PATH.
func play(t *testing.T, base string, tools []string, args ...string) (home, said string, err error) {
	t.Helper()
	bin := t.TempDir()
	home = t.TempDir()
	for _, name := range tools {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("SKIPPED: install.sh is not tried, because %s is not here", name)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: install.sh is not tried, because there is no sh")
	}
	cmd := exec.Command(shell, append([]string{"../../install.sh"}, args...)...)
	cmd.Env = []string{"PATH=" + bin, "HOME=" + home, "PARLEY_BASE=" + base, "TMPDIR=" + t.TempDir()}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return home, out.String(), err
}

// A person installs parley by install.sh, with the tools that a small system has. It prevents: a
// program that is not what was released, half a program, and riddles where something is missing.
func TestInstallScript(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("SKIPPED: there is no release for this processor")
	}
	tools := []string{"uname", "mktemp", "rm", "grep", "head", "cut", "cp", "chmod", "mv", "mkdir", "tar", "gzip", "cat"}
	name := "/download/v0.2.0/parley_0.2.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	good := releases(t, map[string][]byte{name: tarOf(t, "parley", script)})
	files := map[string][]byte{name: tarOf(t, "parley", script)}
	wrong := releases(t, files)
	files[name] = tarOf(t, "parley", script+"# somebody has added this\n")
	for _, c := range []struct {
		name  string
		base  string
		tools []string
		args  []string
		want  string // "": it is installed
	}{
		{"curl", good, []string{"curl", "sha256sum"}, nil, ""},
		{"wget", good, []string{"wget", "sha256sum"}, nil, ""},
		{"another sum", good, []string{"curl", "openssl"}, nil, ""},
		{"a version", good, []string{"curl", "sha256sum"}, []string{"--version", "v0.2.0"}, ""},
		{"wrong sum", wrong, []string{"curl", "sha256sum"}, nil, "is not what the release says"},
		{"cut off", releases(t, map[string][]byte{name: []byte("CUT")}), []string{"curl", "sha256sum"}, nil, "whole; nothing was installed"},
		{"does not start", releases(t, map[string][]byte{name: tarOf(t, "parley", "#!/bin/sh\nexit 1\n")}), []string{"curl", "sha256sum"}, nil, "does not start here"},
		{"no archive", releases(t, map[string][]byte{"parley_0.2.0_plan9_amd64.tar.gz": nil}), []string{"curl", "sha256sum"}, nil, "has no archive for " + runtime.GOOS},
		{"nobody answers", "http://127.0.0.1:1", []string{"curl", "sha256sum"}, nil, "is the network there?"},
		{"no curl", good, []string{"sha256sum"}, nil, "neither curl nor wget is here"},
		{"no sums", good, []string{"curl"}, nil, "none of sha256sum, shasum and openssl is here"},
		{"unknown word", good, nil, []string{"--sudo"}, "Usage:"},
		{"no place", good, []string{"curl", "sha256sum"}, []string{"--prefix", "/dev/null"}, "cannot write into /dev/null/bin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, said, err := play(t, c.base, append(c.tools, tools...), c.args...)
			program, readErr := os.ReadFile(filepath.Join(home, ".local", "bin", "parley"))
			if c.want == "" {
				if err != nil || string(program) != script || !strings.Contains(said, "installed: "+home) || !strings.Contains(said, "is not in your PATH") {
					t.Errorf("%v %v\n%s", err, readErr, said)
				}
				return
			}
			if err == nil || !strings.Contains(said, c.want) || readErr == nil {
				t.Errorf("%v\n%s\nwant %q", err, said, c.want)
			}
		})
	}
}

// It prevents: the program in a folder of its name, under a name that nobody knows, and a screen that
// says that it is installed.
func TestInstallScriptOntoAFolder(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("SKIPPED: there is no release for this processor")
	}
	prefix := t.TempDir()
	if err := os.MkdirAll(filepath.Join(prefix, "bin", "parley"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := releases(t, map[string][]byte{"/download/v0.2.0/parley_0.2.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz": tarOf(t, "parley", script)})
	tools := []string{"uname", "mktemp", "rm", "grep", "head", "cut", "cp", "chmod", "mv", "mkdir", "tar", "gzip", "cat", "curl", "sha256sum"}
	_, said, err := play(t, base, tools, "--prefix", prefix)
	if left, _ := os.ReadDir(filepath.Join(prefix, "bin", "parley")); err == nil || len(left) > 0 || !strings.Contains(said, "it is a folder") {
		t.Errorf("%v, left %v\n%s", err, left, said)
	}
}

// A system or a processor without a release is named, with what to do.
func TestInstallScriptElsewhere(t *testing.T) {
	for uname, want := range map[string]string{
		`[ "$1" = -s ] && echo FreeBSD || echo amd64`: "there is no parley for the system FreeBSD here",
		`[ "$1" = -s ] && echo Linux || echo riscv64`: "there is no parley for the processor riscv64",
	} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\n"+uname+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "../../install.sh")
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PARLEY_BASE=http://127.0.0.1:1"}
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%v\n%s", err, said)
		}
	}
}
