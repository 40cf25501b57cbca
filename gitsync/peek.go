package gitsync

import (
	"errors"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/rs/zerolog"
)

// Peek calls `visit` with the plain files in a folder of main of the record below `dir`, even while
// that record is in use. It changes nothing. The error is ErrNoRecord if there is none.
func Peek(dir, folder string, visit func(path string, data []byte) error) error {
	store, err := objects.Open(filepath.Join(dir, repoName), zerolog.Nop())
	if err != nil {
		return errors.Join(ErrNoRecord, err)
	}
	tip, ok, err := store.Ref(carrier.MainRef)
	if err != nil || !ok {
		return errors.Join(ErrNoRecord, err)
	}
	tree, err := store.TreeOf(tip)
	if err != nil {
		return err
	}
	below, ok, err := store.Subtree(tree, folder)
	if err != nil || !ok {
		return err
	}
	return store.Files(below, folder+"/", func(path string, e objects.Entry) error {
		if !e.Mode.IsFile() {
			return nil
		}
		data, _, err := content(store, e.Hash)
		if err != nil {
			return err
		}
		return visit(path, data)
	})
}
