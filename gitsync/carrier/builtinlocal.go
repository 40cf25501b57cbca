package carrier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// pushingName is the file in record.git that exists while this program may hold the lock of a
// remote's main.
const pushingName = "parley-pushing"

type localSide struct {
	folder string
	theirs *objects.Store
	ours   *objects.Store
	bare   bool
	heads  map[string]objects.Hash
}

func openLocalSide(folder string, ours *objects.Store) (remoteSide, error) {
	l := &localSide{folder: filepath.Clean(folder), ours: ours, bare: true}
	if !isBare(l.folder) {
		l.folder, l.bare = filepath.Join(l.folder, ".git"), false
	}
	if !isBare(l.folder) {
		return nil, fmt.Errorf("%s does not appear to be a git repository", folder)
	}
	if err := CheckConfig(l.folder); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if _, err := os.Stat(filepath.Join(l.folder, "objects", "info", "alternates")); err == nil {
		return nil, fmt.Errorf("%s borrows objects from another repository, which only the git program follows: install the package \"git\" of your system", folder)
	}
	var err error
	if l.theirs, err = objects.Open(l.folder, ours.Logger()); err != nil {
		return nil, err
	}
	l.heads, err = l.theirs.Branches()
	return l, err
}

func (l *localSide) branches() map[string]objects.Hash { return l.heads }

func (l *localSide) ref(name string) (objects.Hash, error) {
	h, _, err := l.theirs.Ref(name)
	return h, err
}

func (l *localSide) head() string { return headOf(l.folder) }

func (l *localSide) close() {}

func (l *localSide) fetch(ctx context.Context, tip, have objects.Hash) error {
	if err := copyObjects(ctx, l.theirs, l.ours, tip, have); err != nil {
		return fmt.Errorf("cannot copy from %s: %w", l.folder, err)
	}
	return nil
}

// push copies from our objects into theirs. It refuses a repository with rules that only the git
// program enforces, such as hooks.
func (l *localSide) push(ctx context.Context, ref string, old, next objects.Hash) error {
	if !l.bare {
		return fmt.Errorf("%s has a work tree, and main could be checked out there: share a bare repository", filepath.Dir(l.folder))
	}
	for _, hook := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive"} {
		if info, err := os.Stat(filepath.Join(l.folder, "hooks", hook)); err == nil && info.Mode()&0o111 != 0 {
			return fmt.Errorf("%s has the hook %s, which only the git program runs: install the package \"git\" of your system", l.folder, hook)
		}
	}
	l.theirs.Hold()
	err := l.pushHeld(ctx, ref, old, next)
	return errors.Join(err, l.theirs.Release(), l.theirs.Seal())
}

func (l *localSide) pushHeld(ctx context.Context, ref string, old, next objects.Hash) error {
	if next != objects.Zero {
		if err := copyObjects(ctx, l.ours, l.theirs, next, old); err != nil {
			return fmt.Errorf("cannot copy to %s: %w", l.folder, err)
		}
		failpoint.Hit(failpoint.PushCopied)
	}
	var err error
	switch {
	case next == objects.Zero:
		err = l.theirs.RemoveRef(ref, old)
	case ref == MainRef:
		err = l.moveTheirMain(old, next)
	default:
		err = l.theirs.MoveRef(ref, old, next)
	}
	if errors.Is(err, objects.ErrRefMoved) {
		return ErrRejected
	}
	if err == nil {
		logger := l.ours.Logger()
		if err := l.theirs.Forget(); err != nil {
			logger.Debug().Err(err).Msg("what killed pushes left in the remote stays there")
		}
		if err := l.theirs.Join(ctx); err != nil {
			logger.Debug().Err(err).Msg("the packs of the remote stay apart")
		}
	}
	return err
}

// moveTheirMain moves main of the other repository. Meanwhile a file in our own record says so. If
// an earlier run was killed in between, the lock of that main may be one that it left, and would
// keep everybody out. The file tells the next run to remove it.
func (l *localSide) moveTheirMain(old, next objects.Hash) error {
	note := filepath.Join(l.ours.Dir(), pushingName)
	if _, err := os.Stat(note); err == nil {
		if _, err := l.theirs.RemoveStaleLock(MainRef); err != nil {
			return err
		}
	}
	if err := os.WriteFile(note, nil, 0o644); err != nil {
		return fmt.Errorf("cannot note that main is pushed: %w", err)
	}
	err := l.theirs.MoveRef(MainRef, old, next)
	return errors.Join(err, os.Remove(note))
}

// copyObjects installs in the store `to` what the commit `tip` of the store `from` needs, if `to`
// has everything that the commit `have` needs.
func copyObjects(ctx context.Context, from, to *objects.Store, tip, have objects.Hash) error {
	if have != objects.Zero {
		if _, err := from.CommitAt(have); err != nil {
			have = objects.Zero // the other repository has forgotten it
		}
	}
	return from.Missing(tip, have, func(b *objects.Builder) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return to.Install(b)
	})
}

func fixLocalHead(folder string) (note string, err error) {
	folder = filepath.Clean(folder)
	if !isBare(folder) || headOf(folder) == MainRef {
		return "", nil
	}
	if err := objects.WriteFile(filepath.Join(folder, "HEAD"), []byte("ref: "+MainRef+"\n")); err != nil {
		return "", fmt.Errorf("cannot set the HEAD of the remote: %w", err)
	}
	return headSet(folder), nil
}

// headOf is the branch that a repository's HEAD names.
func headOf(folder string) string {
	data, err := os.ReadFile(filepath.Join(folder, "HEAD"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(data)), "ref: ")
}
