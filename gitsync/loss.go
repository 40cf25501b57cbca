package gitsync

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// maxNamed bounds how many files one notice names.
const maxNamed = 3

// loss is what the remote had and no longer has, or has with other bytes.
type loss struct {
	removed, changed []string // paths of messages and of files below data/conflicts
}

// reportLoss tells the operator what somebody did to the remote since this node saw its tip
// `known`: rewrote main, or removed or changed messages. They are put back after that, whoever did
// it.
func reportLoss(store *objects.Store, tell *teller, known, tip objects.Hash) error {
	switch {
	case known == objects.Zero:
		return nil
	case tip == objects.Zero:
		tell.notice("the remote's main is gone (it was %s): all that this host has of it is pushed again", brief(known))
		return nil
	}
	kept, err := store.IsAncestor(known, tip)
	if err != nil {
		return err
	}
	lost, err := lossBetween(store, known, tip)
	if err != nil || kept && len(lost.removed)+len(lost.changed) == 0 {
		return err
	}
	culprit := tip
	if kept {
		if culprit, err = whoTouched(store, known, tip, append(lost.removed, lost.changed...)[0]); err != nil {
			return err
		}
	}
	c, err := store.CommitAt(culprit)
	if err != nil {
		return err
	}
	author := carrier.OneLine(c.Author.Name)
	by := fmt.Sprintf("commit %s of %s", brief(culprit), author)
	if !kept {
		by = fmt.Sprintf("the remote's main was rewritten from %s to %s, whose last commit is of %s; that", brief(known), brief(tip), author)
	}
	tell.notice("%s %s", by, lost)
	return nil
}

func lossBetween(store *objects.Store, known, tip objects.Hash) (loss, error) {
	var lost loss
	before, err := store.TreeOf(known)
	if err != nil {
		return lost, err
	}
	after, err := store.TreeOf(tip)
	if err != nil {
		return lost, err
	}
	err = store.Diff(before, after, func(d objects.Difference) error {
		_, isMessage := messagePath(d.Path)
		switch {
		case !isMessage && !strings.HasPrefix(d.Path, conflictsPrefix), !d.Old.Mode.IsFile():
		case !d.New.Mode.IsFile():
			lost.removed = append(lost.removed, d.Path)
		case d.New.Hash != d.Old.Hash && isMessage:
			lost.changed = append(lost.changed, d.Path)
		}
		return nil
	})
	return lost, err
}

func whoTouched(store *objects.Store, known, tip objects.Hash, path string) (objects.Hash, error) {
	commits, err := store.Only(tip, known)
	if err != nil {
		return tip, err
	}
	at := func(commit objects.Hash) (objects.Hash, error) {
		tree, err := store.TreeOf(commit)
		if err != nil {
			return objects.Zero, err
		}
		e, _, err := store.Lookup(tree, path)
		return e.Hash, err
	}
	was, err := at(known)
	if err != nil {
		return tip, err
	}
	for _, h := range commits {
		c, err := store.CommitAt(h)
		if err != nil {
			return tip, err
		}
		now, err := at(h)
		if err != nil {
			return tip, err
		}
		if now == was || len(c.Parents) == 0 {
			continue
		}
		if before, err := at(c.Parents[0]); err != nil || before == was {
			return h, err
		}
	}
	return tip, nil
}

// String says what was lost and what happens with it.
func (l loss) String() string {
	var parts []string
	if len(l.removed) > 0 {
		parts = append(parts, fmt.Sprintf("removed %s: put back", named(l.removed)))
	}
	if len(l.changed) > 0 {
		parts = append(parts, fmt.Sprintf("changed %s: both versions are kept, one of them below %s", named(l.changed), conflictsPrefix))
	}
	if len(parts) == 0 {
		return "took no message away"
	}
	return strings.Join(parts, "; ")
}

func named(paths []string) string {
	text := strings.Join(paths[:min(len(paths), maxNamed)], ", ")
	if more := len(paths) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// brief is the beginning of a commit's hash, as people quote it.
func brief(h objects.Hash) string { return h.String()[:12] }
