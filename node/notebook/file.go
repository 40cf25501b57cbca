package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/parleyfleet/parley/internal/durable"
)

// maxSheet bounds what is read of a file, in bytes: a larger one is nobody's sheet.
const maxSheet = 16 << 20

// races is how often a file is tried again that somebody saves at the same moment.
const races = 50

// open opens a plain file to be read; nil where there is none. What is no plain file is
// refused: behind a link may be anything, and who opens a pipe waits for somebody to write
// into it. What takes a file's place in between is opened without waiting, and refused too.
func open(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil {
		err = plain(name, info.Mode())
	}
	if err != nil {
		return nil, unlessMissing(err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unlessMissing(err)
	}
	if err := stillPlain(f, name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func unlessMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// stillPlain says why a file that was opened is not one to read or write.
func stillPlain(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return plain(name, info.Mode())
}

// plain says why what has a file's name is no plain file.
func plain(name string, mode fs.FileMode) error {
	what := "neither a file nor a folder"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s is %s, no plain file: move it away", name, what)
}

// read is a file's bytes; nil where there is none.
func read(root *os.Root, name string) ([]byte, error) {
	f, err := open(root, name)
	if f == nil || err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSheet+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxSheet: // a part of it would be written in its place as if it were all
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxSheet>>20)
	case data == nil:
		data = []byte{}
	}
	return data, nil
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
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	half, err := writeHalf(root, name, next, mode)
	if err != nil {
		return nil, err
	}
	if at == nil {
		err = place(root, half, name)
	} else {
		displaced, err = exchange(root, half, name)
	}
	switch {
	case errors.Is(err, errOpen):
		kept, wrong := setAside(root, half, name)
		return nil, errors.Join(fmt.Errorf("what is written into %s now is in %s: %w", name, kept, err), wrong)
	case err != nil:
		return nil, errors.Join(err, drop(root, half, name, next))
	}
	return displaced, unlessMissing(root.Remove(half))
}

// errOpen is why what a file was before it was replaced is kept.
var errOpen = errors.New("a program goes on writing into it")

// drop removes a half-written file after a write that failed. Where it is not what was to be
// written, it is what somebody saved, which once went with it: it gets a name that shows.
func drop(root *os.Root, half, name string, ours []byte) error {
	data, err := read(root, half)
	switch {
	case err == nil && data == nil:
		return nil
	case err == nil && bytes.Equal(data, ours):
		return root.Remove(half)
	}
	kept, err := setAside(root, half, name)
	if err != nil {
		return fmt.Errorf("what was saved as %s is in %s: %w", name, half, err)
	}
	return fmt.Errorf("what was saved as %s is now %s", name, kept)
}

// setAside gives what somebody saved a name beside the file that it was.
func setAside(root *os.Root, half, name string) (kept string, err error) {
	for n := 1; n < maxSameDay; n++ {
		kept = fmt.Sprintf("%s.saved-%d", name, n)
		if err = place(root, half, kept); !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
	return "", err
}

// place gives a file another name, which nothing may have yet: else that is fs.ErrExist.
func place(root *os.Root, from, to string) error {
	err := renameNew(root, from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || missing(err) {
		return err
	}
	return copied(root, from, to)
}

// linked is renameNew where a name can only be given beside another one. Who saves by
// renaming between the comparison and the removal, which takes microseconds, loses that.
func linked(root *os.Root, from, to string) error {
	if err := root.Link(from, to); err != nil {
		return err
	}
	still, err := root.Lstat(from)
	if err != nil {
		return unlessMissing(err)
	}
	placed, err := root.Lstat(to)
	if err != nil || !os.SameFile(still, placed) {
		return err // somebody has saved another file under the name: that one stays
	}
	return root.Remove(from)
}

// copied is place on a file system without hard links. What is saved between the comparison
// and the removal is lost, which takes microseconds.
func copied(root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if err != nil {
		return err
	}
	data, err := read(root, from)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(to))
	}
	if now, err := read(root, from); err != nil || !bytes.Equal(now, data) {
		return err // somebody has saved it meanwhile: that stays
	}
	return root.Remove(from)
}

// halfName is the name of a file that is written, of the file that it is to be, the process and
// a number. So what a write that was cut short has left says whose it is.
func halfName(name string, n int) string {
	return path.Join(path.Dir(name), fmt.Sprintf("%s%s-%d-%d", durable.TempPrefix, path.Base(name), os.Getpid(), n))
}

// writeHalf writes a file that has no name yet which anybody looks at.
func writeHalf(root *os.Root, name string, data []byte, mode fs.FileMode) (string, error) {
	for n := 0; ; n++ {
		half := halfName(name, n)
		f, err := root.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			err = errors.Join(err, root.Remove(half))
		}
		return half, err
	}
}

// create makes a file, whole, where none is.
func create(root *os.Root, name string, data []byte) error {
	half, err := writeHalf(root, name, data, 0o644)
	if err != nil {
		return err
	}
	if err := place(root, half, name); err != nil {
		return errors.Join(err, drop(root, half, name, data))
	}
	return nil
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
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	if err := stillPlain(f, name); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.Write(more)
	return errors.Join(err, f.Sync(), f.Close())
}
