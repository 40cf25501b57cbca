package objects

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
)

// looseObjects are the objects of a repository that are files of their own.
type looseObjects struct {
	dir string // the folder of objects

	looking sync.Mutex          // guards all below. See look
	root    time.Time           // when a folder of loose objects last came or went
	listed  map[string]looseDir // by the two digits that name a folder
}

// path returns where the file of an object is or would be.
func (l *looseObjects) path(h Hash) string {
	name := h.String()
	return filepath.Join(l.dir, name[:2], name[2:])
}

// read reads an object. The error is ErrNotFound if the object has no file of its own.
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

// remove removes the file of an object.
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

// each calls visit with every loose object. An error of visit ends it.
func (l *looseObjects) each(visit func(Hash, fs.DirEntry) error) error {
	for first := range 256 {
		entries, err := os.ReadDir(filepath.Join(l.dir, fmt.Sprintf("%02x", first)))
		if err != nil {
			continue // no loose object begins so
		}
		for _, e := range entries {
			name := fmt.Sprintf("%02x%s", first, e.Name())
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
	removed := 0
	for first := range 256 {
		dir := filepath.Join(l.dir, fmt.Sprintf("%02x", first))
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
