package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// looseDir is what a folder of loose objects held when it was last listed.
type looseDir struct {
	modified time.Time
	names    []Hash
}

// look lists the folders of loose objects that changed since they were last listed. It returns the
// objects that are gone from them.
func (l *looseObjects) look() (gone []Hash, err error) {
	l.looking.Lock()
	defer l.looking.Unlock()
	names, err := l.dirs()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		known := l.listed[name]
		info, err := os.Stat(filepath.Join(l.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return gone, fmt.Errorf("cannot look at the loose objects: %w", err)
		case info.ModTime().Equal(known.modified):
			continue
		default:
			known.modified = info.ModTime()
		}
		missing, err := l.list(name, known)
		if err != nil {
			return gone, err
		}
		gone = append(gone, missing...)
	}
	return gone, nil
}

// dirs returns the folders of loose objects that are there or were there. It looks for new ones
// only if a folder came or went. The caller holds looking.
func (l *looseObjects) dirs() ([]string, error) {
	info, err := os.Stat(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	names := slices.Collect(maps.Keys(l.listed))
	if err != nil || info.ModTime().Equal(l.root) {
		return names, nil
	}
	l.root = info.ModTime()
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	for _, e := range entries {
		if _, known := l.listed[e.Name()]; !known && e.IsDir() && len(e.Name()) == 2 && plumbing.IsHash(e.Name()+emptyTree.String()[2:]) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// list lists one folder of loose objects. It returns the objects that the folder had and has no
// more. The caller holds looking.
func (l *looseObjects) list(name string, known looseDir) (gone []Hash, err error) {
	entries, err := os.ReadDir(filepath.Join(l.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	now := looseDir{modified: known.modified}
	still := map[Hash]bool{}
	for _, e := range entries {
		if hex := name + e.Name(); plumbing.IsHash(hex) {
			h := plumbing.NewHash(hex)
			now.names = append(now.names, h)
			still[h] = true
		}
	}
	for _, h := range known.names {
		if !still[h] {
			gone = append(gone, h)
		}
	}
	if l.listed == nil {
		l.listed = map[string]looseDir{}
	}
	if l.listed[name] = now; err != nil {
		delete(l.listed, name) // the folder is gone
	}
	return gone, nil
}
