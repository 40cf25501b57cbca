package gitsync

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// Damage is something that was found wrong with the record's files on this disk.
type Damage struct {
	File   string // below record.git, or "" where something is not there
	Text   string
	Mended bool // it is right again
}

// Check reads every file of the record and everything that main needs, mends what
// it can and returns what it found. step is told how many objects were read since it
// was last called, by several goroutines at once.
func (r *Record) Check(ctx context.Context, step func(objects int)) ([]Damage, error) {
	defer r.replaceDamaged()
	var found []objects.Damage
	well, err := r.store.Check(ctx, step, func(d objects.Damage) { found = append(found, d) })
	if err != nil {
		return nil, fmt.Errorf("cannot check the record: %w", err)
	}
	var all []Damage
	for _, d := range found {
		damage := Damage{File: d.File, Text: d.Text}
		if d.Object == objects.Zero {
			damage.Text += "; parley reads around it, and replaces the file as soon as good copies of all in it are there"
			damage.Mended = true
		} else if err := r.store.Restore(d.Object); err != nil {
			damage.Text = fmt.Sprintf("%s: %v", d.Text, err)
		} else {
			damage.Text += "; there is a good copy now"
			damage.Mended = true
		}
		all = append(all, damage)
	}
	// What has been read is not read again.
	missing, err := r.checkMain(ctx, func(h objects.Hash) error {
		if well.Has(h) {
			return nil
		}
		return r.store.Restore(h)
	})
	return append(all, missing...), err
}

// Objects is about how many objects Check reads.
func (r *Record) Objects() int { return r.store.Objects() }

// checkMain looks for every commit of main, and for everything in its newest tree.
func (r *Record) checkMain(ctx context.Context, restore func(objects.Hash) error) ([]Damage, error) {
	tip, tree := r.progress.main()
	var all []Damage
	lost := func(what string, err error) {
		all = append(all, Damage{Text: fmt.Sprintf("%s cannot be read: %v", what, err)})
	}
	seen := map[objects.Hash]bool{tip: true}
	for next := []objects.Hash{tip}; len(next) > 0; {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		if ctx.Err() != nil {
			return all, fmt.Errorf("cannot check the record: %w", context.Cause(ctx))
		}
		if err := restore(h); err != nil {
			lost("commit "+h.String(), err)
			continue
		}
		c, err := r.store.CommitAt(h)
		if err != nil {
			lost("commit "+h.String(), err)
			continue
		}
		for _, parent := range c.Parents {
			if !seen[parent] {
				seen[parent] = true
				next = append(next, parent)
			}
		}
	}
	err := r.checkTree(ctx, tree, "", restore, lost)
	return all, err
}

func (r *Record) checkTree(ctx context.Context, tree objects.Hash, prefix string, restore func(objects.Hash) error, lost func(string, error)) error {
	entries, err := r.store.Tree(tree)
	if err != nil {
		lost("the folder "+prefix, err)
		return nil
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return fmt.Errorf("cannot check the record: %w", context.Cause(ctx))
		}
		switch {
		case e.Mode.IsDir():
			if err := r.checkTree(ctx, e.Hash, prefix+e.Name+"/", restore, lost); err != nil {
				return err
			}
		case e.Mode.IsFile():
			if err := restore(e.Hash); err != nil {
				lost(prefix+e.Name, err)
			}
		}
	}
	return nil
}
