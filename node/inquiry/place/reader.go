package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/parleyfleet/parley/internal/psi"
)

// Reader is an agent that names what is to be investigated. It may name what lies in its own
// folder. That is read with the rights of its user, and no program is run there: the agent can
// write there what it likes, at any moment.
type Reader struct {
	Dir  string // its folder; "": it may name nothing
	User *Owner // as whom it runs; nil: as the node's own user
}

// errNothing is all that an agent learns of why something cannot be read. So it does not learn what
// there is elsewhere.
var errNothing = errors.New("there is no such folder or commit in the agent's own folder, or it has no files, or they may not be read")

// takeForAgent is take for what an agent names.
func (a Ask) takeForAgent(ctx context.Context, to, git string) (in string, err error) {
	in, err = a.In, a.readFolder(ctx, to)
	if repo, commit := splitCommit(a.In); errors.Is(err, errNothing) && repo != a.In {
		in, err = a.readCommit(ctx, repo, commit, to, git)
	}
	tells := told{}
	switch {
	case err == nil:
		return in, nil
	case errors.As(err, &tells):
		return "", tells
	case ctx.Err() != nil:
		return "", fmt.Errorf("it takes longer than %s: name a part of it", maxTime)
	}
	return "", errNothing
}

func (a Ask) readFolder(ctx context.Context, to string) error {
	var names []string
	root, err := a.openNamed(a.In, func(root *os.Root) error {
		ignored, err := newIgnored(filepath.Clean(a.In))
		if err == nil {
			names, err = a.walk(ctx, root, nil, ignored)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer root.Close()
	return copyFiles(ctx, a.By.User, root, names, to)
}

// readCommit copies the files of a commit in a repository that an agent names. It copies the
// repository's objects and branches first, as the files of any folder: its settings could have git
// read what lies elsewhere.
func (a Ask) readCommit(ctx context.Context, repo, commit, to, git string) (in string, err error) {
	if err := os.MkdirAll(filepath.Join(git, "refs"), private); err != nil {
		return "", told{err}
	}
	var names []string
	root, err := a.openNamed(repo, func(root *os.Root) (err error) {
		prefix := ""
		if info, err := root.Lstat(".git"); err == nil && info.IsDir() {
			prefix = ".git/"
		}
		names, err = a.walk(ctx, root, func(name string, folder bool) bool {
			below, ok := strings.CutPrefix(name+"/", prefix)
			return ok && isOfStore(strings.TrimSuffix(below, "/"), folder)
		}, nil)
		return err
	})
	if err != nil {
		return "", err
	}
	defer root.Close()
	all := filepath.Join(git, "all")
	if err := copyFiles(ctx, a.By.User, root, names, all); err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(all, ".git")); err == nil {
		all = filepath.Join(all, ".git")
	}
	if err := os.MkdirAll(filepath.Join(all, "refs"), private); err != nil { // git may have put all of them into one file
		return "", told{err}
	}
	whole, err := takeRevision(ctx, repo, commit, all, to)
	return repo + "@" + whole, err
}

// isOfStore reports whether a file of a repository is one of objects or branches, or a folder can
// have such files. Nothing of them names another place.
func isOfStore(name string, folder bool) bool {
	first, rest, _ := strings.Cut(name, "/")
	switch {
	case name == "" || name == "objects" || name == "refs" || first == "refs":
		return true
	case first == "objects":
		pack, file, _ := strings.Cut(rest, "/")
		return (len(pack) == 2 || pack == "pack") && (folder || file != "")
	}
	return !folder && (name == "HEAD" || name == "packed-refs")
}

// openNamed opens a folder that an agent names, has it looked at, and returns it. It goes down from
// the agent's own folder step by step and follows no link, and it does not go into the node's home.
// All of that is done with the rights of the agent's user.
func (a Ask) openNamed(name string, look func(*os.Root) error) (root *os.Root, err error) {
	err = a.By.User.as(func() (err error) {
		if root, err = a.By.down(name, a.home); err != nil {
			return err
		}
		if err = look(root); err != nil {
			err = errors.Join(err, root.Close())
		}
		return err
	})
	return root, err
}

// down opens a folder in the agent's own.
func (r *Reader) down(name string, home fs.FileInfo) (*os.Root, error) {
	rel, ok := r.below(name)
	if !ok || !plainName(rel) {
		return nil, errNothing
	}
	for above := realPath(r.Dir); ; above = filepath.Dir(above) { // the agent's folder may be a part of the home
		if info, err := os.Stat(above); err == nil && os.SameFile(info, home) {
			return nil, errNothing
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	root, err := os.OpenRoot(r.Dir)
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if err != nil || rel == "." {
			break
		}
		var next *os.Root
		next, err = step(root, part, home)
		_ = root.Close() // it was only read
		root = next
	}
	return root, err
}

// step opens a folder in a folder, if it is neither a link nor the node's home.
func step(root *os.Root, name string, home fs.FileInfo) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() || os.SameFile(info, home) {
		return nil, errNothing
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = next.Close() // it was only read
		return nil, errNothing
	}
	return next, nil
}

// below is where something is in the agent's folder, by its name alone.
func (r *Reader) below(name string) (rel string, ok bool) {
	if r.Dir == "" || !filepath.IsAbs(name) {
		return "", false
	}
	for _, dir := range []string{r.Dir, realPath(r.Dir)} { // a program may know its folder by either name
		if rel, err := filepath.Rel(dir, filepath.Clean(name)); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// walk lists the plain files below a folder, without those that git ignores. With `only` it lists
// what that function wants, also what belongs to a repository. It stops where there is too much, or
// where the node's home is.
func (a Ask) walk(ctx context.Context, root *os.Root, only func(name string, folder bool) bool, ignored *ignored) (names []string, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	left, seen := newBounds(), 0
	skip := func(name string, folder bool) bool {
		seen++
		switch {
		case ctx.Err() != nil:
			return true
		case seen > maxSeen:
			stop(told{fmt.Errorf("more than %d names: name a part of it", maxSeen)})
		case strings.Count(name, "/") >= maxDepth:
			stop(errDeep)
		case only != nil:
			return !only(name, folder)
		case !plainName(name) || ignored.has(name, folder):
			return true
		case folder:
			if info, err := root.Lstat(name); err == nil && os.SameFile(info, a.home) {
				stop(fmt.Errorf("%s is the home of this node", name))
			}
			if _, err := root.Lstat(path.Join(name, ".git")); err == nil && ignored != nil {
				return true // another repository
			}
			if err := ignored.read(root, name); err != nil {
				stop(err)
			}
		}
		return ctx.Err() != nil
	}
	if err := ignored.read(root, "."); err != nil {
		return nil, err
	}
	err = psi.Walk(ctx, root, skip, func(name string, info fs.FileInfo) {
		if err := left.take(info.Size()); err != nil {
			stop(err)
		}
		names = append(names, filepath.FromSlash(name))
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	slices.Sort(names)
	return names, err
}

// ignored is what git ignores in a folder, by the files that say so. It is nil outside of a work
// tree.
type ignored struct {
	at       []string // the folder, below the top of the work tree
	patterns []gitignore.Pattern
}

// maxIgnore bounds the size of a file that says what git ignores, in bytes, and maxPatterns the
// number of what all of them say.
const (
	maxIgnore   = 64 << 10
	maxPatterns = 2000
)

// newIgnored reads what git ignores in a folder from the files above it.
func newIgnored(dir string) (*ignored, error) {
	top := psi.Worktree(dir)
	if top == "" {
		return nil, nil
	}
	g := &ignored{}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return g, err
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		root, err := os.OpenRoot(filepath.Join(append([]string{top}, g.at...)...))
		if err != nil {
			return nil, err
		}
		err = errors.Join(g.read(root, "."), root.Close())
		if err != nil {
			return nil, err
		}
		g.at = append(g.at, part)
	}
	return g, nil
}

// parts is a name below the folder as the parts of a path below the top of the work tree.
func (g *ignored) parts(name string) []string {
	if name == "." {
		return g.at
	}
	return append(slices.Clip(g.at), strings.Split(filepath.ToSlash(name), "/")...)
}

// read adds what the file of a folder says, if there is one. It returns an error if that is not all
// known: else what should stay out, such as keys, would be taken.
func (g *ignored) read(root *os.Root, folder string) error {
	if g == nil {
		return nil
	}
	data, err := psi.Read(root, path.Join(folder, ".gitignore"), maxIgnore)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return told{errors.New("a .gitignore that cannot be read, or is too large")}
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(g.patterns) == maxPatterns {
			return told{fmt.Errorf("more than %d lines in files .gitignore", maxPatterns)}
		}
		segments := strings.Split(strings.ReplaceAll(line, "[!", "[^"), "/")
		for i, s := range segments {
			if s != "**" { // to git it means one star there
				segments[i] = strings.ReplaceAll(s, "**", "*")
			}
		}
		g.patterns = append(g.patterns, gitignore.ParsePattern(strings.Join(segments, "/"), g.parts(folder)))
	}
	return nil
}

func (g *ignored) has(name string, folder bool) bool {
	return g != nil && gitignore.NewMatcher(g.patterns).Match(g.parts(name), folder)
}
