package gitsync

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// Damage is something that was found wrong with the record's files on this disk.
type Damage struct {
	File   string // below record.git, or "" if something is missing
	Text   string
	Mended bool // it has been put right
}

// Check reads every file of the record and everything that main needs. It mends what it can and
// returns what it found. Several goroutines at once call `step` with the number of objects that
// were read since the last call.
func (r *Record) Check(ctx context.Context, step func(objects int)) ([]Damage, error) {
	defer r.replaceDamaged(ctx)
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
	// It does not read again what has been read.
	check := mainCheck{store: r.store, restore: func(h objects.Hash) error {
		if well.Has(h) {
			return nil
		}
		return r.store.Restore(h)
	}}
	tip, tree := r.progress.main()
	if err = check.commits(ctx, tip); err == nil {
		err = check.folder(ctx, tree, "")
	}
	return append(all, check.lost...), err
}

// Objects is about how many objects Check reads.
func (r *Record) Objects() int { return r.store.Objects() }

// mainCheck looks for every commit of main, and for everything in its newest tree.
type mainCheck struct {
	store   *objects.Store
	restore func(objects.Hash) error // makes sure that an object can be read
	lost    []Damage
}

func (c *mainCheck) lack(what string, err error) {
	c.lost = append(c.lost, Damage{Text: fmt.Sprintf("%s cannot be read: %v", what, err)})
}

// commits looks for a commit and for all commits before it.
func (c *mainCheck) commits(ctx context.Context, tip objects.Hash) error {
	seen := map[objects.Hash]bool{tip: true}
	for next := []objects.Hash{tip}; len(next) > 0; {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		if ctx.Err() != nil {
			return fmt.Errorf("cannot check the record: %w", context.Cause(ctx))
		}
		if err := c.restore(h); err != nil {
			c.lack("commit "+h.String(), err)
			continue
		}
		commit, err := c.store.CommitAt(h)
		if err != nil {
			c.lack("commit "+h.String(), err)
			continue
		}
		for _, parent := range commit.Parents {
			if !seen[parent] {
				seen[parent] = true
				next = append(next, parent)
			}
		}
	}
	return nil
}

func (c *mainCheck) folder(ctx context.Context, tree objects.Hash, prefix string) error {
	entries, err := c.store.Tree(tree)
	if err != nil {
		c.lack("the folder "+prefix, err)
		return nil
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return fmt.Errorf("cannot check the record: %w", context.Cause(ctx))
		}
		switch {
		case e.Mode.IsDir():
			if err := c.folder(ctx, e.Hash, prefix+e.Name+"/"); err != nil {
				return err
			}
		case e.Mode.IsFile():
			if err := c.restore(e.Hash); err != nil {
				c.lack(prefix+e.Name, err)
			}
		}
	}
	return nil
}
