package objects

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/shortage"
)

// Survey finds out what can still be read of a damaged repository. It remembers what it has looked
// at, and has no object brought back. So it is of use only as long as nothing is put into the
// repository. When its context ends, or the system is too short of something to read, it finds
// nothing any more: see Err.
type Survey struct {
	ctx     context.Context
	store   *Store
	short   error           // why something could not be looked at; it may be there
	looks   int             // for how many objects it has looked
	step    func(looks int) // is told looks now and then; may be nil
	commits map[Hash]chain
	trees   map[Hash]whole
	shallow map[Hash]bool // commits whose parents somebody left out on purpose
}

// stepLooks is after how many looks a Survey tells how far it is.
const stepLooks = 128

// chain is what is known of a commit and all commits before it.
type chain struct {
	unbroken bool
	parents  []Hash
	root     Hash // the commit to which first parents lead
}

// whole is what is known of a folder and all that is below it.
type whole struct {
	folders bool // all folders can be read
	files   bool // all files are there
}

// Survey returns a Survey of what is on the disk now. step is told now and then for how many
// objects it has looked; it may be nil.
func (s *Store) Survey(ctx context.Context, step func(looks int)) *Survey {
	v := &Survey{ctx: ctx, step: step, store: s, commits: map[Hash]chain{}, trees: map[Hash]whole{}, shallow: map[Hash]bool{}}
	text, _ := os.ReadFile(filepath.Join(s.dir, "shallow")) // without a file that can be read, nothing is shallow
	for line := range strings.Lines(string(text)) {
		v.shallow[plumbing.NewHash(strings.TrimSpace(line))] = true
	}
	return v
}

// Err returns why what the survey found does not count.
func (v *Survey) Err() error { return cmp.Or(context.Cause(v.ctx), v.short) }

func (v *Survey) read(h Hash, want plumbing.ObjectType) ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	v.looked()
	typ, data, err := v.store.readOnce(h)
	if shortage.Is(err) {
		v.short = err
	}
	if err == nil && typ != want {
		err = fmt.Errorf("object %s is a %s, not a %s", h, typ, want)
	}
	return data, err
}

func (v *Survey) looked() {
	if v.looks++; v.step != nil && v.looks%stepLooks == 0 {
		v.step(v.looks)
	}
}

// has reports whether a file is there. It does not read the file.
func (v *Survey) has(h Hash) bool {
	v.looked()
	if v.Err() != nil {
		return false
	}
	ok, short := v.store.packs.has(h)
	if ok || v.store.loose.has(h) {
		return true
	}
	v.short = short
	return false
}

// IsShallow reports whether history begins at a commit because the repository was made to hold no
// more of it.
func (v *Survey) IsShallow(commit Hash) bool { return v.shallow[commit] }

// Unbroken reports whether a commit and all commits before it can be read. root is the commit with
// which the history of first parents begins.
func (v *Survey) Unbroken(tip Hash) (root Hash, ok bool) {
	for open := []Hash{tip}; len(open) > 0; {
		h := open[len(open)-1]
		c, known := v.commits[h]
		if !known {
			read, err := v.commit(h)
			if err != nil {
				v.commits[h] = chain{}
				open = open[:len(open)-1]
				continue
			}
			c.parents = read.Parents
		}
		waiting := len(open)
		c.unbroken, c.root = true, h
		for i, parent := range c.parents {
			p, known := v.commits[parent]
			if !known {
				open = append(open, parent)
			}
			c.unbroken = c.unbroken && p.unbroken
			if i == 0 {
				c.root = p.root
			}
		}
		if len(open) == waiting {
			v.commits[h] = c
			open = open[:waiting-1]
		}
	}
	c := v.commits[tip]
	return c.root, c.unbroken
}

func (v *Survey) commit(h Hash) (Commit, error) {
	data, err := v.read(h, plumbing.CommitObject)
	if err != nil {
		return Commit{}, err
	}
	c, err := decodeCommit(data)
	if v.shallow[h] {
		c.Parents = nil
	}
	return c, err
}

// TreeOf returns the tree of a commit. It reports false if the commit cannot be read.
func (v *Survey) TreeOf(commit Hash) (Hash, bool) {
	c, err := v.commit(commit)
	return c.Tree, err == nil
}

// folder reads a tree from the disk.
func (v *Survey) folder(h Hash) ([]Entry, bool) {
	if h == emptyTree {
		return nil, true
	}
	data, err := v.read(h, plumbing.TreeObject)
	if err != nil {
		return nil, false
	}
	entries, err := decodeTree(data)
	return entries, err == nil
}

// Before returns the tips that can be read and all commits to which they lead, as far as these can
// be read.
func (v *Survey) Before(tips ...Hash) map[Hash]bool {
	all := map[Hash]bool{}
	for open := slices.Clone(tips); len(open) > 0; {
		h := open[len(open)-1]
		open = open[:len(open)-1]
		if all[h] {
			continue
		}
		if c, err := v.commit(h); err == nil {
			all[h] = true
			open = append(open, c.Parents...)
		}
	}
	return all
}

// Folders reports whether a tree and all folders below it can be read.
func (v *Survey) Folders(tree Hash) bool { return v.look(tree, 0).folders }

// Files reports whether a tree and all folders below it can be read, and all their files are there.
func (v *Survey) Files(tree Hash) bool { return v.look(tree, 0) == whole{true, true} }

func (v *Survey) look(tree Hash, depth int) whole {
	if w, known := v.trees[tree]; known {
		return w
	}
	entries, ok := v.folder(tree)
	w := whole{folders: ok && depth <= maxDepth, files: ok && depth <= maxDepth}
	for _, e := range entries {
		switch {
		case !w.folders && !w.files:
		case e.Mode.IsDir():
			below := v.look(e.Hash, depth+1)
			w.folders, w.files = w.folders && below.folders, w.files && below.files
		case !e.Mode.isLink():
			w.files = w.files && v.has(e.Hash)
		}
	}
	v.trees[tree] = w
	return w
}

// Lost calls visit with each file below a tree if the content of the file is gone, and with each
// folder that cannot be read.
func (v *Survey) Lost(tree Hash, visit func(path string, h Hash, isFolder bool)) {
	v.lost(tree, "", visit)
}

func (v *Survey) lost(tree Hash, prefix string, visit func(string, Hash, bool)) {
	if w := v.look(tree, 0); w.files && w.folders {
		return
	}
	entries, ok := v.folder(tree)
	if !ok {
		visit(strings.TrimSuffix(prefix, "/"), tree, true)
	}
	for _, e := range entries {
		switch {
		case e.Mode.IsDir():
			v.lost(e.Hash, prefix+e.Name+"/", visit)
		case !e.Mode.isLink() && !v.has(e.Hash):
			visit(prefix+e.Name, e.Hash, false)
		}
	}
}

// Commits returns all commits that can be read, whether anything names them or not. Commits that no
// other commit follows come first, then the others. Both groups begin with their newest.
func (v *Survey) Commits() ([]Hash, error) {
	type dated struct {
		hash Hash
		when time.Time
	}
	var all []dated
	seen, followed := map[Hash]bool{}, map[Hash]bool{}
	err := v.each(plumbing.CommitObject, func(h Hash) {
		c, err := v.commit(h)
		if err != nil || seen[h] {
			return
		}
		seen[h] = true
		all = append(all, dated{h, c.When})
		for _, parent := range c.Parents {
			followed[parent] = true
		}
	})
	slices.SortFunc(all, func(a, b dated) int {
		if followed[a.hash] != followed[b.hash] {
			if followed[a.hash] {
				return 1
			}
			return -1
		}
		return cmp.Or(b.when.Compare(a.when), bytes.Compare(a.hash[:], b.hash[:]))
	})
	return each.Of(all, func(c dated) Hash { return c.hash }), err
}

// Trees returns the trees that can be read and for whose entries `is` returns true, whether
// anything names them or not.
func (v *Survey) Trees(is func([]Entry) bool) ([]Hash, error) {
	var all []Hash
	seen := map[Hash]bool{}
	err := v.each(plumbing.TreeObject, func(h Hash) {
		if entries, ok := v.folder(h); ok && !seen[h] && is(entries) {
			seen[h] = true
			all = append(all, h)
		}
	})
	return all, err
}

// each calls visit with all objects of a type that are in packs, and with every loose object of any
// type.
func (v *Survey) each(typ plumbing.ObjectType, visit func(Hash)) error {
	for _, p := range v.store.packs.all() {
		if err := p.OfType(typ, visit); err != nil {
			v.store.log.Warn().Err(err).Msg("a pack of the record is left out")
		}
	}
	return v.store.loose.each(func(h Hash, _ fs.DirEntry) error {
		visit(h)
		return nil
	})
}
