package gitsync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/gitremote"
)

const (
	newRepoName = "record.git.new" // becomes repoName when it is complete
	bareConfig  = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)

// Init makes the record below opts.Dir. Without a remote, or with an empty one, it begins a record
// whose root commit has `files`, and pushes it. If the remote holds a record, it adopts that record
// if opts.Check allows it. If `files` is nil, it never begins a record. On any error nothing is
// left behind here. After an ErrUnsure the remote may hold what was begun.
//
// The error is ErrExists if there is a record already, ErrNoRecord if there is none and `files` is
// nil, ErrForeign if the remote holds something else (R1), and ErrRemote if the remote cannot be
// reached.
func Init(ctx context.Context, opts Options, files func() map[string][]byte) (Found, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Found{}, fmt.Errorf("cannot begin a record: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(opts.Dir, repoName)); err == nil {
		return Found{}, fmt.Errorf("cannot begin a record in %s: %w", opts.Dir, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Found{}, fmt.Errorf("cannot begin a record: %w", err)
	}
	made, err := makeDirs(opts.Dir)
	if err != nil {
		return Found{}, fmt.Errorf("cannot begin a record: %w", err)
	}
	f := founding{opts: opts, dir: filepath.Join(opts.Dir, newRepoName), files: files}
	found, err := f.found(ctx)
	if err != nil {
		doing := "begin a record"
		if files == nil {
			doing = "join a record"
		}
		err = errors.Join(fmt.Errorf("cannot %s: %w", doing, err), f.clear())
		if errors.Is(err, ErrUnsure) {
			return Found{}, err // the caller may have put something there that must stay
		}
		for _, dir := range made {
			if removeErr := os.Remove(dir); removeErr != nil {
				break // somebody has put something there
			}
		}
		return Found{}, err
	}
	return found, nil
}

func makeDirs(dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder: %w", err)
	}
	return made, nil
}

type founding struct {
	opts  Options
	dir   string
	files func() map[string][]byte
	store *objects.Store
	git   carrier.Carrier
}

func (f *founding) found(ctx context.Context) (Found, error) {
	if err := f.makeRepository(); err != nil {
		return Found{}, err
	}
	var found Found
	var err error
	if f.opts.remote() == "" {
		found.ID, err = f.begin()
	} else {
		found, err = f.foundShared(ctx)
	}
	if err != nil {
		return Found{}, err
	}
	if err := objects.WriteFile(filepath.Join(f.dir, idName), []byte(found.ID+"\n")); err != nil {
		return Found{}, err
	}
	if err := f.store.Seal(); err != nil {
		return Found{}, err
	}
	return found, objects.RenameDir(f.dir, filepath.Join(f.opts.Dir, repoName))
}

// clear removes what was made so far, when nobody works on it any more.
func (f *founding) clear() error {
	var err error
	if f.store != nil {
		err = f.store.Seal()
	}
	return errors.Join(err, os.RemoveAll(f.dir))
}

// makeRepository writes an empty bare repository. It needs no git program.
func (f *founding) makeRepository() error {
	_, _, far := gitremote.Host(f.opts.remote())
	if began, err := carrier.RemoteOf(f.dir); !far || err != nil || began != f.opts.remote() { // else a first copy goes on where it was cut short
		if err := f.clear(); err != nil {
			return fmt.Errorf("cannot clear away an unfinished record: %w", err)
		}
	}
	_, err := makeBare(f.dir)
	if err == nil && far {
		err = carrier.SetRemote(f.dir, f.opts.remote())
	}
	if err != nil {
		return err
	}
	if f.store, err = objects.Open(f.dir, f.opts.Log); err != nil {
		return err
	}
	f.git = carrier.New(f.opts.Dial, f.store, f.opts.remote(), f.opts.Builtin)
	f.git.BePatient()
	if f.opts.Ask {
		f.git.MayAsk()
	}
	return nil
}

// begin writes the root commit, without a parent.
func (f *founding) begin() (string, error) {
	if f.files == nil {
		return "", ErrNoRecord
	}
	d := draft{m: &mainline{store: f.store}, changes: map[string]objects.Change{}}
	if _, err := d.put(f.files()); err != nil {
		return "", err
	}
	tree, err := f.store.Update(objects.Zero, d.changes, &d.builder)
	if err != nil {
		return "", err
	}
	if err := f.store.Install(&d.builder); err != nil {
		return "", err
	}
	if err := checkVersion(f.store, tree); err != nil {
		return "", err
	}
	author := objects.Identity(f.opts.Author).Clean()
	var b objects.Builder
	root := b.Commit(objects.Commit{Tree: tree, Author: author, Committer: author, When: f.opts.Now(), Message: "begin the record"})
	if err := f.store.Install(&b); err != nil {
		return "", err
	}
	return root.String(), f.store.MoveRef(carrier.MainRef, objects.Zero, root)
}

// foundShared adopts what the remote holds, or fills it. If two hosts fill it at the same time, the
// second one adopts.
func (f *founding) foundShared(ctx context.Context) (Found, error) {
	found, err := f.adopt(ctx)
	if errors.Is(err, carrier.ErrNoMain) {
		found, err = f.fill(ctx)
	}
	if errors.Is(err, carrier.ErrRejected) {
		if err := f.makeRepository(); err != nil {
			return Found{}, err
		}
		found, err = f.adopt(ctx)
	}
	if err != nil {
		return Found{}, err
	}
	if err := carrier.SetRemote(f.dir, f.opts.remote()); err != nil {
		return Found{}, err
	}
	found.Notes = f.fixHead(ctx)
	return found, nil
}

// fixHead has the HEAD of the remote name main. It returns what the operator should know of that.
func (f *founding) fixHead(ctx context.Context) (notes []string) {
	note, err := f.git.FixHead(ctx)
	if err != nil {
		note = err.Error()
	}
	if note != "" {
		notes = []string{note}
	}
	return notes
}

// branches are the branches of the remote; none if it is empty. A remote that has branches but no
// main holds something else, and is refused. So is one of a kind that cannot be shared.
func (f *founding) branches(ctx context.Context) (map[string]objects.Hash, error) {
	if err := carrier.CheckFolder(gitremote.Folder(f.opts.remote())); err != nil {
		return nil, fmt.Errorf("cannot use the remote: %w", err)
	}
	heads, err := f.git.Heads(ctx)
	switch {
	case errors.Is(err, ErrUnfit):
		return nil, fmt.Errorf("cannot use the remote: %w", err)
	case err != nil:
		return nil, fmt.Errorf("cannot reach the remote: %w", err)
	}
	if _, ok := heads[carrier.MainBranch]; ok || len(heads) == 0 {
		return heads, nil
	}
	why := carrier.LacksMain(heads)
	if !errors.Is(why, ErrUnfit) {
		why = fmt.Errorf("%w: %w; give an empty repository or one with a record", ErrForeign, why)
	}
	return nil, fmt.Errorf("cannot use the remote: %w", why)
}

// bring fetches the remote's main.
func (f *founding) bring(ctx context.Context) (objects.Hash, error) {
	if err := f.git.FetchMain(ctx); err != nil {
		return objects.Zero, fmt.Errorf("cannot fetch main: %w", err)
	}
	if err := f.store.Rescan(); err != nil {
		return objects.Zero, err
	}
	tip, _, err := f.store.Ref(carrier.FetchedRef)
	return tip, err
}

func (f *founding) adopt(ctx context.Context) (Found, error) {
	heads, err := f.branches(ctx)
	if err != nil {
		return Found{}, err
	}
	if len(heads) == 0 {
		return Found{}, carrier.ErrNoMain
	}
	tip, err := f.bring(ctx)
	if err != nil {
		return Found{}, err
	}
	whole, err := f.complete(tip)
	if err == nil {
		err = f.check(whole)
	}
	if err != nil {
		return Found{}, fmt.Errorf("cannot adopt what the remote holds: %w", err)
	}
	if whole != tip {
		if err := f.pushAdded(ctx, whole); err != nil {
			return Found{}, err
		}
		tip = whole
	}
	root, err := f.store.Root(tip)
	if err != nil {
		return Found{}, err
	}
	for _, ref := range []string{carrier.MainRef, carrier.RemoteRef} {
		before, _, err := f.store.Ref(ref) // of a call that was cut short
		if err == nil {
			err = f.store.MoveRef(ref, before, tip)
		}
		if err != nil {
			return Found{}, err
		}
	}
	return Found{ID: root.String(), Adopted: true}, nil
}

func (f *founding) check(tip objects.Hash) error {
	tree, err := f.store.TreeOf(tip)
	if err != nil {
		return err
	}
	if err := checkVersion(f.store, tree); err != nil {
		return err
	}
	if f.opts.Check == nil {
		return nil
	}
	return f.opts.Check(func(path string) ([]byte, bool, error) { return readFile(f.store, tree, path) })
}

func (f *founding) fill(ctx context.Context) (Found, error) {
	id, err := f.begin()
	if err != nil {
		return Found{}, err
	}
	tip, _, err := f.store.Ref(carrier.MainRef)
	if err != nil {
		return Found{}, err
	}
	failpoint.Hit(failpoint.RecordBegun)
	if err := f.git.Push(ctx, tip, objects.Zero, false); err != nil {
		if err = f.refused(ctx, tip, err); err != nil {
			return Found{}, fmt.Errorf("cannot push main: %w", err)
		}
	}
	failpoint.Hit(failpoint.RecordPushed)
	return Found{ID: id}, f.store.MoveRef(carrier.RemoteRef, objects.Zero, tip)
}

// refused returns the error of a push: an ErrUnsure if the remote may take, or have taken, what was
// pushed; nil if it has taken it and only its answer was lost.
func (f *founding) refused(ctx context.Context, tip objects.Hash, err error) error {
	if errors.Is(err, carrier.ErrRejected) || errors.Is(err, ErrUnfit) {
		return err
	}
	heads, askErr := f.git.Heads(ctx)
	switch kind, _ := kindOfText(err.Error(), carrier.Output(err), true); {
	case askErr == nil && heads[carrier.MainBranch] == tip:
		return nil
	case askErr != nil, kind.IsUnsure():
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}
