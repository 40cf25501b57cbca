package objects

import (
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// transferBytes bounds how many bytes of a transfer are in memory at a time.
const transferBytes = 32 << 20

// Missing collects the objects that a repository needs for the commit `tip` if it has all that the
// commit `have` needs. If `have` is Zero, the repository has nothing. Missing calls take with parts
// of bounded size. All that the commits of a part need is in that part or in earlier ones.
func (s *Store) Missing(tip, have Hash, take func(*Builder) error) error {
	commits, err := s.Only(tip, have)
	if err != nil {
		return err
	}
	m := missing{store: s, builder: &Builder{}, take: take}
	for _, h := range slices.Backward(commits) {
		if err := m.commit(h); err != nil {
			return err
		}
	}
	return m.flush()
}

// missing is a collection that is under way.
type missing struct {
	store   *Store
	builder *Builder
	size    int
	most    int // bytes in all, 0 for no bound
	take    func(*Builder) error
}

func (m *missing) flush() error {
	full := m.builder
	m.builder, m.size = &Builder{}, 0
	if len(full.objects) == 0 {
		return nil
	}
	return m.take(full)
}

// commit adds a commit and what its tree has that the tree of its first parent does not have.
func (m *missing) commit(h Hash) error {
	data, err := m.store.typed(h, plumbing.CommitObject)
	if err != nil {
		return err
	}
	c, err := decodeCommit(data)
	if err != nil {
		return err
	}
	before := Zero
	if len(c.Parents) > 0 {
		if before, err = m.store.TreeOf(c.Parents[0]); err != nil {
			return err
		}
	}
	if err := m.tree(c.Tree, before); err != nil {
		return err
	}
	m.builder.commits++
	m.add(plumbing.CommitObject, data)
	if m.size > transferBytes {
		return m.flush()
	}
	return nil
}

func (m *missing) add(typ plumbing.ObjectType, data []byte) {
	m.builder.add(typ, data)
	m.size += len(data)
}

// tree adds a tree, and below it what the tree `before` does not have.
func (m *missing) tree(tree, before Hash) error {
	if tree == before {
		return nil
	}
	data, err := m.store.typed(tree, plumbing.TreeObject)
	if tree == emptyTree && errors.Is(err, ErrNotFound) {
		data, err = nil, nil
	}
	if err != nil {
		return err
	}
	entries, err := decodeTree(data)
	if err != nil {
		return err
	}
	old := map[string]Entry{}
	if before != Zero {
		known, err := m.store.Tree(before)
		if err != nil {
			return err
		}
		for _, e := range known {
			old[e.Name] = e
		}
	}
	for _, e := range entries {
		if err := m.entry(e, old[e.Name]); err != nil {
			return err
		}
	}
	if !isPlain(entries, data) {
		m.add(plumbing.TreeObject, data)
		return nil
	}
	m.builder.addTree(m.store.Trees.cache, before, entries, data)
	m.size += len(data)
	return nil
}

func (m *missing) entry(e, old Entry) error {
	switch {
	case e.Hash == old.Hash:
		return nil
	case e.Mode.IsDir() && old.Mode.IsDir():
		return m.tree(e.Hash, old.Hash)
	case e.Mode.IsDir():
		return m.tree(e.Hash, Zero)
	case e.Mode.isLink():
		return nil // a commit of another repository
	}
	data, err := m.store.Blob(e.Hash)
	if err != nil {
		return err
	}
	m.add(plumbing.BlobObject, data)
	if m.most > 0 && m.size > m.most {
		return &LargeError{Size: int64(m.size)}
	}
	return nil
}

// PackAll returns a pack with a commit, its tree and all that is below the tree. It leaves out what
// the commit follows. The error is a *LargeError if the objects have more than most bytes.
func (s *Store) PackAll(commit Hash, most int) ([]byte, error) {
	m := missing{store: s, builder: &Builder{}, most: most}
	c, err := s.CommitAt(commit)
	if err != nil {
		return nil, err
	}
	data, err := s.typed(commit, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	if err := m.tree(c.Tree, Zero); err != nil {
		return nil, err
	}
	m.add(plumbing.CommitObject, data)
	data, _, err = packOf(m.builder)
	return data, err
}
