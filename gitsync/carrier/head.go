package carrier

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/gitremote"
)

// FixHead implements Carrier.
func (g *gitProgram) FixHead(ctx context.Context) (note string, err error) {
	if folder := gitremote.Folder(g.remote); folder != "" {
		folder = filepath.Clean(folder)
		if !isBare(folder) || headOf(folder) == MainRef {
			return "", nil
		}
		if _, err := newGitProgram(folder, "", nil).run(ctx, "symbolic-ref", "HEAD", MainRef); err != nil {
			return "", fmt.Errorf("cannot set the HEAD of the remote: %w", err)
		}
		return headSet(folder), nil
	}
	return noteHead(ctx, g)
}

// noteHead says what to do if the HEAD of a remote that is not on this machine does not name main.
func noteHead(ctx context.Context, c Carrier) (note string, err error) {
	ref, err := c.Head(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot look at the HEAD of the remote: %w", err)
	case ref != MainRef:
		return headNote, nil
	}
	return "", nil
}

// Head implements Carrier.
func (g *gitProgram) Head(ctx context.Context) (ref string, err error) {
	out, err := g.run(ctx, "ls-remote", "--symref", "--end-of-options", g.at, "HEAD")
	if err != nil {
		return "", fitting(g.remote, err)
	}
	if rest, ok := strings.CutPrefix(out.told, "ref: "); ok {
		ref, _, _ = strings.Cut(rest, "\t")
	}
	return ref, nil
}

// headNote says what to do if the HEAD of a remote cannot be set from here.
const headNote = "The remote's HEAD does not name main, so a plain clone shows nothing: set its default branch to main " +
	"(on a server of your own: git symbolic-ref HEAD refs/heads/main, in the repository)."

// headSet says that the HEAD of a remote on this machine was set.
func headSet(folder string) string {
	return "The HEAD of " + folder + " named another branch; it names main now."
}

// isBare reports whether a folder looks like a bare repository.
func isBare(folder string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}
