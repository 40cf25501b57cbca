package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// script is a program that says that it is parley of some version.
const script = "#!/bin/sh\necho parley 0.2.0\n"

func tarOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// releases serves files by their paths below the base. The list of checksums is made of them.
func releases(t *testing.T, files map[string][]byte) (base string) {
	t.Helper()
	var list strings.Builder
	for name, data := range files {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(data), filepath.Base(name))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/checksums.txt"):
			fmt.Fprint(w, list.String())
		case !ok:
			http.NotFound(w, r)
		case bytes.HasPrefix(data, []byte("CUT")): // less than was promised
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(data)
		default:
			_, _ = w.Write(data)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestProgram(t *testing.T) {
	base := releases(t, map[string][]byte{
		"/download/v0.2.0/parley_0.2.0_linux_amd64.tar.gz":  tarOf(t, "parley", script),
		"/download/v0.2.0/parley_0.2.0_windows_arm64.zip":   zipOf(t, "parley.exe", script),
		"/download/v0.2.0/parley_0.2.0_darwin_arm64.tar.gz": tarOf(t, "README.md", script),
		"/download/v0.2.0/parley_0.2.0_linux_arm64.tar.gz":  []byte("CUT"),
	})
	r, err := Newest(t.Context(), base+"/")
	if err != nil || r.Version != "0.2.0" {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, c := range []struct{ system, processor, want string }{
		{"linux", "amd64", ""},
		{"windows", "arm64", ""},
		{"darwin", "arm64", "there is no parley in it"},
		{"linux", "arm64", "was cut off"},
		{"plan9", "amd64", "release 0.2.0 has no program for plan9 on amd64"},
	} {
		program, err := r.Program(t.Context(), c.system, c.processor)
		if c.want == "" && (err != nil || string(program) != script) {
			t.Errorf("%s %s: %q, %v", c.system, c.processor, program, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %s", c.system, c.processor, err, c.want)
		}
	}
	r.sums["parley_0.2.0_linux_amd64.tar.gz"] = strings.Repeat("0", 64)
	if _, err := r.Program(t.Context(), "linux", "amd64"); err == nil || !strings.Contains(err.Error(), "is not what the release says") {
		t.Errorf("a wrong sum: %v", err)
	}
	if _, err := Newest(t.Context(), releases(t, nil)); err == nil || !strings.Contains(err.Error(), "names no archive of parley") {
		t.Errorf("an empty list: %v", err)
	}
}

// It prevents: an archive made with intent writes elsewhere, fills the memory, or leads to where
// anybody can answer.
func TestHostileArchives(t *testing.T) {
	tarred := func(h tar.Header, text string, cut int) []byte {
		var archive bytes.Buffer
		z, _ := gzip.NewWriterLevel(&archive, gzip.BestSpeed)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_, err := io.Copy(w, io.LimitReader(strings.NewReader(text), h.Size))
		if err == nil && h.Size > int64(len(text)) {
			_, err = io.Copy(w, io.LimitReader(zeros{}, h.Size-int64(len(text))))
		}
		if err = errors.Join(err, w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		return archive.Bytes()[:archive.Len()-cut]
	}
	for _, c := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"a link", tarred(tar.Header{Name: "parley", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}, "", 0), "no parley in it"},
		{"a hard link", tarred(tar.Header{Name: "parley", Typeflag: tar.TypeLink, Linkname: "../../bin/sh"}, "", 0), "no parley in it"},
		{"above", tarred(tar.Header{Name: "../parley", Typeflag: tar.TypeReg, Size: int64(len(script))}, script, 0), "no parley in it"},
		{"cut short", tarred(tar.Header{Name: "parley", Typeflag: tar.TypeReg, Size: int64(len(script))}, script, 60), "unexpected EOF"},
		{"huge", tarred(tar.Header{Name: "parley", Typeflag: tar.TypeReg, Size: largest + 1}, script, 0), "more than 256 MiB"},
		{"nothing", nil, "EOF"},
	} {
		r, err := Newest(t.Context(), releases(t, map[string][]byte{"/download/v0.2.0/parley_0.2.0_linux_amd64.tar.gz": c.archive}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Program(t.Context(), "linux", "amd64"); err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v, want %s", c.name, len(got), err, c.want)
		}
	}
	secure, plain := &http.Request{URL: &url.URL{Scheme: "https"}}, &http.Request{URL: &url.URL{Scheme: "http"}}
	if staysEncrypted(plain, []*http.Request{secure}) == nil || staysEncrypted(secure, []*http.Request{plain}) != nil || staysEncrypted(secure, []*http.Request{secure}) != nil {
		t.Error("it is led from an encrypted address to a plain one, or not from one to another")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// It prevents: whoever has no network reads an error of Go's.
func TestNoAnswer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	closed := s.URL
	s.Close()
	for base, want := range map[string]string{
		closed:                         closed + "/latest/download/checksums.txt is not reached: connection refused",
		releases(t, nil) + "/download": "names no archive",
	} {
		if _, err := Newest(t.Context(), base); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dial tcp") {
			t.Errorf("%s: %v, want %s", base, err, want)
		}
	}
	lookup := &url.Error{Op: "Get", URL: Usual, Err: &net.OpError{Op: "dial", Err: &net.DNSError{Name: "releases.invalid", Err: "no such host"}}}
	if got := unreached(Usual, lookup).Error(); got != "the name releases.invalid is not found" {
		t.Error(got)
	}
}

// It prevents: an upgrade that was killed leaves what keeps the next one from its work.
func TestReplaceAfterADeath(t *testing.T) {
	for _, left := range []string{".new-parley", ".aside-parley", "parley.old"} {
		path := filepath.Join(t.TempDir(), "parley")
		if err := errors.Join(os.WriteFile(path, []byte("one"), 0o755), os.WriteFile(filepath.Join(filepath.Dir(path), left), []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
		err := Replace(path, []byte("two"), func(string) error { return nil })
		if err = errors.Join(err, Back(path)); err != nil {
			t.Errorf("%s: %v", left, err)
		}
		now, _ := os.ReadFile(path)
		kept, _ := os.ReadFile(Kept(path))
		all, _ := os.ReadDir(filepath.Dir(path))
		if string(now) != "one" || string(kept) != "two" || len(all) != 2 {
			t.Errorf("%s: %s in place, %s kept, %d files", left, now, kept, len(all))
		}
	}
}

func TestNewer(t *testing.T) {
	ordered := []string{"0.1.0-snapshot.1", "0.1.0", "0.1.1-rc1", "0.1.1", "0.2.0", "0.10.0", "1.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if Newer(a, b) != (i > j) {
				t.Errorf("Newer(%s, %s) = %t", a, b, i <= j)
			}
		}
	}
}

// It prevents: a moment without a program, a program that does not start in the place of one that
// does, and an old one that is lost.
func TestReplaceAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley")
	want := func(now, kept string) {
		t.Helper()
		for file, text := range map[string]string{path: now, Kept(path): kept} {
			if data, _ := os.ReadFile(file); string(data) != text {
				t.Errorf("%s has %q, want %q", file, data, text)
			}
		}
		left, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(left) > 2 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	if err := os.WriteFile(path, []byte("one"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := Back(path); err == nil {
		t.Error("nothing is kept yet")
	}
	bad := errors.New("it does not start")
	if err := Replace(path, []byte("bad"), func(string) error { return bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	want("one", "")
	good := func(fresh string) error {
		if data, err := os.ReadFile(fresh); string(data) == "one" {
			return fmt.Errorf("the old one is checked: %v", err)
		}
		return nil
	}
	for _, text := range []string{"two", "three"} {
		if err := Replace(path, []byte(text), good); err != nil {
			t.Fatal(err)
		}
	}
	want("three", "two")
	if err := Back(path); err != nil {
		t.Fatal(err)
	}
	want("two", "three")
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o750) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestOwnerOf(t *testing.T) {
	if o := OwnerOf(t.Context(), "/opt/homebrew/Caskroom/parley/0.2.0/parley", "arm64"); o == nil || o.Name != "brew" {
		t.Errorf("%+v", o)
	}
	person := t.TempDir()
	t.Setenv("HOME", person)
	if o := OwnerOf(t.Context(), filepath.Join(t.TempDir(), "parley"), "amd64"); o != nil {
		t.Errorf("nobody's program belongs to %s", o.Name)
	}
	if left, err := os.ReadDir(person); err != nil || len(left) > 0 { // as rpm does on a Debian
		t.Errorf("who asked has left %v in the person's home, %v", left, err)
	}
	r := Release{Version: "0.2.0", base: "https://example.org/r"}
	want := "curl -fLO https://example.org/r/download/v0.2.0/parley_0.2.0_linux_arm64.deb && sudo apt-get install ./parley_0.2.0_linux_arm64.deb"
	if got := owners("arm64")[0].Upgrade(r); got != want {
		t.Error(got)
	}
}
