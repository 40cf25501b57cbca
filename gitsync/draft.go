package gitsync

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/protocol"
)

const conflictsPrefix = "data/conflicts/"

// conflictHex is how many hex digits of a content's hash distinguish it from other contents of its
// path.
const conflictHex = 16

// conflictPath is the path at which a content is kept that lost its path to another one, or a version
// of a file that another version has replaced.
func conflictPath(path string, data []byte) string {
	return conflictsPrefix + path + "-" + protocol.Hash(data)[:conflictHex]
}

// ConflictOf is the file whose other version is kept at a path of the record. `ok` is false if no
// version is kept there, and for messages.
func ConflictOf(path string) (file string, ok bool) {
	rest, ok := strings.CutPrefix(path, conflictsPrefix)
	at := len(rest) - conflictHex - len("-")
	if _, isMessage := parseConflictPath(path); !ok || isMessage || at < 1 || rest[at] != '-' {
		return "", false
	}
	return rest[:at], true
}

// parseConflictPath is the path that was lost by a content below data/conflicts.
func parseConflictPath(path string) (protocol.Path, bool) {
	rest, ok := strings.CutPrefix(path, conflictsPrefix)
	at := len(rest) - conflictHex - len("-")
	if !ok || at < 0 || rest[at] != '-' {
		return protocol.Path{}, false
	}
	p, err := protocol.ParsePath(rest[:at])
	return p, err == nil
}

// draft is a tree that is being made: a base, and what is to change in it.
type draft struct {
	m       *mainline
	base    objects.Hash
	changes map[string]objects.Change
	builder objects.Builder
}

func (d *draft) at(path string) (objects.Hash, bool, error) {
	if c, ok := d.changes[path]; ok {
		return c.Hash, c.Hash != objects.Zero, nil
	}
	e, ok, err := d.m.store.Lookup(d.base, path)
	return e.Hash, ok, err
}

// place puts a message at its path. If other bytes stand there, one of the two contents goes to
// data/conflicts. It reports whether the message is at its path now and was not before.
func (d *draft) place(p protocol.Path, blob objects.Hash, data []byte) (bool, error) {
	there, ok, err := d.at(p.RepoPath())
	if err != nil || ok && there == blob {
		return false, err
	}
	if !ok {
		d.changes[p.RepoPath()] = objects.Change{Hash: blob}
		return true, nil
	}
	other, err := d.content(there)
	if err != nil {
		return false, err
	}
	failpoint.Hit(failpoint.Conflicting)
	wins := d.m.opts.Prefer(p, data, other)
	kept := conflictPath(p.String(), data)
	if wins {
		kept = conflictPath(p.String(), other)
	}
	d.m.tell.notice("%s exists with two different contents: one stays, the other is kept as %s", p, kept)
	if wins {
		d.changes[p.RepoPath()] = objects.Change{Hash: blob}
		d.changes[kept] = objects.Change{Hash: there}
		return true, nil
	}
	d.changes[kept] = objects.Change{Hash: blob}
	return false, nil
}

// content reads a message that is in the store or among the new ones.
func (d *draft) content(blob objects.Hash) ([]byte, error) {
	if data, ok := d.builder.Content(blob); ok {
		return data, nil
	}
	return messageData(d.m.store, blob)
}

// updated is what files become by the updates. It leaves out updates that fail: messages do not
// wait for them.
func (d *draft) updated(updates map[string]*fileUpdate) (map[string][]byte, error) {
	all := map[string][]byte{}
	for file, u := range updates {
		if u.update == nil {
			all[file] = u.data
			continue
		}
		blob, ok, err := d.at(file)
		if err != nil {
			return nil, err
		}
		var data []byte
		if ok {
			data, _, err = content(d.m.store, blob)
		}
		if err == nil || objects.IsDamage(err) { // what the disk has lost is made anew
			data, err = u.update(data)
		}
		if u.failed = err; err != nil {
			d.m.log.Warn().Err(err).Str("file", file).Msg("a file of the record stays as it is")
			continue
		}
		all[file] = data
	}
	return all, nil
}

// put changes files outside data. It returns the names of those that differ.
func (d *draft) put(files map[string][]byte) ([]string, error) {
	var changed []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		blob := objects.BlobHash(files[file])
		there, ok, err := d.at(file)
		if err != nil {
			return nil, err
		}
		if ok && there == blob {
			if d.m.disk.lost(file) { // it is named, and not there
				if err := d.m.store.PutLoose(plumbing.BlobObject, files[file]); err != nil {
					return nil, err
				}
			}
			continue
		}
		d.changes[file] = objects.Change{Hash: d.builder.Blob(files[file])}
		changed = append(changed, file)
	}
	return changed, nil
}
