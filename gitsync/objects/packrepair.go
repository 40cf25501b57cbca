package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
)

// packRepair repairs packs that a crash or a failing disk left behind. Its caller holds the
// writer's mu.
type packRepair struct {
	folder packFolder
	writer *Writer
	trees  *treeCache
	read   pack.ReadFunc // reads an object of the repository
}

// removeBadIndexes removes indexes that are damaged, or whose pack is not there. If the pack is
// there, its index is written again: the pack says all that an index says.
func (r packRepair) removeBadIndexes() ([]string, error) {
	bases, err := r.folder.packs(".idx")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		err := pack.CheckIndex(base)
		switch {
		case err == nil:
			continue
		case errors.Is(err, fs.ErrNotExist):
			did = append(did, "removed the index of a pack that is not there, "+filepath.Base(base))
		case errors.Is(err, pack.ErrCorrupt):
			did = append(did, "removed the damaged index of "+filepath.Base(base))
		default:
			return did, err
		}
		// The files that belong to an index go with it.
		for _, ending := range []string{".idx", ".rev", ".bitmap"} {
			if err := removeFile(base + ending); err != nil {
				return did, err
			}
		}
		if err := r.indexNow(base, &did); err != nil {
			return did, err
		}
	}
	return did, nil
}

// indexPacks writes the index of packs that have none. It leaves out a very young pack of another
// program, which may be about to write the index.
func (r packRepair) indexPacks() ([]string, error) {
	bases, err := r.folder.packs(".pack")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		info, err := os.Stat(base + ".pack")
		if err != nil {
			continue
		}
		if _, err := os.Stat(base + ".idx"); err == nil || time.Since(info.ModTime()) < lockAge && !isOurKeep(base) {
			continue
		}
		if err := r.indexNow(base, &did); err != nil {
			return did, err
		}
	}
	if len(did) == 0 {
		return nil, nil
	}
	return did, durable.Folder(string(r.folder))
}

// indexNow writes the index of a pack. If the pack cannot be read to its end, it is set aside under
// a name that git does not look at. The objects that can be read are put into another pack.
func (r packRepair) indexNow(base string, did *[]string) error {
	if _, err := os.Stat(base + ".pack"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	idx, err := pack.IndexOf(base + ".pack")
	if err == nil {
		*did = append(*did, "wrote the missing index of "+filepath.Base(base))
		return writeAtomically(base+".idx", idx)
	}
	if unopened := new(fs.PathError); errors.As(err, &unopened) && unopened.Op == "open" {
		return err // that says nothing about the pack
	}
	for _, ending := range []string{".rev", ".bitmap"} {
		if err := removeFile(base + ending); err != nil {
			return err
		}
	}
	aside := filepath.Join(string(r.folder), "torn-"+filepath.Base(base)+".pack")
	if err := os.Rename(base+".pack", aside); err != nil {
		return fmt.Errorf("cannot set a torn pack aside: %w", err)
	}
	saved, err := r.salvage(aside)
	*did = append(*did, fmt.Sprintf("set the torn pack %s aside; %d of its objects are kept", filepath.Base(base), saved))
	return err
}

// salvage reads a torn pack from its beginning and puts every object that can be read into another
// pack. It leaves out the objects that the repository has already. It returns how many objects it
// saved.
func (r packRepair) salvage(path string) (saved int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("cannot open a pack: %w", err)
	}
	g := newGathering(r.trees, r.take)
	err = scanPack(f, info.Size(), r.read, func(h Hash, typ plumbing.ObjectType, data []byte) error {
		if _, _, err := r.read(h); err == nil {
			return nil
		}
		saved++
		return g.add(typ, h, data)
	})
	if err != nil {
		return saved, err
	}
	return saved, g.flush()
}

// scanPack reads a pack without its index, from the beginning, and calls visit with every object
// that can be read. An error of visit ends it.
func scanPack(
	in interface {
		io.ReadSeeker
		io.ReaderAt
	}, size int64, other pack.ReadFunc, visit func(Hash, plumbing.ObjectType, []byte) error,
) error {
	scanner := packfile.NewScanner(in)
	_, count, err := scanner.Header()
	if err != nil {
		return nil // not even the header can be read
	}
	// A base that a delta names is looked for in this pack first.
	here := map[Hash]int64{}
	r := pack.Reader{In: in, End: size, Other: other, Find: func(h Hash) (int64, bool, error) {
		at, ok := here[h]
		return at, ok, nil
	}}
	for range count {
		entry, err := scanner.NextObjectHeader()
		if err != nil {
			break
		}
		if _, _, err := scanner.NextObject(io.Discard); err != nil {
			break
		}
		typ, data, err := r.Object(entry.Offset)
		if err != nil {
			continue
		}
		h := hashOf(typ, data)
		here[h] = entry.Offset
		if err := visit(h, typ, data); err != nil {
			return err
		}
	}
	return nil
}

// errFound ends a scan that has found what it looks for.
var errFound = errors.New("found")

// FindIn looks for an object in the bytes of a pack that needs no other one.
func FindIn(data []byte, want Hash) (typ plumbing.ObjectType, content []byte, ok bool) {
	none := func(h Hash) (plumbing.ObjectType, []byte, error) { return 0, nil, ErrNotFound }
	err := scanPack(bytes.NewReader(data), int64(len(data)), none, func(h Hash, t plumbing.ObjectType, c []byte) error {
		if h != want {
			return nil
		}
		typ, content = t, c
		return errFound
	})
	return typ, content, err != nil
}

// take takes in a pack with objects that were saved from a torn one.
func (r packRepair) take(data, _ []byte, _ []Hash) error {
	received, err := r.folder.receive(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("cannot keep what a torn pack held: %w", err)
	}
	defer received.discard()
	return r.writer.takePack(received)
}

// finishJoins finishes joins that a crash interrupted: it removes the packs that were joined. A
// joined pack is durable before the packs that it replaces begin to go.
func (r packRepair) finishJoins() ([]string, error) {
	bases, err := r.folder.packs(".keep")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		sources := replacedBy(base)
		if len(sources) == 0 || pack.CheckIndex(base) != nil {
			continue
		}
		if sum, err := pack.WrongSum(base + ".pack"); err != nil || sum != nil {
			continue // the packs that it replaces may be all that can be read
		}
		if err := r.folder.removeMultiIndexes(); err != nil {
			return did, err
		}
		for _, source := range sources {
			if isKept(source) && !isOurKeep(source) {
				continue
			}
			if err := removePack(source); err != nil {
				return did, err
			}
		}
		if err := r.writer.unkeep(base); err != nil {
			return did, err
		}
		did = append(did, fmt.Sprintf("removed %d packs that were joined into %s", len(sources), filepath.Base(base)))
	}
	return did, nil
}

// removeReplaced looks at the packs that have a .keep of this program. It removes a pack whose
// objects are all in another one of them: that pack was about to be removed. The other packs are
// sealed.
func (r packRepair) removeReplaced() ([]string, error) {
	bases, err := r.folder.packs(".keep")
	if err != nil {
		return nil, err
	}
	var did []string
	packs := map[string]*pack.Pack{}
	for _, base := range bases {
		if !isOurKeep(base) {
			continue
		}
		p, err := pack.Open(base)
		if err == nil {
			packs[base] = p
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return did, err
		}
		if _, err := os.Stat(base + ".pack"); errors.Is(err, fs.ErrNotExist) {
			if err := removeFile(base + ".keep"); err != nil {
				return did, err
			}
		}
	}
	for base, p := range packs {
		replaced, err := coveredByAnother(p, packs)
		if err != nil {
			return did, err
		}
		if !replaced {
			continue
		}
		delete(packs, base)
		if err := errors.Join(r.folder.removeMultiIndexes(), removePack(base)); err != nil {
			return did, err
		}
		did = append(did, "removed the replaced pack "+filepath.Base(base))
	}
	// These lose their .keep only when all of the others are gone: see Install.
	for base := range packs {
		if err := r.writer.unkeep(base); err != nil {
			return did, err
		}
	}
	return did, nil
}

// coveredByAnother reports whether another pack holds all objects of a pack and is whole. If the
// other one is not whole, the older copy may be the only one that can be read.
func coveredByAnother(p *pack.Pack, packs map[string]*pack.Pack) (bool, error) {
	for _, other := range packs {
		if other == p || other.Count < p.Count {
			continue
		}
		missing := false
		err := p.Names(func(h Hash) {
			if _, ok, err := other.Find(h); err != nil || !ok {
				missing = true
			}
		})
		if err != nil {
			return false, err
		}
		if missing {
			continue
		}
		if sum, err := pack.WrongSum(other.Base + ".pack"); err == nil && sum == nil {
			return true, nil
		}
	}
	return false, nil
}
