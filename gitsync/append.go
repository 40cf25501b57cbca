package gitsync

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/protocol"
)

// Append stores letters: all of them or none, durable when it returns nil. A
// letter that is in the journal or in main already with the same bytes is
// nothing. Data must not be changed after. Concurrent callers share one fsync.
func (r *Record) Append(ctx context.Context, letters []Letter) error {
	if r.isClosed() {
		return fmt.Errorf("cannot store: %w", ErrClosed)
	}
	var fresh []Letter
	var blobs []objects.Hash
	for _, l := range letters {
		if l.Path.IsZero() {
			return errors.New("cannot store a letter without a path")
		}
		blob := objects.BlobHash(l.Data)
		if r.keeps(l.Path, blob) || contains(fresh, blobs, l.Path, blob) {
			continue
		}
		fresh = append(fresh, l)
		blobs = append(blobs, blob)
	}
	if len(fresh) == 0 {
		return nil
	}
	entries := make([]journal.Entry, len(fresh))
	for i, l := range fresh {
		entries[i] = journal.Entry{Path: l.Path.String(), Peer: l.Peer, Data: l.Data}
	}
	ids, err := r.journal.Append(ctx, entries)
	if err != nil {
		if errors.Is(err, journal.ErrClosed) {
			err = ErrClosed
		} else if ctx.Err() == nil {
			r.noteStored(err)
		}
		return fmt.Errorf("cannot store %d letters: %w", len(fresh), err)
	}
	failpoint.Hit(failpoint.Appended)
	r.noteStored(nil)
	for i, l := range fresh {
		r.hold(l, blobs[i], ids[i])
	}
	ring(r.commitBell)
	return nil
}

func contains(letters []Letter, blobs []objects.Hash, p protocol.Path, blob objects.Hash) bool {
	for i := range letters {
		if blobs[i] == blob && letters[i].Path == p {
			return true
		}
	}
	return false
}

// hold enters a letter that is in the journal.
func (r *Record) hold(l Letter, blob objects.Hash, id journal.ID) {
	h := &heldLetter{path: l.Path, blob: blob, data: l.Data, peer: l.Peer, since: time.Now(), id: id}
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.state.held[l.Path] = append(r.state.held[l.Path], h)
	r.state.pending = append(r.state.pending, h)
}

// keeps reports whether exactly these bytes are stored at the path already.
func (r *Record) keeps(p protocol.Path, blob objects.Hash) bool {
	r.state.mu.Lock()
	tree := r.state.tree
	for _, h := range r.state.held[p] {
		if h.blob == blob {
			r.state.mu.Unlock()
			return true
		}
	}
	r.state.mu.Unlock()
	e, ok, err := r.store.Lookup(tree, p.RepoPath())
	return err == nil && ok && e.Hash == blob
}

func (r *Record) isClosed() bool {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.closed
}

// PutFile has a file that is no message go into the next commit, such as
// hosts/<alias>.md. It is not journaled: durable only when it is in main. The
// last content put wins.
func (r *Record) PutFile(file string, data []byte) error {
	return r.putFile(file, &fileUpdate{data: data})
}

// UpdateFile is PutFile for what depends on the version before: update is called when
// the file is committed, with what main has then, nil for none. So what others did to
// the file until then is not lost. It may be called more than once, and calls nothing
// of the record; where it fails the file stays as it is.
func (r *Record) UpdateFile(file string, update func(old []byte) ([]byte, error)) error {
	return r.putFile(file, &fileUpdate{update: update})
}

// fileUpdate is a change of a file that waits for the next commit.
type fileUpdate struct {
	data   []byte                           // what the file is to be, where update is nil
	update func(old []byte) ([]byte, error) // see UpdateFile
	failed error                            // why it changed nothing; guarded by work
}

func (r *Record) putFile(file string, u *fileUpdate) error {
	if r.isClosed() {
		return fmt.Errorf("cannot put %s: %w", file, ErrClosed)
	}
	if err := checkFilePath(file); err != nil {
		return err
	}
	r.state.mu.Lock()
	r.state.files[file] = u
	r.state.mu.Unlock()
	ring(r.commitBell)
	return nil
}

// WriteFile puts a file that is no message and returns when it is in a durable
// commit of main. Where it fails the file may still go into a later commit.
func (r *Record) WriteFile(ctx context.Context, file string, data []byte) error {
	return r.changeFile(ctx, file, &fileUpdate{data: data})
}

// ChangeFile is WriteFile for what depends on the version before, see UpdateFile.
func (r *Record) ChangeFile(ctx context.Context, file string, update func(old []byte) ([]byte, error)) error {
	return r.changeFile(ctx, file, &fileUpdate{update: update})
}

func (r *Record) changeFile(ctx context.Context, file string, u *fileUpdate) error {
	if err := r.putFile(file, u); err != nil {
		return err
	}
	if err := r.commit(ctx, false); err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	r.work.Lock()
	defer r.work.Unlock()
	return u.failed
}

// checkFilePath refuses what is no path in the record, and what belongs to
// messages alone. Of data/ only a channel's CHANNEL.md and memories are files.
func checkFilePath(file string) error {
	for _, part := range strings.Split(file, "/") {
		if strings.EqualFold(part, ".git") || part == ".." {
			return fmt.Errorf("cannot put %q: not a path in the record", file)
		}
	}
	if path.Clean("/"+file) != "/"+file || file == "" || strings.ContainsRune(file, 0) {
		return fmt.Errorf("cannot put %q: not a path in the record", file)
	}
	_, isChannel := protocol.ParseChannelFilePath(file)
	_, isMemory := protocol.ParseMemoryPath(file)
	if (file == "data" || strings.HasPrefix(file, "data/")) && !isChannel && !isMemory {
		return fmt.Errorf("cannot put %q: it is neither a channel's CHANNEL.md nor a memory", file)
	}
	return nil
}
