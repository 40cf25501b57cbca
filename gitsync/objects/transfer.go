package objects

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// transferBytes bounds how much of a transfer is in memory at a time.
const transferBytes = 32 << 20

// Missing collects the objects that a repository needs for the commit tip if it
// has all that the commit have needs (Zero: it has nothing). take is called with
// parts of bounded size; what a part's commits need is in it or in parts before.
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

// missing is one collection under way.
type missing struct {
	store   *Store
	builder *Builder
	size    int
	most    int // bytes in all, where that is not 0
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

// commit adds a commit and what its tree has that its first parent's has not.
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

// tree adds a tree, and below it what another tree does not have.
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
	m.builder.addTree(m.store, before, entries, data)
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

// InstallPack takes in a whole pack from elsewhere: it is read to its end,
// checked, indexed and made durable; after that, and only then, a ref may name
// what it holds. A pack without objects is nothing. No gc removes the pack before
// Release.
func (s *Store) InstallPack(in io.Reader) error {
	r, err := s.folder.receive(in)
	if err != nil {
		return fmt.Errorf("cannot take in a pack: %w", err)
	}
	defer r.discard()
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.takePack(r)
}

// takePack gives a pack its place. The caller holds writing.
func (s *Store) takePack(r receivedPack) error {
	base := filepath.Join(string(s.folder), "pack-"+pack.NameOf(r.idx).String())
	if err := writeAtomically(base+".keep", []byte(keepText)); err != nil {
		return err
	}
	s.received = append(s.received, base)
	s.kept[base] = true
	failpoint.Hit(failpoint.PackReceived)
	if err := os.Rename(r.temp, base+".pack"); err != nil {
		return fmt.Errorf("cannot take in a pack: %w", err)
	}
	failpoint.Hit(failpoint.PackTaken)
	if err := writeAtomically(base+".idx", r.idx); err != nil {
		return err
	}
	if err := durable.Folder(string(s.folder)); err != nil {
		return err
	}
	return s.packs.rescan()
}

// Hold keeps all that is installed from the operator's gc until Release, however
// long it takes until a ref names it. Each Hold needs its Release.
func (s *Store) Hold() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.holding++
}

// Release gives what was kept for Hold, and the packs that InstallPack brought, to
// the operator's gc. Call it once a ref names what they hold, or once none will.
func (s *Store) Release() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.holding = max(0, s.holding-1); s.holding > 0 {
		return nil
	}
	for len(s.received) > 0 {
		if err := s.unkeep(s.received[0]); err != nil {
			return err
		}
		s.received = s.received[1:]
	}
	return nil
}
