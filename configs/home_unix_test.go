//go:build unix

package configs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultHome(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"PARLEY_HOME": "/p", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/p"},
		{map[string]string{"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/parley"},
		{map[string]string{"XDG_DATA_HOME": "x", "HOME": "/h"}, "/h/.local/share/parley"},
		{map[string]string{"HOME": "/h"}, "/h/.local/share/parley"},
		{map[string]string{"HOME": "h"}, ""},
		{nil, ""},
	} {
		got, err := DefaultHome(func(key string) string { return test.env[key] })
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%v: %q, %v", test.env, got, err)
		}
	}
}

func TestHomeOpen(t *testing.T) {
	h := Home{Dir: filepath.Join(t.TempDir(), "my home")}
	if err := os.Mkdir(h.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.Dir, 0o750); err != nil {
		t.Fatal(err)
	}
	wantHomeError(t, h, "it is open to other users (mode 0750), and a home holds keys; run: chmod 700 '"+h.Dir+"'")
}

// TestAFolderOfSomethingElseIsNotToBeClosed prevents: --home /etc, or a slip in PARLEY_HOME,
// is answered with "run: chmod 700 /etc".
func TestAFolderOfSomethingElseIsNotToBeClosed(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(h.Dir, "hosts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	wantHomeError(t, h, `it is not a parley home: it holds "hosts" and no config.yaml; name an empty folder`)
}

func TestHomeOwner(t *testing.T) {
	if got := foreignOwner(7, 7); got != "" {
		t.Errorf("one's own: %q", got)
	}
	const want = "it belongs to another user (uid 7, and you are uid 8)"
	if got := foreignOwner(7, 8); got != want {
		t.Errorf("got %q", got)
	}
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Skip("only root can give a folder away:", err)
	}
	h := Home{Dir: dir}
	if err := h.Check(); err == nil {
		t.Error("a folder of another user: no error")
	}
}
