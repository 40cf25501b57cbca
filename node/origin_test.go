package node

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// It prevents: a home that was copied with its key runs beside the first one, and everything that
// is asked is answered twice; or the copy has written something before it says so.
func TestACopyOfAHomeDoesNothing(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "leaf", bareRemote(t) })
	copy := copied(t, home)
	before := contents(t, copy.Dir)
	_, err := Open(t.Context(), Options{Home: copy, Version: "test", Log: zerolog.Nop()})
	var refused *control.Error
	if !errors.As(err, &refused) || refused.Kind != control.KindConflict || !strings.Contains(refused.Message, "a copy of "+home.Dir+" on this machine") ||
		!strings.Contains(refused.Hint, "parley up --moved") || !strings.Contains(refused.Hint, "join URL --alias NAME") {
		t.Fatalf("a copy is opened: %v", err)
	}
	if after := contents(t, copy.Dir); !maps.Equal(before, after) {
		t.Errorf("the copy was changed:\nbefore %v\nafter  %v", before, after)
	}
	// The first home is gone for good. The copy takes its place, and is the home from then on.
	if err := os.RemoveAll(home.Dir); err != nil {
		t.Fatal(err)
	}
	_, ended := startNodeWith(t, Options{Home: copy, Version: "test", Log: zerolog.Nop(), Moved: true, builtin: true})
	select {
	case err := <-ended:
		t.Fatalf("it ended with %v", err)
	default:
	}
	if known, err := copy.CheckOrigin(); !known || err != nil {
		t.Errorf("the home that was moved does not know where it is: %v, %v", known, err)
	}
}

// contents returns the files of a folder with their bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "folder"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// It prevents: a folder that is renamed, or a home of an earlier version, is taken for a copy and
// does not start any more.
func TestAHomeMayBeRenamed(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	if err := os.Remove(home.Origin()); err != nil { // as earlier versions left it
		t.Fatal(err)
	}
	for range 2 {
		n, err := Open(t.Context(), Options{Home: home, Version: "test", Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		n.Close()
		if known, err := home.CheckOrigin(); !known || err != nil {
			t.Fatalf("the home does not know where it is: %v, %v", known, err)
		}
		renamed := configs.Home{Dir: filepath.Join(t.TempDir(), "renamed")}
		if err := os.Rename(home.Dir, renamed.Dir); err != nil {
			t.Fatal(err)
		}
		home = renamed
	}
}
