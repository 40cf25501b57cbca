package objects

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// tempAge is how old an unfinished file of the git program must be to count as left behind.
const tempAge = time.Hour

// Repair repairs what a crash or a failing disk leaves behind. That may be locks, temporary files,
// and loose objects without content. It may be damaged and missing indexes, indexes without a pack,
// and replaced packs. And it may be refs without content, and lines of packed-refs that nobody can
// read. refs are the refs that only this program moves. Call Repair before anything else of this
// program uses the repository. It returns what it did, a sentence for each repair.
func (s *Store) Repair(refs ...string) ([]string, error) {
	s.Writer.mu.Lock()
	defer s.Writer.mu.Unlock()
	packs := packRepair{s.folder, s.Writer, s.Trees.cache, s.readOnce}
	var did []string
	for _, step := range []func() ([]string, error){
		func() ([]string, error) { return s.removeLocks(refs) },
		s.RemoveForgottenLocks,
		s.removeTemps,
		s.folder.forgetGitKeeps,
		s.loose.removeEmpty,
		packs.finishJoins, // before packs that are half removed get an index again
		packs.removeBadIndexes,
		packs.indexPacks,
		packs.finishJoins,
		packs.removeReplaced,
		s.folder.dropStaleMultiIndex,
		s.repairHead,
		s.repairPackedRefs,
		s.removeEmptyRefs,
	} {
		done, err := step()
		did = append(did, done...)
		if err != nil {
			return did, fmt.Errorf("cannot repair the record: %w", err)
		}
	}
	return did, s.packs.rescan()
}

// RepairPacks repairs packs and their indexes as Repair does, but while this program uses the
// repository. It returns what it did, a sentence for each repair.
func (s *Store) RepairPacks() ([]string, error) {
	s.Writer.mu.Lock()
	defer s.Writer.mu.Unlock()
	packs := packRepair{s.folder, s.Writer, s.Trees.cache, s.readOnce}
	did, err := packs.removeBadIndexes()
	if err == nil {
		var more []string
		more, err = packs.indexPacks()
		did = append(did, more...)
	}
	if err != nil {
		return did, fmt.Errorf("cannot repair the packs: %w", err)
	}
	return did, s.packs.rescan()
}

// removeTemps removes unfinished files. It removes those of this program at once, and those of
// others when they are old. A push that was killed leaves a whole folder.
func (s *Store) removeTemps() ([]string, error) {
	var did []string
	for _, pattern := range []string{"tmp_parley_*", "objects/tmp_objdir-*", "objects/incoming-*", "objects/??/tmp_*",
		"objects/pack/tmp_*", "objects/pack/.tmp-*"} {
		paths, err := filepath.Glob(filepath.Join(s.dir, filepath.FromSlash(pattern)))
		if err != nil {
			return did, fmt.Errorf("cannot list unfinished files: %w", err)
		}
		for _, path := range paths {
			ours := strings.HasPrefix(filepath.Base(path), tempPrefix)
			info, err := os.Lstat(path)
			if err != nil || !ours && time.Since(info.ModTime()) < tempAge {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return did, fmt.Errorf("cannot remove an unfinished file: %w", err)
			}
			did = append(did, "removed the unfinished file "+filepath.Base(path))
		}
	}
	return did, nil
}

// takeDamaged returns the packs that were found damaged since its last call. The rolling pack and
// the retired ones wait for a later call, because most of them are about to be replaced anyway.
func (w *Writer) takeDamaged() []*pack.Pack {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.packs.takeDamaged(func(base string) bool {
		return w.rolling != nil && w.rolling.base == base ||
			slices.ContainsFunc(w.retired, func(r retired) bool { return r.base == base })
	})
}

// ReplaceDamaged replaces packs in which damage was found: each by a copy, in which good copies of
// its damaged objects stand. It returns what it did, a sentence for each pack. If ctx ends, the damaged
// packs that are left stay as they are.
func (s *Store) ReplaceDamaged(ctx context.Context) (did []string) {
	for _, p := range s.Writer.takeDamaged() {
		name := filepath.Base(p.Base)
		good := func(h Hash) (typ plumbing.ObjectType, data []byte, err error) { return s.read(h, pack.MaxObject, true) }
		err := s.Writer.join(ctx, []candidate{{base: p.Base, size: p.Size(), objects: p.Count, modified: p.Modified}}, good)
		if err == nil {
			err = s.Writer.removeAllRetired()
		}
		switch {
		case err == nil:
			if !p.IsThere() { // else somebody wants it to stay
				s.packs.mended(p.Base)
			}
			did = append(did, "replaced the damaged pack "+name)
		case ctx.Err() != nil:
			return did
		default:
			did = append(did, fmt.Sprintf("the damaged pack %s stays: %v", name, err))
		}
	}
	return did
}

// packOf returns a pack with the objects of a builder, and its index.
func packOf(b *Builder) (data, idx []byte, err error) {
	all, err := new(rolling).with(b, pack.NewWriter(nil))
	if err != nil {
		return nil, nil, err
	}
	data, _, idx = pack.Encode(all.body, all.entries)
	return data, idx, nil
}

// below returns the path of a file below the repository at dir, as git writes it.
func below(dir, path string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/")
}
