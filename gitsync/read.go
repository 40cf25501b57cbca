package gitsync

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/protocol"
)

const channelsPrefix = protocol.ChannelsDir + "/"

// messagePath reads the path of a message from a path in the record. It accepts only the form that
// protocol.Path writes, so that there is one file for each message.
func messagePath(repoPath string) (protocol.Path, bool) {
	if !strings.HasPrefix(repoPath, channelsPrefix) {
		return protocol.Path{}, false
	}
	p, err := protocol.ParsePath(repoPath)
	return p, err == nil && p.RepoPath() == repoPath
}

// Reader reads the record: main's files and messages, and the messages that are only in the
// journal. All methods may be called concurrently.
type Reader struct {
	store    *objects.Store
	progress *progress
	id       objects.Hash // the record's first commit
	log      zerolog.Logger
}

// Get returns the bytes of a message, from main or else from the journal. The error is ErrNotFound
// if it is in neither.
func (r *Reader) Get(p protocol.Path) ([]byte, error) {
	data, ok, tree := r.progress.waiting(p)
	if ok {
		return data, nil
	}
	e, ok, err := r.store.Lookup(tree, p.RepoPath())
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", p, err)
	}
	if !ok {
		return nil, fmt.Errorf("cannot read %s: %w", p, ErrNotFound)
	}
	if data, err = messageData(r.store, e.Hash); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", p, err)
	}
	return data, nil
}

// Place says how far a message has come. It reads no message.
func (r *Reader) Place(p protocol.Path) Place {
	at, err := r.progress.place(p)
	if err != nil {
		r.log.Error().Err(err).Stringer("path", p).Msg("cannot look a message up")
	}
	return at
}

// ReadFile returns a file of main. `ok` is false if there is none.
func (r *Reader) ReadFile(path string) (data []byte, ok bool, err error) {
	return readFile(r.store, r.progress.mainTree(), path)
}

// RootFile returns a file of the record's first commit, which gives the record its name. What that
// file says never changes, whatever main has at that path now. `ok` is false if there is none.
func (r *Reader) RootFile(path string) (data []byte, ok bool, err error) {
	tree, err := r.store.TreeOf(r.id)
	if err != nil {
		return nil, false, fmt.Errorf("cannot read the first commit of the record: %w", err)
	}
	return readFile(r.store, tree, path)
}

func readFile(store *objects.Store, tree objects.Hash, path string) ([]byte, bool, error) {
	e, ok, err := store.Lookup(tree, path)
	if err != nil || !ok {
		return nil, false, damaged(err)
	}
	data, err := messageData(store, e.Hash)
	if err != nil {
		return nil, false, fmt.Errorf("cannot read %s: %w", path, damaged(err))
	}
	return data, true, nil
}

// damaged says of an error that the disk has lost something, if that is so.
func damaged(err error) error {
	if err != nil && objects.IsDamage(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// ListFiles lists the files of main below a folder ("" is all of main), with
// their whole paths, sorted.
func (r *Reader) ListFiles(dir string) ([]string, error) {
	dir = strings.Trim(dir, "/")
	tree, ok, err := r.store.Subtree(r.progress.mainTree(), dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir, damaged(err))
	}
	if !ok {
		return nil, nil
	}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	var paths []string
	err = r.store.Files(tree, prefix, func(path string, _ objects.Entry) error {
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir, damaged(err))
	}
	slices.Sort(paths)
	return paths, nil
}

// ListFolders lists the names of the folders that are directly in a folder of
// main, sorted.
func (r *Reader) ListFolders(dir string) ([]string, error) {
	tree, ok, err := r.store.Subtree(r.progress.mainTree(), strings.Trim(dir, "/"))
	if err != nil || !ok {
		return nil, damaged(err)
	}
	entries, err := r.store.Tree(tree)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir, damaged(err))
	}
	var names []string
	for _, e := range entries {
		if e.Mode.IsDir() {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Walk calls `visit` with every message of main, channel by channel, in the order of their paths.
// Contents below data/conflicts, which have lost their path to another content, are among them.
// Then come the messages that are only in the journal, in its order. Walk sees the record as it was
// at the beginning of the call. An error of `visit` ends it.
func (r *Reader) Walk(ctx context.Context, visit func(MessageFile) error) error {
	return r.WalkDamaged(ctx, visit, func(_ protocol.Path, err error) error { return err })
}

// WalkDamaged is Walk, except that it calls `lacks` in place of `visit` for a message that the
// repository holds but cannot give. An error of `lacks` ends it.
func (r *Reader) WalkDamaged(ctx context.Context, visit func(MessageFile) error, lacks func(protocol.Path, error) error) error {
	tree, stored := r.progress.snapshot()
	read := func(p protocol.Path, e objects.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := messageData(r.store, e.Hash)
		if err != nil {
			return lacks(p, err)
		}
		return visit(MessageFile{Path: p, Data: data, Recorded: true})
	}
	err := r.walkFolder(tree, channelsPrefix, messagePath, read)
	if err == nil {
		err = r.walkFolder(tree, conflictsPrefix, parseConflictPath, read)
	}
	for _, l := range stored {
		if err != nil {
			break
		}
		if err = ctx.Err(); err == nil {
			err = visit(l)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot walk the record: %w", damaged(err))
	}
	return nil
}

// walkFolder calls `read` for every plain file in a folder whose path is that of a message.
func (r *Reader) walkFolder(
	tree objects.Hash, prefix string, parse func(string) (protocol.Path, bool), read func(protocol.Path, objects.Entry) error,
) error {
	folder, ok, err := r.store.Subtree(tree, strings.TrimSuffix(prefix, "/"))
	if err != nil || !ok {
		return err
	}
	return r.store.Files(folder, prefix, func(path string, e objects.Entry) error {
		if p, is := parse(path); is && e.Mode.IsFile() {
			return read(p, e)
		}
		return nil
	})
}

// Count is about how many messages there are in main. It only looks at folders.
func (r *Reader) Count(ctx context.Context) (n int, err error) {
	err = r.EachFile(ctx, func(path string, plain bool) error {
		if plain && strings.HasPrefix(path, channelsPrefix) && strings.HasSuffix(path, ".md") {
			n++
		}
		return nil
	})
	return n, err
}

// EachFile calls `visit` with the path of every file of main, as main was at the beginning of the
// call. `plain` is false for links and other repositories. An error of `visit` ends it.
func (r *Reader) EachFile(ctx context.Context, visit func(path string, plain bool) error) error {
	err := r.store.Files(r.progress.mainTree(), "", func(path string, e objects.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(path, e.Mode.IsFile())
	})
	if err != nil {
		return fmt.Errorf("cannot list the record: %w", damaged(err))
	}
	return nil
}

// GetConflict returns the bytes with that SHA-256, in hex, that have lost the path of a message to
// other bytes.
func (r *Reader) GetConflict(p protocol.Path, hash string) ([]byte, bool, error) {
	if len(hash) < conflictHex {
		return nil, false, nil
	}
	data, ok, err := r.ReadFile(conflictsPrefix + p.String() + "-" + hash[:conflictHex])
	return data, ok && protocol.Hash(data) == hash, err
}

// Export calls `write` with every file of main, as main was at the beginning of the call, and
// returns the commit. Links and other repositories are left out. Files and folders that cannot be
// read are told to `lost`, and the others are written all the same.
func (r *Reader) Export(ctx context.Context, write func(path string, data []byte) error, lost func(path string, err error)) (commit string, err error) {
	tip, tree := r.progress.main()
	var folder func(tree objects.Hash, at string) error
	folder = func(tree objects.Hash, at string) error {
		entries, err := r.store.Tree(tree)
		if err != nil {
			lost(at, err)
		}
		for _, e := range entries {
			path := at + e.Name
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case e.Mode.IsDir():
				err = folder(e.Hash, path+"/")
			case e.Mode.IsFile():
				data, unread := r.store.Blob(e.Hash)
				if unread != nil {
					lost(path, unread)
					continue
				}
				err = write(path, data)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := folder(tree, ""); err != nil {
		return "", fmt.Errorf("cannot export the record: %w", err)
	}
	return tip.String(), nil
}

// Anybody who may push can bring a file of any size, in a push that is a thousand times smaller.
// Such a file must not keep a node from starting, taking in the remote or running its agents. It
// must not fill its memory either.

// blobs is where blobs are read: a store, or a reader of many objects.
type blobs interface {
	BlobUpTo(h objects.Hash, most int64) ([]byte, error)
}

// messageData is the content of a blob at the path of a message or of another file that parley
// knows. If it is larger than any of these can be, it is not read: what is returned is as for a blob
// that is too large to be held.
func messageData(store blobs, blob objects.Hash) ([]byte, error) {
	data, _, err := contentUpTo(store, blob, protocol.MaxFile)
	return data, err
}

// content is the content of a blob. If the blob is too large to be held, `large` is true and `data`
// are other bytes: too many for anything that parley reads, and different ones for each such blob.
func content(store blobs, blob objects.Hash) (data []byte, large bool, err error) {
	return contentUpTo(store, blob, pack.MaxObject)
}

func contentUpTo(store blobs, blob objects.Hash, most int64) (data []byte, large bool, err error) {
	data, err = store.BlobUpTo(blob, most)
	if tooLarge := new(objects.LargeError); errors.As(err, &tooLarge) {
		data = make([]byte, protocol.MaxFile+1)
		copy(data, fmt.Sprintf("instead of %d bytes of the git object %s\n", tooLarge.Size, blob))
		return data, true, nil
	}
	return data, false, err
}

// Peek calls `visit` with the plain files in a folder of main of the record below `dir`, even while
// that record is in use. It changes nothing. The error is ErrNoRecord if there is none.
func Peek(dir, folder string, visit func(path string, data []byte) error) error {
	store, err := objects.Open(filepath.Join(dir, repoName), zerolog.Nop())
	if err != nil {
		return errors.Join(ErrNoRecord, err)
	}
	tip, ok, err := store.Ref(carrier.MainRef)
	if err != nil || !ok {
		return errors.Join(ErrNoRecord, err)
	}
	tree, err := store.TreeOf(tip)
	if err != nil {
		return err
	}
	below, ok, err := store.Subtree(tree, folder)
	if err != nil || !ok {
		return err
	}
	return store.Files(below, folder+"/", func(path string, e objects.Entry) error {
		if !e.Mode.IsFile() {
			return nil
		}
		data, _, err := content(store, e.Hash)
		if err != nil {
			return err
		}
		return visit(path, data)
	})
}
