package gitsync

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// carrier carries main from and to the shared repository. What it brings is
// durable in the store before a ref names it; it moves no ref of ours but
// fetchedRef. Errors match ErrRemote where the remote cannot be used.
type carrier interface {
	// heads are the names of the remote's branches.
	heads(ctx context.Context) ([]string, error)
	// fetchMain brings the remote's main to fetchedRef; errNoMain if it has none.
	fetchMain(ctx context.Context) error
	// push makes commit the remote's main, if that is one of its ancestors;
	// errRejected if it is not, or no longer.
	push(ctx context.Context, commit objects.Hash) error
	// fixHead makes the HEAD of a remote on this machine name main, or says how
	// to (R1).
	fixHead(ctx context.Context) (note string, err error)
	// patient lets the next run take long: the first fetch brings everything.
	patient()
}

var (
	// errRejected says that somebody else pushed first.
	errRejected = errors.New("the remote moved meanwhile")
	// errNoMain says that the remote has no branch main.
	errNoMain = errors.New("the remote has no branch main")
)

// newCarrier is the git program where it is installed, because it knows the
// user's ssh configuration and credentials; else parley's own.
func newCarrier(opts Options, dir string, store *objects.Store) carrier {
	if _, err := exec.LookPath("git"); err == nil && !opts.Builtin {
		return newGitProgram(dir, opts.Remote)
	}
	return newBuiltin(opts.Remote, store)
}

// heads implements carrier.
func (g *gitProgram) heads(ctx context.Context) ([]string, error) {
	out, err := g.run(ctx, "ls-remote", "--heads", "--end-of-options", g.remote)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			names = append(names, strings.TrimPrefix(ref, headsPrefix))
		}
	}
	return names, nil
}

const headsPrefix = "refs/heads/"

// patient implements carrier.
func (g *gitProgram) patient() { g.timeout.Store(int64(gitPatience)) }

// fetchMain implements carrier.
func (g *gitProgram) fetchMain(ctx context.Context) error {
	_, err := g.run(ctx, "fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head",
		"--end-of-options", g.remote, "+"+mainRef+":"+fetchedRef)
	var failed *gitError
	if errors.As(err, &failed) && strings.Contains(failed.output, "couldn't find remote ref") {
		return errNoMain
	}
	return err
}

// push implements carrier.
func (g *gitProgram) push(ctx context.Context, commit objects.Hash) error {
	_, err := g.run(ctx, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no",
		"--end-of-options", g.remote, commit.String()+":"+mainRef)
	var failed *gitError
	if errors.As(err, &failed) && wasRace(failed.output) {
		return errRejected
	}
	if failed != nil {
		failed.explain()
		failed.line = g.hide(failed.line)
	}
	return err
}

// explain has the error say why the remote refused a push: git's own last line
// says only that it did.
func (e *gitError) explain() {
	reason := ""
	var said strings.Builder
	for line := range strings.Lines(e.output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "remote:") {
			said.WriteString(line + "\n")
		}
		if _, why, ok := strings.Cut(line, "[remote rejected] ("); ok && strings.HasPrefix(line, "!") {
			reason = strings.TrimSuffix(why, ")")
		}
	}
	if reason != "" {
		e.line = refusal(reason, said.String())
	}
}

// wasRace tells a push that came second from one that will never be let in.
func wasRace(output string) bool {
	for _, line := range strings.Split(output, "\n") {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		for _, sign := range []string{
			"[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "failed to lock",
			"reference already exists", "stale info",
		} {
			if strings.Contains(line, sign) {
				return true
			}
		}
	}
	return false
}
