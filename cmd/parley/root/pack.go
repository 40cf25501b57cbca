package root

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// pack writes all files of a folder into a new archive, which only its owner can read, and reads it
// again. If it fails, there is no archive.
func pack(dir, file string) (err error) {
	out, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			_ = os.Remove(file) // it is of no use, and the folder is there
		}
	}()
	z := gzip.NewWriter(out)
	w := tar.NewWriter(z)
	count := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0 {
			return err
		}
		count++
		return packOne(w, filepath.Dir(dir), path, d)
	})
	if err := errors.Join(err, w.Close(), z.Close(), out.Sync()); err != nil {
		return err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	back, err := gzip.NewReader(out)
	if err != nil {
		return err
	}
	for r := tar.NewReader(back); ; count-- {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
	}
	if count != 0 {
		return fmt.Errorf("%d files are not in the archive", count)
	}
	return nil
}

func packOne(w *tar.Writer, base, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	if h.Name, err = filepath.Rel(base, path); err != nil {
		return err
	}
	h.Name = filepath.ToSlash(h.Name)
	if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}
