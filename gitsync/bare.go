package gitsync

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/rs/zerolog"
)

// makeBare makes the files of an empty bare repository, as far as they are not there. It needs no
// git program. It returns the names of the files that it made.
func makeBare(dir string) (made []string, err error) {
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := durable.FoldersIn(filepath.Dir(dir), filepath.Join(dir, filepath.FromSlash(sub)), 0o755); err != nil {
			return made, fmt.Errorf("cannot make the repository: %w", err)
		}
	}
	for _, file := range []struct{ name, text string }{{"HEAD", "ref: " + carrier.MainRef + "\n"}, {"config", bareConfig}} {
		path := filepath.Join(dir, file.name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			continue
		}
		if err := objects.WriteFile(path, []byte(file.text)); err != nil {
			return made, err
		}
		made = append(made, file.name)
	}
	return made, nil
}

// isThere returns ErrNoRecord if nothing is left of a record whose repository is `dir`. If there is
// no remote from which to fetch it, the journal and the first commit beside it are enough to go on.
func isThere(opts Options, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 || !opts.isShared() && hasJournal(opts.Dir) {
		return nil
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w in %s", ErrNoRecord, opts.Dir)
}

// hasJournal reports whether the journal has entries and the first commit is beside it.
func hasJournal(home string) bool {
	if _, err := os.Stat(string(firstPackOf(home))); err != nil {
		return false
	}
	segments, err := filepath.Glob(filepath.Join(home, journalName, "*.log"))
	return err == nil && len(segments) > 0
}

// completeRepository makes what is missing of the repository, except objects and refs. It makes the
// config anew if git could not use it, and keeps the old one beside.
func completeRepository(dir string, log zerolog.Logger) error {
	if !carrier.ConfigWorks(dir) {
		config := filepath.Join(dir, "config")
		if err := os.Rename(config, config+".damaged"); err != nil {
			return fmt.Errorf("cannot set the damaged config of record.git aside: %w", err)
		}
		log.Warn().Msg("config of record.git was damaged; config.damaged has it")
	}
	made, err := makeBare(dir)
	for _, name := range made {
		log.Warn().Msg(name + " of record.git was gone; it is written again")
	}
	return err
}

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
