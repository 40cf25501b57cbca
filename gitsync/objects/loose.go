package objects

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
)

type looseObjects struct {
	dir string // the folder of objects

	looking sync.Mutex          // guards all below. See look
	root    time.Time           // when a folder of loose objects last came or went
	listed  map[string]looseDir // by the two digits that name a folder
}

func (l *looseObjects) path(h Hash) string {
	name := h.String()
	return filepath.Join(l.dir, name[:2], name[2:])
}

func (l *looseObjects) read(h Hash) (plumbing.ObjectType, []byte, error) {
	return l.readUpTo(h, pack.MaxObject)
}

// readUpTo is read of an object with at most so many bytes. If it has more, the error is a
// *LargeError.
func (l *looseObjects) readUpTo(h Hash, most int64) (plumbing.ObjectType, []byte, error) {
	f, err := os.Open(l.path(h))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, ErrNotFound
	}
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a loose object: %w", err)
	}
	defer func() { _ = f.Close() }()
	typ, data, err := decodeLoose(f, most)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read loose object %s: %w", h, err)
	}
	if hashOf(typ, data) != h {
		return 0, nil, fmt.Errorf("%w: the file of loose object %s holds another one", pack.ErrCorrupt, h)
	}
	return typ, data, nil
}

// has reports whether an object has a file of its own with something in it.
func (l *looseObjects) has(h Hash) bool {
	info, err := os.Stat(l.path(h))
	return err == nil && info.Size() > 0
}

func (l *looseObjects) remove(h Hash) error { return removeFile(l.path(h)) }

// put makes an object durable as a file of its own, in place of a damaged one.
func (l *looseObjects) put(typ plumbing.ObjectType, data []byte) error {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, err := fmt.Fprintf(z, "%s %d\x00", typ, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("cannot compress: %w", err)
	}
	path := l.path(hashOf(typ, data))
	if err := durable.FoldersIn(filepath.Dir(l.dir), filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot write a loose object: %w", err)
	}
	return WriteFile(path, out.Bytes())
}

// areMoreThan reports whether there are more than about n loose objects. Like git, it counts the
// objects in one of 256 folders, because names are spread evenly.
func (l *looseObjects) areMoreThan(n int) bool {
	entries, err := os.ReadDir(filepath.Join(l.dir, "17"))
	return err == nil && len(entries) > n/256
}

// folders are the names of the folders of loose objects that are there: two hexadecimal digits.
func (l *looseObjects) folders() ([]string, error) {
	entries, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, e := range entries {
		if _, err := hex.DecodeString(e.Name()); err == nil && len(e.Name()) == 2 {
			all = append(all, e.Name())
		}
	}
	return all, err
}

func (l *looseObjects) each(visit func(Hash, fs.DirEntry) error) error {
	folders, _ := l.folders() // what cannot be read holds nothing that can be visited
	for _, first := range folders {
		entries, err := os.ReadDir(filepath.Join(l.dir, first))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := first + e.Name()
			if !plumbing.IsHash(name) {
				continue
			}
			if err := visit(plumbing.NewHash(name), e); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEmpty removes loose objects that a crash of the system left without any content. They hold
// nothing, and git would not write them again.
func (l *looseObjects) removeEmpty() ([]string, error) {
	folders, err := l.folders()
	if err != nil {
		return nil, err
	}
	removed := 0
	for _, name := range folders {
		dir := filepath.Join(l.dir, name)
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
				continue
			}
			if err := removeFile(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			removed++
		}
	}
	if removed == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("removed %d loose objects without content", removed)}, nil
}

func decodeLoose(in io.Reader, most int64) (plumbing.ObjectType, []byte, error) {
	z, err := zlib.NewReader(in)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", pack.ErrCorrupt, err)
	}
	r := bufio.NewReader(io.LimitReader(z, pack.MaxObject+64))
	head, err := r.ReadString(0)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", pack.ErrCorrupt, err)
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	typ, err := plumbing.ParseObjectType(kind)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", pack.ErrCorrupt, err)
	}
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || size < 0 {
		return 0, nil, fmt.Errorf("%w: an object of %q bytes", pack.ErrCorrupt, length)
	}
	if size > most {
		return 0, nil, pack.PassLarge(io.MultiReader(r, z), size, most)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", pack.ErrCorrupt, err)
	}
	if int64(len(data)) != size {
		return 0, nil, fmt.Errorf("%w: an object has %d bytes where its header says %d", pack.ErrCorrupt, len(data), size)
	}
	return typ, data, nil
}

// looseDir is what a folder of loose objects held when it was last listed.
type looseDir struct {
	modified time.Time
	names    []Hash
}

// look lists the folders of loose objects that changed since they were last listed. It returns the
// objects that are gone from them.
func (l *looseObjects) look() (gone []Hash, err error) {
	l.looking.Lock()
	defer l.looking.Unlock()
	names, err := l.dirs()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		known := l.listed[name]
		info, err := os.Stat(filepath.Join(l.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return gone, fmt.Errorf("cannot look at the loose objects: %w", err)
		case info.ModTime().Equal(known.modified):
			continue
		default:
			known.modified = info.ModTime()
		}
		missing, err := l.list(name, known)
		if err != nil {
			return gone, err
		}
		gone = append(gone, missing...)
	}
	return gone, nil
}

// dirs returns the folders of loose objects that are there or were there. It looks for new ones
// only if a folder came or went. The caller holds looking.
func (l *looseObjects) dirs() ([]string, error) {
	info, err := os.Stat(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	names := slices.Collect(maps.Keys(l.listed))
	if err != nil || info.ModTime().Equal(l.root) {
		return names, nil
	}
	l.root = info.ModTime()
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	for _, e := range entries {
		if _, known := l.listed[e.Name()]; !known && e.IsDir() && len(e.Name()) == 2 && plumbing.IsHash(e.Name()+emptyTree.String()[2:]) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// list lists one folder of loose objects. It returns the objects that the folder had and has no
// more. The caller holds looking.
func (l *looseObjects) list(name string, known looseDir) (gone []Hash, err error) {
	entries, err := os.ReadDir(filepath.Join(l.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot look at the loose objects: %w", err)
	}
	now := looseDir{modified: known.modified}
	still := map[Hash]bool{}
	for _, e := range entries {
		if hex := name + e.Name(); plumbing.IsHash(hex) {
			h := plumbing.NewHash(hex)
			now.names = append(now.names, h)
			still[h] = true
		}
	}
	for _, h := range known.names {
		if !still[h] {
			gone = append(gone, h)
		}
	}
	if l.listed == nil {
		l.listed = map[string]looseDir{}
	}
	if l.listed[name] = now; err != nil {
		delete(l.listed, name) // the folder is gone
	}
	return gone, nil
}
