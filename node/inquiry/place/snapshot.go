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
	"time"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/psi"
)

// Source is what is investigated, as it was when the inquiry began.
type Source struct {
	In   string // the folder, or REPOSITORY@COMMIT with the whole commit
	Hash string // hex SHA-256, see hashOf
	Dir  string // where the copy lies on this host; its files are read-only
}

// Ask says what is to be investigated, and who names it.
type Ask struct {
	In   string
	Home string  // the node's home: it has keys, and nobody may name it, a part of it, or what it is a part of
	By   *Reader // the agent that names it; nil: somebody who may name all else

	home fs.FileInfo // what Home is; set by take
}

// Bounds of what can be investigated, in files and in bytes: it is copied for each member.
const (
	maxFiles  = 20_000
	maxBytes  = 512 << 20
	maxSeen   = 10 * maxFiles // names in a folder that are looked at
	maxDepth  = 64            // folders in each other: each one is held open while it is read
	maxTime   = 2 * time.Minute
	maxClone  = 15 * time.Minute // for a repository, which may be far away
	maxCloned = 8 * maxBytes     // of a repository with all that ever was in it
)

// IsFolder reports whether `in` is a folder of one machine. A name with an @ in its last part is a
// commit, and no folder.
func IsFolder(in string) bool { return filepath.IsAbs(in) && !strings.Contains(filepath.Base(in), "@") }

// snapshots is the folder for copies of what is investigated, below the folder of all places.
func snapshots(base string) string { return filepath.Join(base, "snapshots") }

// Snapshot keeps a copy of what is to be investigated below `base`, as it is now. Of a folder it
// takes the files; in a work tree of git, it takes the files that git does not ignore. Of
// REPOSITORY@COMMIT it takes the files of that commit, and of a mere REPOSITORY the files of its
// newest commit. It returns an error if there are no files, or too much. Then nothing is left.
func Snapshot(ctx context.Context, base string, a Ask) (Source, error) {
	if err := durable.FoldersIn(filepath.Dir(base), snapshots(base), private); err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	work, err := os.MkdirTemp(snapshots(base), "new-") // Tidy removes it after a crash
	if err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	defer removeTree(work)
	s, dir := Source{In: a.In}, filepath.Join(work, "files")
	if err := os.Mkdir(dir, private); err != nil {
		return Source{}, fmt.Errorf("cannot keep it: %w", err)
	}
	if s.In, err = a.take(ctx, dir, filepath.Join(work, "git")); err != nil {
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

// take copies what is to be investigated into `to`, and returns its name with the whole commit. A
// repository is kept in `git` meanwhile.
func (a Ask) take(ctx context.Context, to, git string) (in string, err error) {
	if a.home, err = os.Stat(a.Home); err != nil {
		return "", fmt.Errorf("cannot find the node's home: %w", err)
	}
	if a.By != nil {
		ctx, cancel := context.WithTimeout(ctx, maxTime)
		defer cancel()
		return a.takeForAgent(ctx, to, git)
	}
	if info, there := os.Stat(a.In); filepath.IsAbs(a.In) && there == nil && info.IsDir() {
		ctx, cancel := context.WithTimeout(ctx, maxTime)
		defer cancel()
		return a.In, a.takeFolder(ctx, to)
	}
	ctx, cancel := context.WithTimeout(ctx, maxClone)
	defer cancel()
	return a.takeCommit(ctx, to, git)
}

// nearHome returns an error if a path is the node's home, lies in it, or holds it.
func (a Ask) nearHome(path string) error {
	at, home := realPath(path), realPath(a.Home)
	if isWithin(home, at) || isWithin(at, home) {
		return fmt.Errorf("%s is the home of this node, lies in it, or holds it, and the home has keys", path)
	}
	return nil
}

// realPath is a path without links, as far as it exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if up := filepath.Dir(path); up != path {
		return filepath.Join(realPath(up), filepath.Base(path))
	}
	return path
}

// isWithin reports whether the path `inner` is the path `outer`, or lies below it.
func isWithin(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && filepath.IsLocal(rel)
}

// holds reports whether a folder has the files of a hash, unchanged.
func holds(dir, hash string) bool {
	got, err := hashOf(dir)
	return err == nil && got == hash
}

// Fetch returns the folder in which what is investigated lies on this host. If it is not there yet,
// Fetch takes it again, and returns an error if that gives another hash. So somebody who has this
// host take something learns nothing that they did not have themselves.
func Fetch(ctx context.Context, base string, a Ask, hash string) (dir string, err error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size { // it could lead out of the folder
		return "", fmt.Errorf("cannot get %s: %.80q is no hash", a.In, hash)
	}
	dir = filepath.Join(snapshots(base), hash)
	if holds(dir, hash) {
		return dir, nil
	}
	s, err := Snapshot(ctx, base, a)
	if err != nil {
		return "", fmt.Errorf("cannot get %s: %w", a.In, err)
	}
	if s.Hash != hash {
		return "", fmt.Errorf("cannot get %s: here it is another one than where the inquiry began", a.In)
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

// told is an error that tells nothing about files, only about how much there is or what this node
// cannot do. So it may be told to an agent too.
type told struct{ error }

var (
	errFiles = told{fmt.Errorf("more than %d files: name a part of it", maxFiles)}
	errDeep  = told{fmt.Errorf("folders in each other, more than %d: name a part of it", maxDepth)}
)

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
		return told{fmt.Errorf("more than %d MiB: name a part of it", maxBytes>>20)}
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
func (a Ask) takeFolder(ctx context.Context, to string) error {
	if err := a.nearHome(a.In); err != nil {
		return err
	}
	root, err := os.OpenRoot(a.In) // no name leads out of the folder
	if err != nil {
		return fmt.Errorf("cannot read the folder: %w", err)
	}
	defer root.Close()
	names, err := a.listFolder(ctx, root)
	if err != nil {
		return err
	}
	if len(names) > maxFiles {
		return fmt.Errorf("%s has %w", a.In, errFiles)
	}
	return copyFiles(ctx, nil, root, names, to)
}

type opened struct {
	*os.File
	name string
	info fs.FileInfo
}

// atOnce is how many files are held open.
const atOnce = 64

// copyFiles copies files of a folder that a user may read; nil is the node's own user. Files that
// are gone, or are no plain files any more, are left out. It is an error if none is left.
func copyFiles(ctx context.Context, user *Owner, root *os.Root, names []string, to string) error {
	left := newBounds()
	for some := range slices.Chunk(names, atOnce) {
		var files []opened
		err := user.as(func() error {
			for _, name := range some {
				f, info, err := openSame(root, name)
				if err != nil {
					return fmt.Errorf("cannot read %s: %w", name, err)
				}
				if f != nil {
					files = append(files, opened{f, name, info})
				}
			}
			return ctx.Err()
		})
		for _, f := range files {
			if err == nil {
				err = left.take(f.info.Size())
			}
			if err == nil { // it may grow in the meantime
				err = writeOnly(filepath.Join(to, f.name), io.LimitReader(f, f.info.Size()), f.info.Mode()&0o100 != 0)
			}
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	if left == newBounds() {
		return fmt.Errorf("%s has no files", root.Name())
	}
	return nil
}

// openSame opens a file if it is a plain one, and not put there in the place of another one while
// it was opened; else it returns nil.
func openSame(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil, nil // git also lists files that were removed
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := openPlain(root, name)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%s was replaced", name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, now, nil
}

// writeOnly writes a file that can only be read from then on.
func writeOnly(path string, from io.Reader, program bool) error {
	mode := fs.FileMode(0o444)
	if program {
		mode = 0o555
	}
	if err := os.MkdirAll(filepath.Dir(path), private); err != nil {
		return told{err}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return told{err}
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close(), os.Chmod(path, mode)); err != nil {
		return told{err} // such as a full disk
	}
	return nil
}

// listFolder returns the names of a folder's files, below the folder. In a work tree of git, it
// leaves out what git ignores.
func (a Ask) listFolder(ctx context.Context, root *os.Root) (names []string, err error) {
	if psi.Worktree(a.In) == "" {
		return a.walk(ctx, root, nil, nil)
	}
	out, err := RunGit(ctx, a.In, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil { // all files may be more than the user wants, such as keys that git ignores
		return nil, fmt.Errorf("git cannot say which files of %s count: %w", a.In, err)
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name = filepath.FromSlash(name); plainName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // an unmerged file has several entries
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
