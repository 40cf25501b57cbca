package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/node/inquiry/place"
)

// The hash of what is investigated comes from another host, and becomes the name of a folder here.
// It prevents: a hash that leads elsewhere has this host read all that lies there, and take the
// folder.
func TestHashOfAnotherHostLeadsNowhere(t *testing.T) {
	in, base := t.TempDir(), filepath.Join(t.TempDir(), "places")
	if err := os.WriteFile(filepath.Join(in, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{"../..", "..", ".", "", "abc"} {
		if _, err := place.Fetch(t.Context(), base, place.Ask{In: in, Home: t.TempDir()}, hash); err == nil {
			t.Errorf("%q leads somewhere", hash)
		}
		if _, err := os.Stat(base); err == nil {
			t.Fatalf("%q: something was taken", hash)
		}
	}
}
