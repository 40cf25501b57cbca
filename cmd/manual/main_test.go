package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/each"
	"gopkg.in/yaml.v3"
)

// It prevents: a package, or the cask, without the page of a command, or a page with lines that man leaves out.
func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "manual")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"parley":       ".BR parley\\-hey (1)",
		"parley-fleet": ".SH FLEET REMOTE SET\n.SS SYNOPSIS\n",
		"parley-hey":   "\n.SH EXAMPLES\n.nf\n  parley hey",
	} {
		if page := unpacked(t, filepath.Join(dir, "man1", name+".1.gz")); !strings.Contains(page, want) {
			t.Errorf("%s has no %q:\n%s", name, want, page)
		}
	}
	for _, name := range []string{"parley.bash", "_parley", "parley.fish", "parley.ps1"} {
		if text, err := os.ReadFile(filepath.Join(dir, "completions", name)); err != nil || !bytes.Contains(text, []byte("parley")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	packed, err := filepath.Glob(filepath.Join(dir, "man1", "*"))
	if err != nil || len(packed) < 40 {
		t.Fatalf("%d pages, %v", len(packed), err)
	}
	if diff := cmp.Diff(each.Of(packed, func(file string) string { return "man1/" + filepath.Base(file) }), caskPages(t)); diff != "" {
		t.Errorf("the cask of .goreleaser.yaml has other pages than those that there are: %s", diff)
	}
	lint, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("SKIPPED: mandoc is not installed, so no page is checked by it")
	}
	var all []string
	for _, file := range packed {
		plain := strings.TrimSuffix(file, ".gz")
		if err := os.WriteFile(plain, []byte(unpacked(t, file)), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, plain)
	}
	if said, err := exec.Command(lint, append([]string{"-T", "lint", "-W", "error"}, all...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// caskPages are the man pages that the cask for Homebrew installs, sorted.
func caskPages(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Casks []struct {
			Manpages []string `yaml:"manpages"`
		} `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(data, &release); err != nil || len(release.Casks) != 1 {
		t.Fatalf("%d casks, %v", len(release.Casks), err)
	}
	slices.Sort(release.Casks[0].Manpages)
	return release.Casks[0].Manpages
}

func TestEscaped(t *testing.T) {
	for line, want := range map[string]string{
		".SH no heading":  `\&.SH no heading`,
		"it's a \\ and -": `it\(aqs a \e and \-`,
	} {
		if got := escaped(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func unpacked(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
