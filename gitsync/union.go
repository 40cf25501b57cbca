package gitsync

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/merge"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// maxDescribed bounds how many messages are read only to describe a commit.
const maxDescribed = 64

// union is another tip's tree with what main has added to it.
type union struct {
	m                             *mainline
	draft                         draft
	mineTree, otherTree, baseTree objects.Hash
	tree                          objects.Hash
	kept                          []arrival // messages of main that the other tip lacked
	unusable                      bool      // nobody may use main as it is
}

func (m *mainline) unite(tip, other, base objects.Hash) (*union, error) {
	u := &union{m: m, unusable: m.usable() != nil}
	for _, c := range []struct {
		commit objects.Hash
		tree   *objects.Hash
	}{{tip, &u.mineTree}, {other, &u.otherTree}, {base, &u.baseTree}} {
		var err error
		if *c.tree, err = m.store.TreeOf(c.commit); err != nil {
			return nil, err
		}
	}
	u.draft = draft{m: m, base: u.otherTree, changes: map[string]objects.Change{}}
	if err := m.store.Diff(u.otherTree, u.mineTree, u.keep); err != nil {
		return nil, err
	}
	var err error
	u.tree, err = m.store.Update(u.otherTree, u.draft.changes, &u.draft.builder)
	return u, err
}

// keep decides about one path that differs. In `d`, Old is the other tip's version and New is
// main's.
func (u *union) keep(d objects.Difference) error {
	switch p, isMessage := messagePath(d.Path); {
	case isMessage && d.New.Mode.IsFile():
		data, err := messageData(u.m.store, d.New.Hash)
		if err != nil {
			return err
		}
		added, err := u.draft.place(p, d.New.Hash, data)
		if added {
			u.kept = append(u.kept, arrival{path: p, blob: d.New.Hash})
		}
		return err
	case isMessage:
		return nil
	case strings.HasPrefix(d.Path, conflictsPrefix):
		if d.Old.Hash == objects.Zero {
			u.draft.changes[d.Path] = objects.Change{Hash: d.New.Hash, Mode: d.New.Mode}
		}
		return nil
	}
	return u.keepFile(d)
}

// keepFile decides about any other file: the side that has changed it since the base wins. If both
// have, the file is merged.
func (u *union) keepFile(d objects.Difference) error {
	before, _, err := u.m.store.Lookup(u.baseTree, d.Path)
	if err != nil {
		return err
	}
	same := func(a, b objects.Entry) bool { return a.Hash == b.Hash && a.Mode == b.Mode }
	mine := objects.Change{Hash: d.New.Hash, Mode: d.New.Mode}
	stays, err := u.isNeeded(d)
	if err != nil {
		return err
	}
	switch {
	case u.heals(d): // the other tip's stays
	case stays:
		u.draft.changes[d.Path] = mine
		u.m.tell.notice("%s was taken out of the record elsewhere: it is put back", d.Path)
	case same(before, d.New):
	case same(before, d.Old):
		u.draft.changes[d.Path] = mine
	case d.New.Hash == objects.Zero:
		u.m.tell.notice("%s was removed here and changed elsewhere: it stays", d.Path)
	case d.Old.Hash == objects.Zero:
		u.draft.changes[d.Path] = mine
		u.m.tell.notice("%s was removed elsewhere and changed here: it stays", d.Path)
	default:
		return u.mergeFile(d, before)
	}
	return nil
}

// heals reports whether a difference is in a file for which nobody may use main as it is.
func (u *union) heals(d objects.Difference) bool {
	return u.unusable && (d.Path == versionFile || path.Dir(d.Path) == path.Dir(identityFile))
}

// isNeeded reports whether a difference removes one of the two files without which no host could
// use the record: the file with its version, and the file that says whose it is. It is false if the
// difference only names another version.
func (u *union) isNeeded(d objects.Difference) (bool, error) {
	if d.Path == identityFile {
		return d.New.Mode.IsFile() && !d.Old.Mode.IsFile(), nil
	}
	if d.Path != versionFile || checkVersion(u.m.store, u.mineTree) != nil {
		return false, nil
	}
	err := checkVersion(u.m.store, u.otherTree)
	if err != nil && !errors.Is(err, ErrForeign) {
		return false, err
	}
	return errors.Is(err, errNoVersion), nil
}

// mergeFile merges what was changed on both sides. If they clash, what this node itself has put
// stays. If it has put neither, what came from elsewhere stays. The version that gave way is kept
// below data/conflicts.
func (u *union) mergeFile(d objects.Difference, before objects.Entry) error {
	ours := u.m.updates.isOwn(d.Path, d.New.Hash)
	first, second, where := d.Old, d.New, "from elsewhere"
	if ours {
		first, second, where = d.New, d.Old, "of this host"
	}
	var base, one, two []byte
	large := false // one of them is too large to be merged
	for _, v := range []struct {
		entry objects.Entry
		data  *[]byte
	}{{before, &base}, {first, &one}, {second, &two}} {
		if v.entry.Hash == objects.Zero || !v.entry.Mode.IsFile() {
			continue
		}
		data, tooLarge, err := content(u.m.store, v.entry.Hash)
		if err != nil {
			return err
		}
		*v.data, large = data, large || tooLarge
	}
	merged, clashes := []byte(nil), []string{"what it is"}
	if large || !first.Mode.IsFile() || !second.Mode.IsFile() {
		u.draft.changes[d.Path] = objects.Change{Hash: first.Hash, Mode: first.Mode}
	} else {
		merged, clashes = merge.File(base, one, two)
		u.draft.changes[d.Path] = objects.Change{Hash: u.draft.builder.Blob(merged), Mode: first.Mode}
	}
	if len(clashes) == 0 {
		return nil
	}
	kept := conflictPath(d.Path, two)
	u.draft.changes[kept] = objects.Change{Hash: second.Hash, Mode: second.Mode}
	u.m.tell.notice("%s was changed here and elsewhere (%s): that %s stays, the other is kept as %s",
		d.Path, strings.Join(clashes, ", "), where, kept)
	return nil
}

func (u *union) message(merge bool) string {
	said := u.describe()
	if !merge {
		return said
	}
	return "merge main of " + u.m.author.Name + "\n\n" + said
}

func (u *union) describe() string {
	slices.SortFunc(u.kept, func(a, b arrival) int { return a.path.Compare(b.path) })
	if len(u.kept) == 0 {
		return "add files that main lacked"
	}
	if len(u.kept) > maxDescribed {
		return countMessages(make([]MessageFile, len(u.kept)))
	}
	messages := make([]MessageFile, 0, len(u.kept))
	for _, k := range u.kept {
		data, err := messageData(u.m.store, k.blob)
		if err != nil {
			return countMessages(make([]MessageFile, len(u.kept)))
		}
		messages = append(messages, MessageFile{Path: k.path, Data: data})
	}
	return u.m.opts.Describe(messages)
}
