package carrier

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/gitremote"
)

// unfit says why a repository that can be reached cannot be shared, and what to do about it. It
// matches ErrUnfit and ErrRemote.
type unfit string

func (u unfit) Error() string        { return string(u) }
func (u unfit) Is(target error) bool { return target == ErrUnfit || target == ErrRemote }

const (
	errSHA256  unfit = "the repository has SHA-256 objects, and parley needs SHA-1: make another with git init --bare --object-format=sha1"
	errShallow unfit = "the repository is shallow, a part of its history is missing: complete it there with git fetch --unshallow"
	errBundle  unfit = "it is a bundle, which nobody can push to: make a repository of it with git clone --bare, and name that"
	errNested  unfit = "the branch is called refs/heads/refs/heads/main there, by a push that said refs/heads/ twice: " +
		"rename it there with git branch -m refs/heads/main main"
)

// fitting replaces an error by a plain sentence if the reason is a repository that cannot be
// shared. What git and servers say about it is hard to understand.
func fitting(remote string, err error) error {
	if why := CheckFolder(gitremote.Folder(remote)); why != nil {
		return why
	}
	text := err.Error()
	var failed *gitError
	if errors.As(err, &failed) {
		text = failed.output
	}
	for _, known := range []struct {
		said string
		is   unfit
	}{
		{"mismatched algorithms", errSHA256},
		{"does not support this repository's hash algorithm", errSHA256},
		{"objectformat", errSHA256},
		{"object-format=sha256", errSHA256},
		{"shallow roots", errShallow},
		{"shallow update not allowed", errShallow},
	} {
		if strings.Contains(text, known.said) {
			return known.is
		}
	}
	return err
}

// LacksMain says why a remote with these branches has no main.
func LacksMain(heads map[string]objects.Hash) error {
	if _, nested := heads[MainRef]; nested {
		return errNested
	}
	names := slices.Sorted(maps.Keys(heads))
	if len(names) == 0 {
		return errors.New("it has no branch main")
	}
	return fmt.Errorf("it has the branch %s but no main", OneLine(names[0]))
}

// CheckFolder returns an error if the remote at this path on this machine cannot be shared: a
// bundle, or a shallow repository. It does not check whether a repository is there.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if info.Mode().IsRegular() && isBundle(path) {
		return errBundle
	}
	for _, at := range []string{path, filepath.Join(path, ".git")} {
		if info, err := os.Stat(filepath.Join(at, "shallow")); err == nil && info.Size() > 0 && isBare(at) {
			return errShallow
		}
	}
	return nil
}

func isBundle(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len("# v2 git bundle\n"))
	_, err = io.ReadFull(f, head)
	return err == nil && strings.HasPrefix(string(head), "# v") && strings.HasSuffix(string(head), " git bundle\n")
}
