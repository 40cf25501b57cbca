package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/each"
)

const (
	// looseAbove is how many loose objects there may be before they are gathered.
	looseAbove = 2000
	// looseAge is how old a loose object must be to be gathered. A younger one may belong to a
	// commit that somebody is making by hand. A repack drops objects from packs if no ref names
	// them.
	looseAge = 10 * time.Minute
	// looseApart is the least time between two counts of loose objects.
	looseApart = time.Minute
)

// hasManyLoose reports whether there are more than about looseAbove loose objects. It counts them
// now and then, and between two counts it returns false. The caller holds mu.
func (j *joins) hasManyLoose() bool {
	if time.Since(j.counted) < looseApart {
		return false
	}
	j.counted = time.Now()
	return j.loose.areMoreThan(looseAbove)
}

// gatherLoose puts loose objects that are old enough into packs and removes their files. Each pack
// is durable and has its .keep before any of these files goes.
func (j *joins) gatherLoose(ctx context.Context) error {
	g := newGathering(j.trees, func(data, idx []byte, names []Hash) error {
		j.packs.Hold()
		err := j.packs.installMade(data, idx)
		for i := 0; err == nil && i < len(names); i++ {
			err = j.loose.remove(names[i])
		}
		return errors.Join(err, j.packs.Release())
	})
	err := j.loose.each(func(h Hash, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < looseAge {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		typ, data, err := j.loose.read(h)
		if errors.Is(err, ErrNotFound) || errors.Is(err, pack.ErrCorrupt) || pack.IsLarge(err) {
			return nil // the object stays as it is
		}
		if err != nil {
			return err
		}
		return g.add(typ, h, data)
	})
	if err == nil {
		err = g.flush()
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("cannot gather loose objects: %w", err)
	}
	return err
}

// gathering puts objects that come one by one into packs of bounded size.
type gathering struct {
	known *treeCache
	take  func(pack, idx []byte, names []Hash) error // takes in a pack, with the names of its objects

	builder Builder
	size    int
	trees   map[string]Hash // the last tree, by the name of its first entry
}

func newGathering(known *treeCache, take func(pack, idx []byte, names []Hash) error) *gathering {
	return &gathering{known: known, take: take, trees: map[string]Hash{}}
}

func (g *gathering) add(typ plumbing.ObjectType, h Hash, data []byte) error {
	if !g.addTree(typ, h, data) {
		g.builder.add(typ, data)
	}
	if g.size += len(data); g.size > transferBytes {
		return g.flush()
	}
	return nil
}

// addTree adds a tree, which may become a delta of the last tree that began with the same name. It
// reports whether it added the tree. It leaves small trees and other objects to the caller.
func (g *gathering) addTree(typ plumbing.ObjectType, h Hash, data []byte) bool {
	if typ != plumbing.TreeObject || len(data) < deltaLeast {
		return false
	}
	entries, err := decodeTree(data)
	if err != nil || !isPlain(entries, data) {
		return false
	}
	key := entries[0].Name
	g.builder.addTree(g.known, g.trees[key], entries, data)
	g.known.put(h, entries)
	g.trees[key] = h
	return true
}

// flush makes a pack of the objects that came since its last call.
func (g *gathering) flush() error {
	if len(g.builder.objects) == 0 {
		return nil
	}
	data, idx, err := packOf(&g.builder)
	if err != nil {
		return err
	}
	names := each.Of(g.builder.objects, func(o object) Hash { return o.hash })
	g.builder, g.size, g.trees = Builder{}, 0, map[string]Hash{}
	return g.take(data, idx, names)
}
