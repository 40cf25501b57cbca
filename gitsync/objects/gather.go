package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

const (
	// looseAbove is how many loose objects may stand before they are gathered.
	looseAbove = 2000
	// looseAge is how old one must be: it may be that of a commit which somebody
	// is making by hand, and a repack drops from packs what no ref names.
	looseAge = 10 * time.Minute
	// looseApart is the least time between two counts.
	looseApart = time.Minute
)

// hasManyLoose counts loose objects in one of 256 folders, as git does: their names
// are spread evenly. The caller holds writing.
func (s *Store) hasManyLoose() bool {
	if time.Since(s.counted) < looseApart {
		return false
	}
	s.counted = time.Now()
	entries, err := os.ReadDir(filepath.Join(s.dir, "objects", "17"))
	return err == nil && len(entries) > looseAbove/256
}

// gatherLoose puts loose objects that are old enough into packs and removes them.
// Each pack is durable and has its .keep before any of them goes.
func (s *Store) gatherLoose(ctx context.Context) error {
	var g gathering
	g.begin(s)
	err := s.loose.each(func(h Hash, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < looseAge {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return g.add(h)
	})
	if err == nil {
		err = g.flush()
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("cannot gather loose objects: %w", err)
	}
	return err
}

// gathering is one pack on its way.
type gathering struct {
	store   *Store
	builder Builder
	size    int
	trees   map[string]Hash // the last one that began with that name
}

func (g *gathering) begin(s *Store) { *g = gathering{store: s, trees: map[string]Hash{}} }

// add takes an object in; one that is damaged, or too large to be read, stays as it is.
func (g *gathering) add(h Hash) error {
	typ, data, err := g.store.loose.read(h)
	if errors.Is(err, ErrNotFound) || errors.Is(err, pack.ErrCorrupt) || pack.IsLarge(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if g.put(typ, h, data); g.size > transferBytes {
		return g.flush()
	}
	return nil
}

// put takes in an object that was read.
func (g *gathering) put(typ plumbing.ObjectType, h Hash, data []byte) {
	if !g.addTree(typ, h, data) {
		g.builder.add(typ, data)
	}
	g.size += len(data)
}

// addTree adds a tree that may be a delta of the one before it.
func (g *gathering) addTree(typ plumbing.ObjectType, h Hash, data []byte) bool {
	if typ != plumbing.TreeObject || len(data) < deltaLeast {
		return false
	}
	entries, err := decodeTree(data)
	if err != nil || !isPlain(entries, data) {
		return false
	}
	key := entries[0].Name
	g.builder.addTree(g.store, g.trees[key], entries, data)
	g.store.trees.put(h, entries)
	g.trees[key] = h
	return true
}

func (g *gathering) flush() error {
	if len(g.builder.objects) == 0 {
		return nil
	}
	data, err := packOf(&g.builder)
	if err != nil {
		return err
	}
	g.store.Hold()
	err = g.store.InstallPack(bytes.NewReader(data))
	for i := 0; err == nil && i < len(g.builder.objects); i++ {
		err = g.store.loose.remove(g.builder.objects[i].hash)
	}
	err = errors.Join(err, g.store.Release())
	g.begin(g.store)
	return err
}
