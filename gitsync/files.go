package gitsync

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

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

func (r *Record) putFile(file string, u *fileUpdate) error {
	if r.isClosed() {
		return fmt.Errorf("cannot put %s: %w", file, ErrClosed)
	}
	if err := checkFilePath(file); err != nil {
		return err
	}
	r.updates.add(file, u)
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
	if err := r.main.commit(ctx, false); err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	r.main.work.Lock()
	defer r.main.work.Unlock()
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

// fileUpdate is a change of a file that waits for the next commit.
type fileUpdate struct {
	data   []byte                           // what the file is to be, where update is nil
	update func(old []byte) ([]byte, error) // see UpdateFile
	failed error                            // why it changed nothing; guarded by work
}

// updates are changes of files that are no messages: those that wait for the next
// commit, and what this run has committed.
type updates struct {
	mu      sync.Mutex // guards the fields below
	waiting map[string]*fileUpdate
	own     map[string]objects.Hash
}

func newUpdates() *updates {
	return &updates{waiting: map[string]*fileUpdate{}, own: map[string]objects.Hash{}}
}

// add has a file changed by the next commit, in place of what was to become of it.
func (u *updates) add(file string, change *fileUpdate) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting[file] = change
}

// all are those that wait.
func (u *updates) all() map[string]*fileUpdate {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.waiting)
}

// done notes that changes are in main, and as what.
func (u *updates) done(changes map[string]*fileUpdate, put map[string][]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for file, change := range changes {
		if u.waiting[file] == change { // no other came meanwhile
			delete(u.waiting, file)
		}
	}
	for file, data := range put {
		u.own[file] = objects.BlobHash(data)
	}
}

// isOwn reports whether this run has committed a file with that content.
func (u *updates) isOwn(file string, blob objects.Hash) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.own[file] == blob
}
