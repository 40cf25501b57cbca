package gitsync

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// Tree is what main holds in a record that Init is about to adopt.
type Tree struct {
	store *objects.Store
	root  objects.Hash
}

// TreeFile is one file of a Tree.
type TreeFile struct {
	Path    string
	Plain   bool          // false for links and other repositories, which nobody reads
	Message protocol.Path // zero if no message can lie at Path
	Read    func() ([]byte, error)
}

// Read returns one file; ok is false if there is none.
func (t Tree) Read(path string) (data []byte, ok bool, err error) {
	return readFile(t.store, t.root, path)
}

// Each calls visit with every file, folder by folder. visit's error ends it.
func (t Tree) Each(visit func(TreeFile) error) error {
	return t.store.Files(t.root, "", func(path string, e objects.Entry) error {
		message, _ := messagePath(path)
		return visit(TreeFile{Path: path, Plain: e.Mode.IsFile(), Message: message, Read: func() ([]byte, error) {
			data, _, err := content(t.store, e.Hash)
			return data, err
		}})
	})
}

// complete makes one commit on `tip` with the files that Options.Adopt adds. If there are none, it
// returns `tip`.
func (f *founding) complete(tip objects.Hash) (objects.Hash, error) {
	tree, err := f.weighed(tip)
	if err != nil || f.opts.Adopt == nil {
		return tip, err
	}
	files, err := f.opts.Adopt(Tree{f.store, tree})
	if err != nil || len(files) == 0 {
		return tip, err
	}
	if err := f.checkFree(tree, files); err != nil {
		return tip, err
	}
	var b objects.Builder
	changes := map[string]objects.Change{}
	for file, data := range files {
		changes[file] = objects.Change{Hash: b.Blob(data)}
	}
	next, err := f.store.Update(tree, changes, &b)
	if err != nil {
		return tip, err
	}
	author := objects.Identity(f.opts.Author).Clean()
	commit := b.Commit(objects.Commit{
		Tree: next, Parents: []objects.Hash{tip}, Author: author, Committer: author, When: f.opts.Now(),
		Message: fmt.Sprintf("add what a record needs: %d files", len(files)),
	})
	return commit, f.store.Install(&b)
}

// checkFree returns an error if a new file would take the place of something that is there,
// whatever it is.
func (f *founding) checkFree(tree objects.Hash, files map[string][]byte) error {
	folders, others := map[string]bool{}, map[string]bool{}
	err := f.store.Files(tree, "", func(file string, _ objects.Entry) error {
		others[file] = true
		for at := path.Dir(file); at != "." && !folders[at]; at = path.Dir(at) {
			folders[at] = true
		}
		return nil
	})
	for file := range files {
		if err == nil && folders[file] {
			err = fmt.Errorf("%w: %s is there already", ErrForeign, file)
		}
		for at := file; err == nil && at != "."; at = path.Dir(at) {
			if others[at] {
				err = fmt.Errorf("%w: %s is there already", ErrForeign, at)
			}
		}
	}
	return err
}

// weighed is the tree of a commit. It returns an error if the tree stands for more than can be
// held.
func (f *founding) weighed(tip objects.Hash) (objects.Hash, error) {
	tree, err := f.store.TreeOf(tip)
	if err != nil {
		return tree, err
	}
	return tree, f.store.Weigh(objects.Zero, tree, mostFetched)
}

// pushAdded brings what was added to the remote.
func (f *founding) pushAdded(ctx context.Context, tip objects.Hash) error {
	err := f.git.Push(ctx, tip, objects.Zero, false)
	if err != nil && !errors.Is(err, carrier.ErrRejected) {
		return fmt.Errorf("cannot push what the record lacks: %w", err)
	}
	return err
}
