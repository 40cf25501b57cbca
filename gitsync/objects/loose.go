package objects

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// readLoose reads an object that the git program wrote as a file of its own.
func readLoose(dir string, h Hash) (plumbing.ObjectType, []byte, error) {
	name := h.String()
	f, err := os.Open(filepath.Join(dir, "objects", name[:2], name[2:]))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, ErrNotFound
	}
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open a loose object: %w", err)
	}
	defer func() { _ = f.Close() }()
	typ, data, err := decodeLoose(f)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read loose object %s: %w", h, err)
	}
	return typ, data, nil
}

// eachLoose calls visit with every loose object. visit's error ends it.
func (s *Store) eachLoose(visit func(Hash, fs.DirEntry) error) error {
	for first := range 256 {
		entries, err := os.ReadDir(filepath.Join(s.dir, "objects", fmt.Sprintf("%02x", first)))
		if err != nil {
			continue // there are none that begin so
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

func decodeLoose(in io.Reader) (plumbing.ObjectType, []byte, error) {
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
	if size > pack.MaxObject {
		return 0, nil, pack.PassLarge(io.MultiReader(r, z), size)
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
