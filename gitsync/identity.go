package gitsync

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/pattern"
)

const (
	versionFile = "upstream/CROSSTALK-VERSION"
	versionText = "5.0"
	// identityFile says whose record it is; no node uses one without it.
	identityFile = "local/CROSSTALK.md"
)

// errNoVersion says that a tree names no version of what is in it.
var errNoVersion = fmt.Errorf("%w", ErrForeign)

// aVersion is how versions are written.
var aVersion = pattern.New(`^[0-9]+(\.[0-9]+)+$`)

// checkVersion refuses a tree that is no record of the version this program
// speaks (R1); the error is errNoVersion where it names none at all.
func checkVersion(store *objects.Store, tree objects.Hash) error {
	text, ok, err := readFile(store, tree, versionFile)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%w: it has no %s", errNoVersion, versionFile)
	case strings.TrimSuffix(string(text), "\n") == versionText:
		return nil
	}
	kind := ErrForeign
	if said := strings.TrimSpace(string(text)); said == versionText || !aVersion.MatchString(said) {
		kind = errNoVersion
	}
	return fmt.Errorf("%w: %s says %.20q, not %s", kind, versionFile, text, versionText)
}

// recordID is the root commit, as pinned. A record without a pin gets one, and one
// whose pin names no root commit of this repository too: its signatures would all
// be wrong.
func recordID(store *objects.Store, log zerolog.Logger, tip objects.Hash) (objects.Hash, error) {
	id, pinned, err := pinnedID(store.Dir())
	if err != nil {
		return objects.Zero, err
	}
	if c, err := store.CommitAt(id); pinned && err == nil && len(c.Parents) == 0 {
		return id, nil
	}
	path := filepath.Join(store.Dir(), idName)
	if _, err := os.Stat(path); err == nil {
		log.Warn().Msgf("the note which record this is, %s, was damaged; it is written again", idName)
	}
	root, err := store.Root(tip)
	if err != nil {
		return objects.Zero, err
	}
	return root, objects.WriteFile(path, []byte(root.String()+"\n"))
}

// pinnedID is the root commit that record.git says is the record's; ok is false where it
// says none.
func pinnedID(dir string) (id objects.Hash, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, idName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return objects.Zero, false, fmt.Errorf("cannot read which record this is: %w", err)
	}
	if pinned := strings.TrimSpace(string(text)); plumbing.IsHash(pinned) {
		return plumbing.NewHash(pinned), true, nil
	}
	return objects.Zero, false, nil
}
