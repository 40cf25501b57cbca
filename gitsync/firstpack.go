package gitsync

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	// firstPackName is the file beside the journal that holds the record's first commit and its
	// files, as a pack. That commit gives the record its name and says who founded it. Without it
	// every signature would be wrong, whatever else can be read.
	firstPackName = "first.pack"
	// firstPackMost bounds it, in bytes. If another program began a record with more, its first
	// commit is only in record.git.
	firstPackMost = 4 << 20
)

// firstPack is the path of the second copy of the first commit.
type firstPack string

func firstPackOf(dir string) firstPack {
	return firstPack(filepath.Join(dir, journalName, firstPackName))
}

// keep makes a second copy of the first commit, if there is none.
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

// find looks for an object of the first commit.
func (f firstPack) find(h objects.Hash) (typ plumbing.ObjectType, data []byte, ok bool) {
	pack, err := os.ReadFile(string(f))
	if err != nil {
		return 0, nil, false
	}
	return objects.FindIn(pack, h)
}

// bring copies the first commit back into the repository.
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
