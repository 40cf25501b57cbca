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

func (r *Record) firstPack() string { return filepath.Join(r.opts.Dir, journalName, firstPackName) }

// keepFirst keeps a second copy of the first commit, where there is none. It is no
// reason not to start.
func (r *Record) keepFirst() {
	if _, err := os.Lstat(r.firstPack()); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	pack, err := r.store.PackAll(r.id, firstPackMost)
	if err == nil {
		err = objects.WriteFile(r.firstPack(), pack)
	}
	if err != nil {
		r.log.Info().Err(err).Msg("there is no second copy of the first commit")
	}
}

// bringFirst puts the first commit back into the repository from its second copy.
func (r *Record) bringFirst() error {
	pack, err := os.ReadFile(r.firstPack())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = r.store.InstallPack(bytes.NewReader(pack))
	}
	if err != nil {
		return fmt.Errorf("cannot bring back the first commit: %w", err)
	}
	return nil
}
