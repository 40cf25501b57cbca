package carrier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/span"
)

// Heads implements Carrier.
func (g *gitProgram) Heads(ctx context.Context) (map[string]objects.Hash, error) {
	out, err := g.askFirst(ctx, "ls-remote", "--heads", "--end-of-options", g.at)
	if err != nil {
		return nil, fitting(g.remote, err)
	}
	all := map[string]objects.Hash{}
	for line := range strings.Lines(out.told) {
		hex, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, isHead := strings.CutPrefix(ref, headsPrefix)
		switch {
		case !isHead:
		case len(hex) > len(objects.Zero.String()):
			return nil, errSHA256
		case plumbing.IsHash(hex):
			all[name] = plumbing.NewHash(hex)
		}
	}
	return all, nil
}

// BePatient implements Carrier.
func (g *gitProgram) BePatient() {
	g.usual = Patience
	g.memory.CompareAndSwap(usualMemory, patientMemory)
	g.timeout.Store(int64(Patience))
}

const askLimit = 2 * time.Minute

// MayAsk implements Carrier.
func (g *gitProgram) MayAsk() { g.mayAsk = true }

// askFirst is run, except that git may ask for the name and password if MayAsk was called: by the
// program that the user has named for that. Whatever else the carrier does asks nobody.
func (g *gitProgram) askFirst(ctx context.Context, args ...string) (output, error) {
	env, err := g.environment(ctx)
	if !g.mayAsk || g.link != nil || err != nil {
		return g.run(ctx, args...)
	}
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return pair == "GIT_ASKPASS=" })
	if program, ok := os.LookupEnv("GIT_ASKPASS"); ok {
		env = append(env, "GIT_ASKPASS="+program)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askLimit, fmt.Errorf("no answer within %s", span.Text(askLimit)))
	defer cancel()
	return g.exec(ctx, env, args...)
}

// Unbound implements Carrier.
func (g *gitProgram) Unbound() { g.memory.Store(0) }

// How much memory each process of a fetch may take, where the system can bound that. A few bytes
// that somebody pushes can stand for any size; git unpacks them in memory. A fetch of a million
// messages takes less.
const (
	usualMemory   = 512 << 20
	patientMemory = 2 << 30
)

// outOfMemory is what git says in different places if it gets no memory.
var outOfMemory = []string{"out of memory", "cannot allocate memory", "mmap failed", "unable to create thread"}

// FetchMain implements Carrier. It has git not hold large files in memory if it need not.
func (g *gitProgram) FetchMain(ctx context.Context) error {
	if g.link != nil && g.pieces.Load() {
		if err := g.fetchPieces(ctx); err != nil {
			return err
		}
	}
	out, err := g.fetch(ctx, MainRef)
	g.pieces.Store(err != nil) // after a failure the other host may have gone on for long
	var failed *gitError
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.output, "couldn't find remote ref"):
		return ErrNoMain
	case failed != nil && g.memory.Load() > 0 && hasAny(strings.ToLower(SaidHere(failed.output)), outOfMemory...):
		return fmt.Errorf("%w: git needs more than %d MiB of memory for it: %w", objects.ErrHuge, g.memory.Load()>>20, err)
	case err != nil:
		return fitting(g.remote, err)
	case broughtMain(out.said):
		return nil
	case strings.Contains(out.said, "shallow roots"):
		return errShallow
	}
	return g.confirmFetch(ctx)
}

// fetch brings one commit of the remote to FetchedRef.
func (g *gitProgram) fetch(ctx context.Context, what string) (output, error) {
	return g.run(ctx, "-c", "core.bigFileThreshold=16m", "-c", "pack.threads=2", "fetch", "--verbose", "--no-tags", "--no-prune", "--no-recurse-submodules",
		"--no-write-fetch-head", "--end-of-options", g.at, "+"+what+":"+FetchedRef)
}

// fetchPieces brings what another host has in pieces, up to the last one: a fetch that is cut short
// brings nothing, and what earlier pieces have brought stays.
func (g *gitProgram) fetchPieces(ctx context.Context) error {
	have := ""
	for _, ref := range []string{MainRef, FetchedRef} {
		if h, ok, err := g.store.Ref(ref); err == nil && ok {
			have = h.String()
		}
	}
	all, err := g.link.points(ctx, have)
	if err != nil {
		return err
	}
	for _, point := range all {
		if !plumbing.IsHash(point) {
			return fmt.Errorf("%w: %s names %q, which is no commit", ErrRemote, g.link.host, OneLine(point))
		}
		if g.store.Has(plumbing.NewHash(point)) {
			continue
		}
		if _, err := g.fetch(ctx, point); err != nil {
			return fitting(g.remote, err)
		}
	}
	return nil
}

// broughtMain reports whether git says that FetchedRef now names the remote's main, and no other
// branch.
func broughtMain(said string) bool {
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		at := slices.Index(words, "->")
		if !strings.HasPrefix(line, " ! ") && at > 0 && at+1 < len(words) && words[at-1] == MainBranch && words[at+1] == FetchedRef {
			return true
		}
	}
	return false
}

// confirmFetch compares what was fetched with the remote's main. It is for a fetch about which git
// has not said that it brought main. Git can fetch nothing, or another branch, and call that a
// success.
func (g *gitProgram) confirmFetch(ctx context.Context) error {
	heads, err := g.Heads(ctx)
	if err != nil {
		return err
	}
	tip, ok := heads[MainBranch]
	if !ok {
		return ErrNoMain
	}
	fetched, _, err := g.store.Ref(FetchedRef)
	if err == nil && fetched != tip {
		err = fmt.Errorf("%w: git fetch: it brought nothing, and main of the remote is at %.12s", ErrRemote, tip)
	}
	return err
}

// Push implements Carrier. Of the tree of a day, git sends only what has changed. For that it reads
// the tree from its beginning for each new file, which takes seconds if many are new. If `many` is
// true, the tree is sent whole.
func (g *gitProgram) Push(ctx context.Context, commit, onto objects.Hash, many bool) error {
	args := []string{"push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"}
	if onto != objects.Zero { // else a main that was renamed would be made again
		args = append(args, "--force-with-lease="+MainRef+":"+onto.String())
	}
	args = append(args, "--end-of-options", g.at, commit.String()+":"+MainRef)
	if many {
		args = append([]string{"-c", "pack.window=0"}, args...)
	}
	out, err := g.run(ctx, args...)
	var failed *gitError
	switch {
	case err == nil && took(out.told, commit.String()+":"+MainRef):
		return nil
	case err == nil:
		return confirmPush(ctx, g, commit)
	case !errors.As(err, &failed):
		return err
	case wasRace(failed.output):
		return ErrRejected
	default:
		failed.explain(g.hide)
	}
	return fitting(g.remote, err)
}

// took reports whether git says clearly, up to the end of its answer, that the remote did what a
// refspec asks for.
func took(told, refspec string) bool {
	taken, done := false, false
	for line := range strings.Lines(told) {
		line = strings.TrimSuffix(line, "\n")
		flag, rest, _ := strings.Cut(line, "\t")
		refs, _, isRef := strings.Cut(rest, "\t")
		switch {
		case isRef && refs == refspec:
			taken = flag == " " || flag == "*" || flag == "=" || flag == "-" // moved, new, there already, removed
		case line == "Done":
			done = true
		}
	}
	return taken && done
}

// confirmPush asks the remote for its main. It is for a push of which nobody has said that it
// failed, or that it moved main.
func confirmPush(ctx context.Context, c Carrier, commit objects.Hash) error {
	heads, err := c.Heads(ctx)
	if err != nil {
		return err
	}
	switch tip, ok := heads[MainBranch]; {
	case !ok:
		return fmt.Errorf("%w: the push said nothing of main, and %w", ErrRemote, LacksMain(heads))
	case tip != commit:
		return fmt.Errorf("%w: the push said nothing of main, which is at %.12s there", ErrRemote, tip)
	}
	return nil
}

// explain makes the error say first why the remote refused a push, by the reason of git's protocol.
func (e *gitError) explain(hide func(string) string) {
	for line := range strings.Lines(e.output) {
		line = strings.TrimSpace(line)
		if _, why, ok := strings.Cut(line, "[remote rejected] ("); ok && strings.HasPrefix(line, "!") {
			e.line = refusal(hide(strings.TrimSuffix(why, ")")), hide(e.said))
		}
	}
}

// wasRace reports whether a push was refused only because another one came first, and not because
// it will never be let in.
func wasRace(output string) bool {
	return slices.ContainsFunc(strings.Split(output, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "!") && hasAny(line, "[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "failed to lock",
			"reference already exists", "stale info")
	})
}

// hasAny reports whether one of some signs stands in a text.
func hasAny(text string, signs ...string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}
