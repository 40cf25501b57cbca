package objects

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// It prevents: a disk that goes bad and fills with the packs that were put aside.
func TestTheLastDamagedPackIsKept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pack-b", "pack-a", "pack-a"} {
		base := filepath.Join(dir, name)
		if err := os.WriteFile(base+".pack", []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := packFolder(dir).putAside(base); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		if want := []string{filepath.Join(dir, "damaged-"+name+".pack")}; err != nil || !slices.Equal(left, want) {
			t.Errorf("kept are %q, want %q: %v", left, want, err)
		}
	}
}
