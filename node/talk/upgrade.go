package talk

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
)

// The states of a file that comes with the program.
const (
	fileCurrent = "current"
	fileNew     = "new"
	fileChanged = "changed"
)

// Upgrade answers control.Upgrade. Only the files in upstream/ come with the program. Everything
// else belongs to the fleet, and stays as it is.
func (sh *shelves) Upgrade(ctx context.Context, r control.UpgradeRequest) ([]control.UpgradedFile, error) {
	defer sh.writing.Unlock()
	sh.writing.Lock()
	files := books.FirstCommit(sh.Config)
	var all []control.UpgradedFile
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(path, "upstream/") {
			continue
		}
		state, err := sh.upgradeFile(ctx, path, files[path], r.Check)
		if err != nil {
			return nil, err
		}
		all = append(all, control.UpgradedFile{Path: path, State: state})
	}
	return all, nil
}

func (sh *shelves) upgradeFile(ctx context.Context, path string, data []byte, check bool) (state string, err error) {
	old, there, err := sh.Record.ReadFile(path)
	switch {
	case err != nil:
		return "", err
	case there && bytes.Equal(old, data):
		return fileCurrent, nil
	case there:
		state = fileChanged
	default:
		state = fileNew
	}
	if check {
		return state, nil
	}
	return state, sh.Books.Write(ctx, path, data)
}
