package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/parleyfleet/parley/internal/durable"
)

// maxSheet bounds what is read of a file, in bytes: a larger one is nobody's sheet.
const maxSheet = 16 << 20

// races is how often a file is tried again that somebody saves at the same moment.
const races = 50

// read is a file's bytes; nil where there is none. What is no plain file is refused: behind a
// link or a pipe of that name may be anything.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", name)
	case info.Size() > maxSheet:
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxSheet>>20)
	}
	f, err := root.Open(name)
	if err != nil {
		if missing(err) {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSheet))
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// edit changes a file. What somebody saved meanwhile is what is changed: nobody's words are
// overwritten unread. It is written only where that makes a difference, and whole.
func edit(root *os.Root, name string, change func(existing []byte) []byte) (changed bool, err error) {
	at, err := read(root, name)
	if err != nil {
		return false, err
	}
	from, before, pending := at, at, false // pending: what somebody saved stands in from alone
	for range races {
		next := change(from)
		if at != nil && bytes.Equal(at, next) && !pending {
			return changed, nil
		}
		displaced, err := replace(root, name, at, next)
		switch {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return changed, err
		case bytes.Equal(displaced, at):
			return true, nil
		default: // saved between our reading and our writing: that is what counts
			if pending { // twice, and who saved last had not seen the one before
				displaced = withLines(displaced, from, before)
			}
			from, before, at, pending, changed = displaced, at, next, true, true
			continue
		}
		if at, err = read(root, name); err != nil {
			return changed, err
		}
		if !pending {
			from = at
		}
	}
	return changed, fmt.Errorf("cannot write %s: somebody else goes on saving it", name)
}

// withLines is a text with the lines behind it that another one has, and that stand neither
// there nor in what both were before.
func withLines(text, other, before []byte) []byte {
	known := map[string]bool{}
	for _, of := range [][]byte{text, before} {
		for line := range bytes.Lines(of) {
			known[string(bytes.TrimRight(line, "\r\n"))] = true
		}
	}
	for line := range bytes.Lines(other) {
		if line = bytes.TrimRight(line, "\r\n"); !known[string(line)] {
			if len(text) > 0 && text[len(text)-1] != '\n' {
				text = append(text[:len(text):len(text)], '\n')
			}
			text = append(append(text[:len(text):len(text)], line...), '\n')
		}
	}
	return text
}

// replace puts bytes in the place of a file, and returns what was there: at, unless somebody
// was faster. Where there was to be none and is one, that is fs.ErrExist.
func replace(root *os.Root, name string, at, next []byte) (displaced []byte, err error) {
	mode := fs.FileMode(0o644)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	half, err := writeHalf(root, path.Dir(name), next, mode)
	if err != nil {
		return nil, err
	}
	defer root.Remove(half)
	if at == nil {
		return nil, place(root, half, name, next, mode)
	}
	return exchange(root, half, name)
}

// place gives a file its name, which nothing may have yet.
func place(root *os.Root, half, name string, data []byte, mode fs.FileMode) error {
	err := root.Link(half, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // a file system without hard links
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// writeHalf writes a file that has no name yet which anybody looks at.
func writeHalf(root *os.Root, dir string, data []byte, mode fs.FileMode) (name string, err error) {
	for n := 0; ; n++ {
		name = path.Join(dir, fmt.Sprintf("%s%d-%d", durable.TempPrefix, os.Getpid(), n))
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			err = errors.Join(err, root.Remove(name))
		}
		return name, err
	}
}

// renamed is exchange where two files cannot change names at once: what is saved between
// the two steps is lost, which takes a moment of microseconds.
func renamed(root *os.Root, half, name string) (displaced []byte, err error) {
	if displaced, err = read(root, name); err != nil {
		return nil, err
	}
	return displaced, root.Rename(half, name)
}

// add writes behind a file's end.
func add(root *os.Root, name string, more []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(more)
	return errors.Join(err, f.Sync(), f.Close())
}
