package pack

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CheckIndex returns an error if an index does not have its own check sum, or not the check sum of
// its pack.
func CheckIndex(base string) error {
	sum, err := WrongSum(base + ".idx")
	if err != nil {
		return err
	}
	if sum != nil {
		return fmt.Errorf("%w: %s.idx has a wrong check sum", ErrCorrupt, base)
	}
	idx, err := readTail(base+".idx", idxTrailer)
	if err != nil {
		return err
	}
	pack, err := readTail(base+".pack", HashBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(idx[:HashBytes], pack) {
		return fmt.Errorf("%w: %s.idx is the index of another pack", ErrCorrupt, base)
	}
	_, err = Open(base)
	return err
}

// WrongSum reads a file that ends in its own SHA-1. It returns nil if that SHA-1 is right, and
// otherwise what it should be.
func WrongSum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", filepath.Base(path), err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", filepath.Base(path), err)
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, io.LimitReader(f, info.Size()-HashBytes)); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", filepath.Base(path), err)
	}
	tail, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", filepath.Base(path), err)
	}
	if right := sum.Sum(nil); !bytes.Equal(right, tail) {
		return right, nil
	}
	return nil, nil
}

func readTail(path string, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", filepath.Base(path), err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", filepath.Base(path), err)
	}
	if info.Size() < size {
		return nil, fmt.Errorf("%w: %s is too short", ErrCorrupt, filepath.Base(path))
	}
	tail := make([]byte, size)
	if _, err := f.ReadAt(tail, info.Size()-size); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", filepath.Base(path), err)
	}
	return tail, nil
}
