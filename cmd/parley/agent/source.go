package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	maxSourceFiles = 10_000  // how many are looked at
	maxSourceFile  = 1 << 20 // bytes of one file
)

// sourceDirs are the folders in which a source may have its profiles. If a source has none of these
// folders, its profiles may be anywhere in it.
var sourceDirs = []string{protocol.LocalActorsDir, protocol.UpstreamActorsDir, "actors"}

type sourced struct {
	actor protocol.Actor
	file  string // path in the source
	text  string
}

// readSource reads the actor profiles of a folder or of a git repository, by name.
func readSource(ctx context.Context, source string) ([]sourced, error) {
	shown := redact.Remote(source)
	dir, remove, err := fetchSource(ctx, source)
	if err != nil {
		return nil, control.Errorf(control.KindFailed, "name a folder with profiles, or a git repository that this machine may read", "cannot read profiles from %s: %v", shown, err)
	}
	defer remove()
	found, err := profilesIn(dir)
	if err != nil {
		return nil, control.Errorf(control.KindFailed, "", "cannot read profiles from %s: %v", shown, err)
	}
	slices.SortFunc(found, func(a, b sourced) int { return strings.Compare(a.actor.Name, b.actor.Name) })
	for i := 1; i < len(found); i++ {
		if found[i].actor.Name == found[i-1].actor.Name {
			return nil, control.Errorf(control.KindConflict, "name one folder of it", "two profiles of %s are called %q: %s and %s", shown, found[i].actor.Name, found[i-1].file, found[i].file)
		}
	}
	if len(found) == 0 {
		return nil, control.Errorf(control.KindNotFound, "a profile is a file NAME.md that begins with a line ---, then name: and description:", "there is no actor profile in %s", shown)
	}
	return found, nil
}

// fetchSource returns the folder of a source. If that is a copy, `remove` removes it.
func fetchSource(ctx context.Context, source string) (dir string, remove func(), err error) {
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(source, "objects")); err != nil { // else it is a repository without a work tree
			return source, func() {}, nil
		}
		if source, err = filepath.Abs(source); err != nil {
			return "", nil, err
		}
	}
	if err := gitremote.Check(source); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "parley-profiles-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // if it fails, the system clears its folder of temporary files
	cmd := exec.CommandContext(ctx, "git", "clone", "--quiet", "--depth=1", "--", source, filepath.Join(dir, "source"))
	cmd.Env = append(append(os.Environ(), gitremote.AsksNobody()...), "GIT_LFS_SKIP_SMUDGE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		remove()
		if said := strings.TrimSpace(string(out)); said != "" {
			err = fmt.Errorf("git says: %s", redact.In(said, source))
		}
		return "", nil, err
	}
	return filepath.Join(dir, "source"), remove, nil
}

// isFolderIn reports whether a source has a folder of that name, with no link on the way to it: a
// link could lead to anything on this machine.
func isFolderIn(dir, name string) bool {
	at := dir
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// profilesIn returns the profiles in a folder. It ignores files that are none.
func profilesIn(dir string) (found []sourced, err error) {
	roots := []string{dir}
	for _, name := range sourceDirs {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if isFolderIn(dir, name) {
			if len(roots) > 0 && roots[0] == dir {
				roots = nil
			}
			roots = append(roots, at)
		}
	}
	looked, from := 0, map[string]string{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case !d.Type().IsRegular() || filepath.Ext(path) != ".md": // a link could lead to anything on this machine
				return nil
			}
			if looked++; looked > maxSourceFiles {
				return errors.New("it has more than 10,000 files: name a folder of it")
			}
			info, err := d.Info()
			if err != nil || info.Size() > maxSourceFile {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			actor, err := protocol.ParseActor(data)
			if err != nil || actor.Description == "" {
				return nil // such as a README
			}
			if first, taken := from[actor.Name]; taken && first != root {
				return nil // as in a record: local comes before upstream
			}
			from[actor.Name] = root
			rel, err := filepath.Rel(dir, path)
			found = append(found, sourced{actor, filepath.ToSlash(rel), string(data)})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
