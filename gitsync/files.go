package gitsync

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// PutFile has a file that is no message go into the next commit, such as hosts/<alias>.md. The file
// is not in the journal: it is durable only when it is in main. If it is put several times, the
// last content wins.
func (r *Record) PutFile(file string, data []byte) error {
	return r.putFile(file, &fileUpdate{data: data})
}

// UpdateFile is PutFile for a content that depends on the version before. `update` is called when
// the file is committed. It is given what main has at that time, nil if nothing. So nothing is lost
// that others did to the file until then. `update` may be called more than once, and must not call
// the record. If it fails, the file stays as it is.
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
	if err := r.main.checkNew(file); err != nil {
		return fmt.Errorf("cannot put %q: %w", file, err)
	}
	r.updates.add(file, u)
	ring(r.commitBell)
	return nil
}

// WriteFile puts a file that is no message. It returns when the file is in a durable commit of
// main. If it fails, the file may still go into a later commit.
func (r *Record) WriteFile(ctx context.Context, file string, data []byte) error {
	return r.changeFile(ctx, file, &fileUpdate{data: data})
}

// ChangeFile is WriteFile for a content that depends on the version before: see UpdateFile.
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

// checkFilePath returns an error for what is no path in the record, and for paths that only
// messages have. Below data/, only a channel's CHANNEL.md and memories are files.
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

// checkNew returns an error for a new path that a clone on some system cannot hold: one with a name
// that Windows keeps for itself, or that differs from a path of main in case alone.
func (m *mainline) checkNew(file string) error {
	at, known := m.progress.mainTree(), true
	for name := range strings.SplitSeq(file, "/") {
		var entries []objects.Entry
		if known {
			var err error
			if entries, err = m.store.Tree(at); err != nil {
				return err
			}
		}
		if i := slices.IndexFunc(entries, func(e objects.Entry) bool { return e.Name == name }); i >= 0 {
			at, known = entries[i].Hash, entries[i].Mode.IsDir()
			continue
		}
		if i := slices.IndexFunc(entries, func(e objects.Entry) bool { return strings.EqualFold(e.Name, name) }); i >= 0 {
			return fmt.Errorf("the record has %q, which is the same name on macOS and Windows", entries[i].Name)
		}
		if err := protocol.CheckFileName(name); err != nil {
			return err
		}
		known = false
	}
	return nil
}

type fileUpdate struct {
	data   []byte                           // the new content, if update is nil
	update func(old []byte) ([]byte, error) // see UpdateFile
	failed error                            // why it has changed nothing; guarded by work
}

// updates are changes of files that are no messages: those that wait for the next
// commit, and what this run has committed.
type updates struct {
	mu      sync.Mutex // guards the fields below
	waiting map[string]*fileUpdate
	own     map[string]objects.Hash
}

// add has the next commit change a file. It replaces a change of the file that still waits.
func (u *updates) add(file string, change *fileUpdate) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting[file] = change
}

// all are the changes that wait.
func (u *updates) all() map[string]*fileUpdate {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.waiting)
}

// done notes that changes are in main, with these contents.
func (u *updates) done(changes map[string]*fileUpdate, put map[string][]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for file, change := range changes {
		if u.waiting[file] == change { // no other change has come in the meantime
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
