// Package psi finds ψ, the folder in which an agent keeps what it knows, and reads what is there.
// Everybody who may write to the folder may put anything into it at any moment. So nothing here
// follows a link out of the folder, waits for a pipe, or reads more than it was told to read.
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

// Name is the name of the folder.
const Name = "ψ"

// ErrNotPlain says that a name belongs to something that is no plain file.
var ErrNotPlain = errors.New("it is no plain file")

// ErrTooLarge says that a file has more bytes than are read.
var ErrTooLarge = errors.New("it is too large")

// ErrOutside says that a link leads out of the folder.
var ErrOutside = errors.New("it is a link that leaves the folder")

// Of is the path of the ψ of an agent that works in a folder. If the folder is in a git working
// tree whose top has a ψ and a CLAUDE.md, it is that ψ. Else it is the ψ in the folder itself.
// Symbolic links are followed (the seed's step 0). The ψ need not exist. An agent that has no
// folder has no ψ: "".
func Of(dir string) string {
	if dir == "" {
		return ""
	}
	at := filepath.Join(dir, Name)
	if top := Worktree(dir); top != "" {
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

// Worktree is the top of the git working tree that a folder is in; "" for none.
func Worktree(dir string) string {
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

// Share reports whether two of these folders are the same, or one lies in the other. In that case
// nobody can tell to whom a file in it belongs.
func Share(a, b string) bool {
	return a != "" && b != "" && (within(a, b) || within(b, a))
}

// within reports whether the path `inner` is the path `outer` or lies below it.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// outside reports whether links lead from a name out of the folder in which the name is looked for.
func outside(root *os.Root, name string) bool {
	top, errTop := filepath.EvalSymlinks(root.Name())
	real, err := filepath.EvalSymlinks(filepath.Join(root.Name(), filepath.FromSlash(name)))
	return errTop == nil && err == nil && !within(top, real)
}

// Read returns the content of a plain file that has at most `most` bytes. For anything else it
// returns ErrNotPlain, ErrTooLarge, ErrOutside, or the error of the system.
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
	data, err := io.ReadAll(io.LimitReader(f, most+1)) // it may grow in the meantime
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("cannot read %s: %w: %d bytes are read at most", name, ErrTooLarge, most)
	}
	return data, err
}

// many is how many names of a folder are read at once. Between two such readings, walk looks
// whether to go on.
const many = 1000

// Walk calls `file` for each plain file below a folder, with its name below the folder, with
// slashes, until the context ends. It does not follow links. If `skip` returns true, it leaves out
// a file, or a folder with all that is in it. It also leaves out what may not be read, or is gone
// in the meantime.
func Walk(ctx context.Context, root *os.Root, skip func(name string, folder bool) bool, file func(name string, info fs.FileInfo)) error {
	return walk(ctx, root, ".", skip, file)
}

func walk(ctx context.Context, root *os.Root, dir string, skip func(string, bool) bool, file func(string, fs.FileInfo)) error {
	// A folder may have been replaced by a pipe since it was seen.
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

// unlessPassed is an error; nil if it is one that Walk ignores.
func unlessPassed(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
