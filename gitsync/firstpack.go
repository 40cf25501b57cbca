package gitsync

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	// firstPackName is the file beside the journal that holds the record's first
	// commit and its files, as a pack. That commit names the record, and who founded
	// it: without it every signature would be wrong, whatever else can be read.
	firstPackName = "first.pack"
	// firstPackMost bounds it. A record that another program began with more keeps
	// its first commit in record.git alone.
	firstPackMost = 4 << 20
)

// firstPack is where the second copy of the first commit is.
type firstPack string

func firstPackOf(dir string) firstPack {
	return firstPack(filepath.Join(dir, journalName, firstPackName))
}

// keep keeps a second copy of the first commit, where there is none.
func (f firstPack) keep(store *objects.Store, first objects.Hash) error {
	if f.exists() {
		return nil
	}
	pack, err := store.PackAll(first, firstPackMost)
	if err != nil {
		return err
	}
	return objects.WriteFile(string(f), pack)
}

func (f firstPack) exists() bool {
	_, err := os.Lstat(string(f))
	return !errors.Is(err, fs.ErrNotExist)
}

// bring puts the first commit back into the repository from its second copy.
func (f firstPack) bring(store *objects.Store) error {
	pack, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = store.InstallPack(bytes.NewReader(pack))
	}
	if err != nil {
		return fmt.Errorf("cannot bring back the first commit: %w", err)
	}
	return nil
}
