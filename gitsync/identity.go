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
	// identityFile says whose record it is. No node uses a record without it.
	identityFile = "local/CROSSTALK.md"
)

// errNoVersion says that a tree does not name the version of its content.
var errNoVersion = fmt.Errorf("%w", ErrForeign)

// aVersion is the form of a version.
var aVersion = pattern.New(`^[0-9]+(\.[0-9]+)+$`)

// checkVersion returns an error for a tree that is no record of the version which this program
// speaks (R1). The error is errNoVersion if the tree names no version at all.
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

// recordID is the root commit that is pinned. A record without a pin gets one. So does a record
// whose pin names no root commit of this repository, because all its signatures would be wrong.
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

// pinnedID is the root commit that record.git names as the record's. `ok` is false if it names
// none.
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
