//go:build unix

package root

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
)

// fake is a program that says that it is parley of a version, and notes each restart. With `broken`
// the node does not start with it.
func fake(version string, broken bool) string {
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo 'parley " + version + " (test)'; exit; fi\necho \"" + version + " $3\" >>\"$2/restarts\"\n"
	if broken {
		text += "exit 1\n"
	}
	return text
}

// released serves a release with a program for this machine.
func released(t *testing.T, version, program string) (base string) {
	t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "parley", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write([]byte(program))
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("parley_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/download/checksums.txt":
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(archive.Bytes()), name)
		case "/download/v" + version + "/" + name:
			_, _ = w.Write(archive.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// It prevents: a node that is down after an upgrade that does not start, and an upgrade from which
// nothing leads back.
func TestUpgrade(t *testing.T) {
	for _, c := range []struct {
		name     string
		version  string
		program  string
		back     bool
		check    bool
		code     error
		says     string // on either output
		now      string // the version that is in place afterwards
		kept     string // the version that is kept; "" for none
		restarts string
	}{
		{name: "newer", version: "9.0.0", program: fake("9.0.0", false), says: "parley 9.0.0 is at", now: "9.0.0", kept: cli.Version, restarts: "9.0.0 restart\n"},
		{name: "only asked", version: "9.0.0", program: fake("9.0.0", false), check: true, says: "newest:   9.0.0", now: cli.Version},
		{name: "the newest is here", version: cli.Version, program: fake("9.0.0", false), says: "this is the newest", now: cli.Version},
		{name: "the node does not start", version: "9.0.0", program: fake("9.0.0", true), code: errors.New(""), says: cli.Version + " is back and runs it",
			now: cli.Version, kept: "9.0.0", restarts: "9.0.0 restart\n" + cli.Version + " restart\n"},
		{name: "it does not start", version: "9.0.0", program: "#!/bin/sh\nexit 1\n", code: errors.New(""), says: "it does not start here", now: cli.Version},
		{name: "it is another", version: "9.0.0", program: fake("8.0.0", false), code: errors.New(""), says: "it says that it is 8.0.0", now: cli.Version},
		{name: "back without one", version: "9.0.0", back: true, code: errors.New(""), says: "no earlier program that starts", now: cli.Version},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t)
			home := configs.Home{Dir: r.Env["PARLEY_HOME"]}
			u := upgrade{check: c.check, back: c.back, program: filepath.Join(t.TempDir(), "parley"), base: released(t, c.version, c.program), home: home}
			if err := os.WriteFile(u.program, []byte(fake(cli.Version, false)), 0o755); err != nil {
				t.Fatal(err)
			}
			err := u.run(t.Context(), r.Program)
			if said := r.Out.String() + r.Err.String() + fmt.Sprint(err); (err == nil) != (c.code == nil) || !strings.Contains(said, c.says) {
				t.Errorf("%v\n%s\nwant %q", err, said, c.says)
			}
			want(t, u.program, c.now)
			want(t, u.program+".old", c.kept)
			if got, _ := os.ReadFile(filepath.Join(home.Dir, "restarts")); string(got) != c.restarts {
				t.Errorf("restarts: %q, want %q", got, c.restarts)
			}
			if c.name != "newer" {
				return
			}
			u.back = true
			if err := u.run(t.Context(), r.Program); err != nil {
				t.Fatal(err)
			}
			want(t, u.program, cli.Version)
			want(t, u.program+".old", "9.0.0")
		})
	}
}

func want(t *testing.T, program, version string) {
	t.Helper()
	is, err := versionOf(t.Context(), program)
	if is != version || (err == nil) != (version != "") {
		t.Errorf("%s is %q, %v; want %q", program, is, err, version)
	}
}
