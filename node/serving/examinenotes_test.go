package serving

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/node/examiner"
)

// It prevents: a ψ of many files keeps a node from ending until all of them are read.
func TestReadingNotesEndsWithTheNode(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.md"), []byte("Four."), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := readNotes(ctx, dir, false, func(examiner.Text) { t.Error("a note was read after the end") })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
