package carrier

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/pattern"
)

// ClaimPrefix begins the refs of claims, at the remote and, for a node's own claims, in its record. No
// fetch brings them, because they are outside of what clones ask for.
const ClaimPrefix = "refs/parley/claims/"

// claim is the form of such a ref. Every server takes it.
var claim = pattern.New(`^` + ClaimPrefix + `[0-9a-z][0-9a-z-]{0,127}$`)

// IsClaim reports whether a ref can be that of a claim.
func IsClaim(ref string) bool { return claim.MatchString(ref) }

// refAsker is a carrier that can ask for one ref of the remote.
type refAsker interface {
	// refAt is what a ref of the remote names, Zero if there is no such ref.
	refAt(ctx context.Context, ref string) (objects.Hash, error)
}

// Claim implements Carrier.
func (g *gitProgram) Claim(ctx context.Context, ref string, commit objects.Hash) (holder objects.Hash, err error) {
	err = g.pushRef(ctx, commit.String()+":"+ref, "--force-with-lease="+ref+":")
	if err == nil {
		return commit, nil
	}
	return whoHolds(ctx, g, ref, err)
}

// Unclaim implements Carrier.
func (g *gitProgram) Unclaim(ctx context.Context, ref string, commit objects.Hash) error {
	err := g.pushRef(ctx, ":"+ref, "--force-with-lease="+ref+":"+commit.String())
	return stillHeld(ctx, g, ref, commit, err)
}

// pushRef pushes one ref under a condition. It succeeds only if git says that this was done.
func (g *gitProgram) pushRef(ctx context.Context, refspec, lease string) error {
	out, err := g.run(ctx, "push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", lease,
		"--end-of-options", g.at, refspec)
	var failed *gitError
	switch {
	case err == nil && took(out.told, refspec):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %w", ErrRemote, errUnsaid)
	case errors.As(err, &failed):
		failed.explain(g.hide)
	}
	return fitting(g.remote, err)
}

func (g *gitProgram) refAt(ctx context.Context, ref string) (objects.Hash, error) {
	out, err := g.run(ctx, "ls-remote", "--end-of-options", g.at, ref)
	if err != nil {
		return objects.Zero, fitting(g.remote, err)
	}
	for line := range strings.Lines(out.told) {
		hex, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == ref && plumbing.IsHash(hex) { // git also finds refs that only end like this
			return plumbing.NewHash(hex), nil
		}
	}
	return objects.Zero, nil
}

// whoHolds asks what a ref names, after a claim was not taken or its answer was lost. The claim may
// be ours all the same. If there is no such ref, the claim failed or is still under way. Then
// nobody knows, and the error is `why`.
func whoHolds(ctx context.Context, asker refAsker, ref string, why error) (objects.Hash, error) {
	holder, err := asker.refAt(ctx, ref)
	switch {
	case err != nil:
		return objects.Zero, errors.Join(why, err)
	case holder == objects.Zero:
		return objects.Zero, why
	}
	return holder, nil
}

// stillHeld asks whether a ref is still there, after nobody has said that it was removed.
func stillHeld(ctx context.Context, asker refAsker, ref string, commit objects.Hash, why error) error {
	if why == nil {
		return nil
	}
	if holder, err := asker.refAt(ctx, ref); err == nil && holder != commit {
		return nil
	}
	return why
}
