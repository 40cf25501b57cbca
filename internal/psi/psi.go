// Package psi finds ψ, the folder in which an agent keeps what it knows, and reads what is
// there. Whoever may write to the folder may put anything into it at any moment. So nothing
// here follows a link that leaves it, waits for a pipe, or reads more than it was told.
package psi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Name is what the folder is called.
const Name = "ψ"

// ErrNotPlain says that what has a file's name is no plain file.
var ErrNotPlain = errors.New("it is no plain file")

// ErrTooLarge says that a file has more bytes than are read.
var ErrTooLarge = errors.New("it is too large")

// ErrOutside says that a link leads out of the folder.
var ErrOutside = errors.New("it is a link that leaves the folder")

// Of is where the ψ of an agent lies that works in a folder. It is that of the folder's git
// working tree, where this has a CLAUDE.md too. Else it is the one in the folder itself. Symbolic
// links are followed (the seed's step 0). It need not be there. An agent that has no folder has
// no ψ: "".
func Of(dir string) string {
	if dir == "" {
		return ""
	}
	at := filepath.Join(dir, Name)
	if top := worktree(dir); top != "" {
		_, noClaude := os.Stat(filepath.Join(top, "CLAUDE.md"))
		_, noPsi := os.Lstat(filepath.Join(top, Name))
		if noClaude == nil && noPsi == nil {
			at = filepath.Join(top, Name)
		}
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	return at
}

// worktree is the top of the git working tree that a folder is in; "" for none.
func worktree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// Share reports whether one of two of these folders is the other one or lies in it: then
// nobody can tell whose a file is.
func Share(a, b string) bool {
	return a != "" && b != "" && (within(a, b) || within(b, a))
}

// within reports whether a path is another one or lies below it.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// outside reports whether links lead from a name out of the folder that it is looked for in.
func outside(root *os.Root, name string) bool {
	top, errTop := filepath.EvalSymlinks(root.Name())
	real, err := filepath.EvalSymlinks(filepath.Join(root.Name(), filepath.FromSlash(name)))
	return errTop == nil && err == nil && !within(top, real)
}

// Read is what a plain file says that has no more than that many bytes. Else it is
// ErrNotPlain, ErrTooLarge, ErrOutside or what the system says.
func Read(root *os.Root, name string, most int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a pipe would wait until somebody writes into it.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil && outside(root, name) {
		return nil, fmt.Errorf("cannot read %s: %w", name, ErrOutside)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("cannot read %s: %w", name, ErrNotPlain)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1)) // it may grow meanwhile
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("cannot read %s: %w: %d bytes are read at most", name, ErrTooLarge, most)
	}
	return data, err
}

// many is how many names of a folder are read at once: between them it is looked whether to
// go on.
const many = 1000

// Walk calls file for each plain file of a folder, by its name there, with slashes, until the
// context ends. Links are not followed. skip leaves out a file, or a folder with all that is in
// it; so is what may not be read, or is gone meanwhile.
func Walk(ctx context.Context, root *os.Root, skip func(name string, folder bool) bool, file func(name string, info fs.FileInfo)) error {
	return walk(ctx, root, ".", skip, file)
}

func walk(ctx context.Context, root *os.Root, dir string, skip func(string, bool) bool, file func(string, fs.FileInfo)) error {
	// A folder may have become a pipe since it was seen.
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return unlessPassed(err)
	}
	defer f.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := f.ReadDir(many)
		for _, d := range entries {
			name := path.Join(dir, d.Name())
			if skip(name, d.IsDir()) {
				continue
			}
			switch {
			case d.IsDir():
				if err := walk(ctx, root, name, skip, file); err != nil {
					return err
				}
			case d.Type().IsRegular():
				info, err := root.Lstat(name)
				if err == nil && info.Mode().IsRegular() {
					file(name, info)
				} else if err := unlessPassed(err); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unlessPassed(err)
		}
	}
}

// unlessPassed is an error but one that is passed over.
func unlessPassed(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
