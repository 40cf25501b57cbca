package gitsync

import (
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// UnusableError says that no host of this fleet may use a tree: one of its files names another
// version (R1), or Options.Check refuses it. It is an ErrForeign.
type UnusableError struct {
	Why    error
	Commit string // the hash of the commit that did it, in hex; "" if nobody knows
	Author string // of that commit
}

// Error implements error.
func (e *UnusableError) Error() string {
	if e.Commit == "" {
		return e.Why.Error()
	}
	return fmt.Sprintf("%v: commit %.12s by %s did that", e.Why, e.Commit, e.Author)
}

// Unwrap gives ErrForeign, and why.
func (e *UnusableError) Unwrap() []error { return []error{ErrForeign, e.Why} }

// gate knows which trees this fleet may use.
type gate struct {
	store *objects.Store
	check func(read func(path string) ([]byte, bool, error)) error // nil: there is nothing to check
	lost  func(path string) bool                                   // whether this disk has lost a file, which is made anew
	lacks bool                                                     // a tree may lack the identity, because it is put back
}

// tree returns an UnusableError for a tree that no host of this fleet may use. A version that was
// taken out is no reason, because it is put back.
func (g gate) tree(tree objects.Hash) error {
	err := checkVersion(g.store, tree)
	if errors.Is(err, errNoVersion) {
		err = nil
	}
	if err == nil && g.check != nil {
		_, there, lookErr := g.store.Lookup(tree, identityFile)
		if err = lookErr; err == nil && (there || !g.lacks && !g.lost(identityFile)) {
			err = g.check(func(path string) ([]byte, bool, error) { return readFile(g.store, tree, path) })
		}
	}
	if err == nil || objects.IsDamage(err) || errors.Is(err, ErrDamaged) {
		return err
	}
	return &UnusableError{Why: err}
}

// tip is tree for the tree of a commit. Its error names the commit that has to be undone.
func (g gate) tip(tip objects.Hash) error {
	tree, err := g.store.TreeOf(tip)
	if err != nil {
		return err
	}
	unusable := new(UnusableError)
	if err := g.tree(tree); !errors.As(err, &unusable) {
		return err
	}
	at := tip
	for range mostBlamed {
		c, err := g.store.CommitAt(at)
		if err != nil {
			break // old history is not here
		}
		unusable.Commit, unusable.Author = at.String(), carrier.OneLine(c.Author.Name)
		if at = g.unusable(c.Parents); at == objects.Zero {
			break
		}
	}
	return unusable
}

// unusable is the first of the commits if none of them may be used, else Zero.
func (g gate) unusable(commits []objects.Hash) objects.Hash {
	for _, h := range commits {
		if tree, err := g.store.TreeOf(h); err != nil || !errors.As(g.tree(tree), new(*UnusableError)) {
			return objects.Zero
		}
	}
	if len(commits) == 0 {
		return objects.Zero
	}
	return commits[0]
}
