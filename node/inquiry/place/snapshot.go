package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is what is investigated, as it was when the inquiry began.
type Source struct {
	In   string // the folder, or REPOSITORY@COMMIT with the whole commit
	Hash string // hex SHA-256, see hashOf
	Dir  string // where the copy lies on this host; its files are read-only
}

// Bounds of what can be investigated, in files and in bytes: it is copied for each member.
const (
	maxFiles = 20_000
	maxBytes = 512 << 20
)

// IsFolder reports whether `in` is a folder of one machine. A name with an @ in its last part is a
// commit, and no folder.
func IsFolder(in string) bool { return filepath.IsAbs(in) && !strings.Contains(filepath.Base(in), "@") }

// snapshots is the folder for copies of what is investigated, below the folder of all places.
func snapshots(base string) string { return filepath.Join(base, "snapshots") }

// Snapshot keeps a copy of `in` below `base`, as it is now. Of a folder it takes the files; in a
// work tree of git, it takes the files that git does not ignore. Of REPOSITORY@COMMIT it takes the
// files of that commit, and of a mere REPOSITORY the files of its newest commit. It returns an
// error if there are no files, or too much.
func Snapshot(ctx context.Context, base, in string) (Source, error) {
	if err := os.MkdirAll(snapshots(base), private); err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	dir, err := os.MkdirTemp(snapshots(base), "new-")
	if err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	defer os.RemoveAll(dir)
	s := Source{In: in}
	if info, there := os.Stat(in); filepath.IsAbs(in) && there == nil && info.IsDir() {
		err = takeFolder(ctx, in, dir)
	} else {
		s.In, err = takeCommit(ctx, in, dir)
	}
	if err != nil {
		return Source{}, err
	}
	if s.Hash, err = hashOf(dir); err != nil {
		return Source{}, err
	}
	s.Dir = filepath.Join(snapshots(base), s.Hash)
	if os.Rename(dir, s.Dir) == nil || holds(s.Dir, s.Hash) { // it is kept already, or was laid there meanwhile: that copy is in use
		return s, nil
	}
	err = removeTree(s.Dir) // somebody has changed it, or a power cut has
	if err == nil {
		err = os.Rename(dir, s.Dir)
	}
	if err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	return s, nil
}

// holds reports whether a folder has the files of a hash, unchanged.
func holds(dir, hash string) bool {
	got, err := hashOf(dir)
	return err == nil && got == hash
}

// Fetch returns the folder in which what is investigated lies on this host. If it is not there yet,
// Fetch takes it again, and returns an error if that gives another hash. So somebody who has this
// host take something learns nothing that they did not have themselves.
func Fetch(ctx context.Context, base, in, hash string) (dir string, err error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size { // it could lead out of the folder
		return "", fmt.Errorf("cannot get %s: %.80q is no hash", in, hash)
	}
	dir = filepath.Join(snapshots(base), hash)
	if holds(dir, hash) {
		return dir, nil
	}
	s, err := Snapshot(ctx, base, in)
	if err != nil {
		return "", fmt.Errorf("cannot get %s: %w", in, err)
	}
	if s.Hash != hash {
		return "", fmt.Errorf("cannot get %s: here it is another one than where the inquiry began", in)
	}
	return s.Dir, nil
}

// Tidy removes the copies below `base` whose hashes `needed` does not return. It calls `needed`
// only if there are copies. The caller makes sure that nothing is taken in the meantime.
func Tidy(base string, needed func() map[string]bool) error {
	entries, err := os.ReadDir(snapshots(base))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	stays := needed()
	for _, e := range entries {
		if !stays[e.Name()] {
			err = errors.Join(err, removeTree(filepath.Join(snapshots(base), e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot remove what was investigated: %w", err)
	}
	return nil
}

var errFiles = fmt.Errorf("more than %d files: name a part of it", maxFiles)

// bounds is how much may still be taken.
type bounds struct {
	files int
	bytes int64
}

func newBounds() bounds { return bounds{maxFiles, maxBytes} }

// take counts one more file.
func (b *bounds) take(size int64) error {
	if b.files--; b.files < 0 {
		return errFiles
	}
	if b.bytes -= size; b.bytes < 0 {
		return fmt.Errorf("more than %d MiB: name a part of it", maxBytes>>20)
	}
	return nil
}

// plainName reports whether a file below a folder may be taken. Its name leads nowhere else. It
// belongs to nothing that git would take for a repository, because the settings of a repository can
// start programs.
func plainName(name string) bool {
	return filepath.IsLocal(name) && !slices.ContainsFunc(strings.Split(filepath.ToSlash(name), "/"), func(part string) bool {
		return strings.EqualFold(part, ".git")
	})
}

// takeFolder copies the files of a folder. It leaves out links and special files, because they
// would lead out of the folder.
func takeFolder(ctx context.Context, from, to string) error {
	names, err := listFolder(ctx, from)
	if err != nil {
		return err
	}
	if len(names) > maxFiles {
		return fmt.Errorf("%s has %w", from, errFiles)
	}
	root, err := os.OpenRoot(from) // no name leads out of the folder
	if err != nil {
		return fmt.Errorf("cannot read the folder: %w", err)
	}
	defer root.Close()
	left := newBounds()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := takeFile(root, name, filepath.Join(to, name), &left); err != nil {
			return fmt.Errorf("cannot copy %s from %s: %w", name, from, err)
		}
	}
	if left == newBounds() {
		return fmt.Errorf("%s has no files", from)
	}
	return nil
}

// takeFile copies one file, if it is a plain one.
func takeFile(root *os.Root, name, to string, left *bounds) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil // git also lists files that were removed
	}
	if err != nil {
		return err
	}
	if err := left.take(info.Size()); err != nil {
		return err
	}
	f, err := openPlain(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeOnly(to, io.LimitReader(f, info.Size()), info.Mode()&0o100 != 0)
}

// writeOnly writes a file that can only be read from then on.
func writeOnly(path string, from io.Reader, program bool) error {
	mode := fs.FileMode(0o444)
	if program {
		mode = 0o555
	}
	if err := os.MkdirAll(filepath.Dir(path), private); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close(), os.Chmod(path, mode))
}

// listFolder returns the names of a folder's files, below the folder. In a work tree of git, it
// leaves out what git ignores.
func listFolder(ctx context.Context, dir string) (names []string, err error) {
	if inWorkTree(dir) {
		out, err := RunGit(ctx, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil { // all files may be more than the user wants, such as keys that git ignores
			return nil, fmt.Errorf("git cannot say which files of %s count: %w", dir, err)
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name = filepath.FromSlash(name); plainName(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return slices.Compact(names), nil // an unmerged file has several entries
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && !plainName(name):
			return fs.SkipDir
		case d.Type().IsRegular() && plainName(name):
			names = append(names, name)
		}
		if len(names) > maxFiles {
			return fs.SkipAll // they are refused when they are counted
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder: %w", err)
	}
	return names, nil
}

// inWorkTree reports whether a folder is in a work tree of git.
func inWorkTree(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// hashOf is the SHA-256, in hex, over one line for each file, sorted by path. A line has three
// parts with a space between them: the file's own SHA-256 in hex; "x" for a program, else "-"; and
// the path below the folder, with slashes. It ends with a newline.
func hashOf(dir string) (string, error) {
	lines := map[string]string{} // by path
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", name)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		program := "-"
		if info.Mode()&0o100 != 0 {
			program = "x"
		}
		name = filepath.ToSlash(name)
		lines[name] = fmt.Sprintf("%x %s %s\n", sum.Sum(nil), program, name)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("cannot read what is kept: %w", err)
	}
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		io.WriteString(all, lines[name])
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// copyTree copies a snapshot for one member: what one member changes, no other one sees.
func copyTree(from, to string) error {
	dirs := []string{to}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			dirs = append(dirs, filepath.Join(to, name))
			return os.MkdirAll(filepath.Join(to, name), private)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return writeOnly(filepath.Join(to, name), f, info.Mode()&0o100 != 0)
	})
	for _, dir := range dirs {
		err = errors.Join(err, os.Chmod(dir, 0o555))
	}
	return err
}
