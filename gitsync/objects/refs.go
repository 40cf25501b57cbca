package objects

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// symrefDepth is how many refs may be read on the way from a symbolic ref to a commit.
const symrefDepth = 5

// ErrRefMoved says that a ref did not have the value that it was to be moved from.
var ErrRefMoved = errors.New("the ref was moved by another program")

// Refs are the refs of a bare repository. They move under git's own lock files. A move is durable
// when it is done. Refs looks at no object.
type Refs struct {
	dir string
	log zerolog.Logger

	mu    sync.Mutex // guards stuck
	stuck []string   // locks of this program that it could not remove
}

// Ref reads a ref such as refs/heads/main, from its own file or else from packed-refs. ok is false
// if there is no such ref.
func (r *Refs) Ref(name string) (h Hash, ok bool, err error) {
	for range symrefDepth {
		data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return r.packedRef(name)
		}
		if err != nil {
			return Zero, false, fmt.Errorf("cannot read ref %s: %w", name, err)
		}
		text := strings.TrimSpace(string(data))
		if target, ok := strings.CutPrefix(text, "ref: "); ok {
			name = target
			continue
		}
		if !plumbing.IsHash(text) {
			return Zero, false, fmt.Errorf("cannot read ref %s: it does not hold the name of a commit", name)
		}
		return plumbing.NewHash(text), true, nil
	}
	return Zero, false, fmt.Errorf("cannot read ref %s: too many symbolic refs", name)
}

func (r *Refs) packedRef(name string) (Hash, bool, error) {
	f, err := os.Open(filepath.Join(r.dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return Zero, false, nil
	}
	if err != nil {
		return Zero, false, fmt.Errorf("cannot read packed-refs: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		hex, ref, _ := strings.Cut(lines.Text(), " ")
		if ref == name && plumbing.IsHash(hex) {
			return plumbing.NewHash(hex), true, nil
		}
	}
	if err := lines.Err(); err != nil {
		return Zero, false, fmt.Errorf("cannot read packed-refs: %w", err)
	}
	return Zero, false, nil
}

// MoveRef makes a ref name next if it names old. If old is Zero, the ref must not exist. MoveRef
// works under git's own lock file and waits a second for another program's lock. The move is
// durable when it returns. The error is ErrRefMoved if the ref names something else.
func (r *Refs) MoveRef(name string, old, next Hash) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := durable.FoldersIn(r.dir, filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot move %s: %w", name, err)
	}
	lock, err := r.takeLock(path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot move %s: %w", name, err)
	}
	if err := r.moveLocked(name, path, lock, old, next); err != nil {
		return errors.Join(fmt.Errorf("cannot move %s: %w", name, err), r.dropLock(path+".lock"))
	}
	return nil
}

// ResetRef makes a ref name next whatever it holds, even if it holds no name of a commit. It is for
// a ref that a crash broke. MoveRef is for all others.
func (r *Refs) ResetRef(name string, next Hash) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := durable.FoldersIn(r.dir, filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot set %s: %w", name, err)
	}
	lock, err := r.takeLock(path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot set %s: %w", name, err)
	}
	if err := place(path, lock, next); err != nil {
		return errors.Join(fmt.Errorf("cannot set %s: %w", name, err), r.dropLock(path+".lock"))
	}
	return nil
}

// RemoveRef removes a ref if it names old, under the same lock as MoveRef. If there is no such ref,
// there is nothing to do. The error is ErrRefMoved if the ref names something else.
func (r *Refs) RemoveRef(name string, old Hash) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if _, ok, err := r.Ref(name); err != nil {
		return fmt.Errorf("cannot remove %s: %w", name, err)
	} else if !ok {
		return nil
	}
	if err := durable.FoldersIn(r.dir, filepath.Dir(path), 0o755); err != nil { // the folder of a ref in packed-refs may be gone
		return fmt.Errorf("cannot remove %s: %w", name, err)
	}
	lock, err := r.takeLock(path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot remove %s: %w", name, err)
	}
	current, _, err := r.Ref(name)
	if err == nil && current != old {
		err = fmt.Errorf("cannot remove %s: %w: it names %s, not %s", name, ErrRefMoved, current, old)
	}
	if err == nil {
		err = r.DropRef(name)
	}
	return errors.Join(err, lock.Close(), r.dropLock(path+".lock"))
}

// RefsBelow returns the refs whose names begin with prefix, and what they name. prefix ends in a
// slash. A ref that cannot be read is left out.
func (r *Refs) RefsBelow(prefix string) (map[string]Hash, error) {
	names, err := r.namesBelow(prefix)
	if err != nil {
		return nil, err
	}
	all := map[string]Hash{}
	for name := range names {
		if h, ok, err := r.Ref(prefix + name); err == nil && ok {
			all[prefix+name] = h
		}
	}
	return all, nil
}

// DropRef removes a ref, whatever it holds. It is for a ref that a crash broke. The removal is
// durable when it returns.
func (r *Refs) DropRef(name string) error {
	// The lock is held to the end, so that nobody packs the ref meanwhile. The ref's own file goes
	// last: while it is there, what packed-refs says of the ref does not count.
	err := r.lockPackedRefs(func(packed string) error {
		old, err := r.packedRefs()
		if err != nil {
			return err
		}
		good, dropped := withoutLines(old, func(line string) bool { return strings.HasSuffix(strings.TrimSuffix(line, "\n"), " "+name) })
		if dropped > 0 {
			if err := WriteFile(packed, good); err != nil {
				return err
			}
		}
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return durable.Folder(filepath.Dir(path))
	})
	if err != nil {
		return fmt.Errorf("cannot remove %s: %w", name, err)
	}
	return nil
}

func (r *Refs) moveLocked(name, path string, lock *os.File, old, next Hash) error {
	current, _, err := r.Ref(name)
	if err == nil && current != old {
		err = fmt.Errorf("%w: it names %s, not %s", ErrRefMoved, current, old)
	}
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	return place(path, lock, next)
}

func place(path string, lock *os.File, next Hash) error {
	failpoint.Hit(failpoint.RefLocked)
	_, err := lock.WriteString(next.String() + "\n")
	if err == nil {
		err = lock.Sync()
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return err
	}
	failpoint.Hit(failpoint.RefWritten)
	if err := os.Rename(path+".lock", path); err != nil {
		return fmt.Errorf("cannot put the ref in place: %w", err)
	}
	failpoint.Hit(failpoint.RefMoved)
	return durable.Folder(filepath.Dir(path))
}

// Branches returns the branches of the repository, by their names without refs/heads/.
func (r *Refs) Branches() (map[string]Hash, error) {
	names, err := r.namesBelow(branchPrefix)
	if err != nil {
		return nil, err
	}
	all := map[string]Hash{}
	for name := range names {
		h, ok, err := r.Ref(branchPrefix + name)
		if err != nil {
			return nil, err
		}
		if ok {
			all[name] = h
		}
	}
	return all, nil
}

const branchPrefix = "refs/heads/"

func (r *Refs) namesBelow(prefix string) (map[string]bool, error) {
	names := map[string]bool{}
	root := filepath.Join(r.dir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names[filepath.ToSlash(rel)] = true
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the refs below %s: %w", prefix, err)
	}
	packed, err := os.ReadFile(filepath.Join(r.dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read packed-refs: %w", err)
	}
	for line := range strings.Lines(string(packed)) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(ref, prefix) {
			names[strings.TrimPrefix(ref, prefix)] = true
		}
	}
	return names, nil
}
