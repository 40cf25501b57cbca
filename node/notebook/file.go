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

// maxSheet bounds how much is read of a file, in bytes: a larger file is nobody's sheet.
const maxSheet = 16 << 20

// races is how often a file is tried again if somebody saves it at the same moment.
const races = 50

// open opens a plain file for reading; nil if there is none. It returns an error if the name
// belongs to anything else: a link may lead anywhere, and opening a pipe waits for somebody to
// write into it. If something else takes the file's place in between, it is opened without waiting,
// and open returns an error too.
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

// stillPlain returns an error that says why an open file is not to be read or written.
func stillPlain(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return plain(name, info.Mode())
}

// plain returns an error that says what has a file's name, if that is no plain file.
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

// read returns the bytes of a file; nil if there is none.
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
	case len(data) > maxSheet: // a part of it would be written back as if it were the whole
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxSheet>>20)
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// edit changes a file. If somebody saved it in the meantime, that version is changed: nobody's
// words are overwritten unread. The file is written only if that makes a difference, and always as
// a whole.
func edit(root *os.Root, name string, change func(existing []byte) []byte) (changed bool, err error) {
	at, err := read(root, name)
	if err != nil {
		return false, err
	}
	from, before, pending := at, at, false // pending: what somebody saved is only in `from`
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
		default: // saved after we read and before we wrote: that version counts
			if pending { // it happened twice, and the last one who saved had not seen the version before
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

// withLines is a text with lines of another text added at its end: those that are neither in the
// text itself nor in what both texts were before.
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

// replace puts `next` in the place of a file. It returns what was there: `at`, unless somebody was
// faster. If `at` is nil and there is a file, it returns fs.ErrExist.
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
		err = renameNew(root, half, name)
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

// errOpen says why the old version of a replaced file is kept.
var errOpen = errors.New("a program goes on writing into it")

// drop removes a half-written file after a write that failed. If its content is not what was to be
// written, it is what somebody saved, because the two files have changed names. Then drop gives it
// a name that people notice.
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

// setAside gives a file with what somebody saved a new name beside the file `name`.
func setAside(root *os.Root, half, name string) (kept string, err error) {
	for n := 1; n < maxSameDay; n++ {
		kept = fmt.Sprintf("%s.saved-%d", name, n)
		if err = renameNew(root, half, kept); !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
	return "", err
}

// unlessThere is renameNew for systems and file systems that cannot look and rename in one step. If
// something gets the name between the two, which takes microseconds, it is lost.
func unlessThere(root *os.Root, from, to string) error {
	switch _, err := root.Lstat(to); {
	case err == nil:
		return fs.ErrExist
	case !missing(err):
		return err
	}
	return root.Rename(from, to)
}

// halfName is the name of a file that is being written. It is made of the name of the file that it
// is to become, the process and a number. So what a write that was cut short has left says to which
// file it belongs.
func halfName(name string, n int) string {
	return path.Join(path.Dir(name), fmt.Sprintf("%s%s-%d-%d", durable.TempPrefix, path.Base(name), os.Getpid(), n))
}

// writeHalf writes a file under a name that nobody looks at yet, and returns that name.
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

// create makes a whole file, if there is none of that name.
func create(root *os.Root, name string, data []byte) error {
	half, err := writeHalf(root, name, data, 0o644)
	if err != nil {
		return err
	}
	if err := renameNew(root, half, name); err != nil {
		return errors.Join(err, drop(root, half, name, data))
	}
	return nil
}

// renamed is exchange for systems where two files cannot change names in one step. What somebody
// saves between the two steps, which takes microseconds, is lost.
func renamed(root *os.Root, half, name string) (displaced []byte, err error) {
	if displaced, err = read(root, name); err != nil {
		return nil, err
	}
	return displaced, root.Rename(half, name)
}

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
