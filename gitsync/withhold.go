package gitsync

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

// ErrPushed says that the remote has a file already, so that nobody can keep the file from it.
var ErrPushed = errors.New("the remote has it already")

// A remote can refuse what a single message or file says, such as a password. Then it takes
// nothing, because every push has that message in it. Withheld messages stay in the journal, where
// they are read as any other message, and go into no commit.

const (
	withheldName = "withheld"       // the file beside the journal that names withheld messages, one on each line
	setAsideName = "withheld-files" // the folder of the home with withheld files that are no messages
)

// withheld are the messages that go into no commit.
type withheld struct {
	path string

	mu    sync.Mutex // guards paths
	paths map[protocol.Path]bool
}

func openWithheld(dir string) (*withheld, error) {
	w := &withheld{path: filepath.Join(dir, journalName, withheldName), paths: map[protocol.Path]bool{}}
	data, err := os.ReadFile(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read what is withheld: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if p, err := protocol.ParsePath(lines.Text()); err == nil {
			w.paths[p] = true
		}
	}
	return w, nil
}

func (w *withheld) has(p protocol.Path) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paths[p]
}

// add has a message go into no commit, from now on and after each start.
func (w *withheld) add(p protocol.Path) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paths[p] {
		return nil
	}
	var text strings.Builder
	for other := range w.paths {
		text.WriteString(other.String() + "\n")
	}
	if err := objects.WriteFile(w.path, []byte(text.String()+p.String()+"\n")); err != nil {
		return fmt.Errorf("cannot note what is withheld: %w", err)
	}
	w.paths[p] = true
	return nil
}

func (w *withheld) all() []protocol.Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Keys(w.paths), protocol.Path.Compare)
}

// Withhold keeps a file of main from the remote, which lacks it. Main is made anew without the
// file, on top of what the remote has. A message stays in the journal; any other file is put below
// withheld-files in the home, as `kept` says. The error is ErrPushed if the remote has the file,
// and ErrNotFound if there is none.
func (r *Record) Withhold(ctx context.Context, file string) (kept string, err error) {
	if r.isClosed() {
		return "", fmt.Errorf("cannot withhold %s: %w", file, ErrClosed)
	}
	if err = r.opts.Here(); err == nil {
		kept, err = r.withhold(ctx, file)
	}
	if err != nil {
		return "", fmt.Errorf("cannot withhold %s: %w", file, err)
	}
	return kept, nil
}

func (r *Record) withhold(ctx context.Context, file string) (kept string, err error) {
	remote, remoteTree := r.progress.remote()
	e, inMain, err := r.store.Lookup(r.progress.mainTree(), file)
	if err != nil {
		return "", err
	}
	there, pushed, err := r.store.Lookup(remoteTree, file)
	switch p, isMessage := messagePath(file); {
	case err != nil:
		return "", err
	case !r.opts.isShared():
		return "", errors.New("this record is pushed nowhere")
	case pushed && remote != objects.Zero && (isMessage || there.Hash == e.Hash):
		return "", ErrPushed
	case isMessage:
		if err := r.holdBack(ctx, p, e.Hash, inMain); err != nil {
			return "", err
		}
	case !inMain || !e.Mode.IsFile():
		return "", ErrNotFound
	default:
		if kept, err = r.setAside(file, e.Hash); err != nil {
			return "", err
		}
	}
	r.main.work.Lock()
	err = r.main.leaveOut(file)
	r.main.work.Unlock()
	if err == nil {
		r.contact.cleared()
	}
	ring(r.commitBell)
	return kept, err
}

// holdBack notes that a message is withheld, after making sure that the journal has it.
func (r *Record) holdBack(ctx context.Context, p protocol.Path, blob objects.Hash, inMain bool) error {
	if inMain && !r.progress.holds(p, blob) {
		data, err := messageData(r.store, blob)
		if err != nil {
			return err
		}
		ids, err := r.journal.Append(ctx, []journal.Entry{{Path: p.String(), Data: data}})
		if err != nil {
			return err
		}
		r.progress.hold(MessageFile{Path: p, Data: data}, blob, ids[0])
	} else if !inMain && !r.progress.isHeld(p) {
		return ErrNotFound
	}
	return r.withheld.add(p)
}

func (r *Record) setAside(file string, blob objects.Hash) (string, error) {
	data, err := r.store.Blob(blob)
	if err != nil {
		return "", err
	}
	kept := filepath.Join(r.opts.Dir, setAsideName, filepath.FromSlash(file))
	if err := durable.FoldersIn(r.opts.Dir, filepath.Dir(kept), 0o700); err != nil {
		return "", err
	}
	return kept, objects.WriteFile(kept, data)
}

// leaveOut makes main anew without some files that the remote lacks, as one commit on the remote's
// main. Of a file that the remote has in another version, that version stays. The caller holds
// work.
func (m *mainline) leaveOut(files ...string) error {
	if err := m.takeInMain(); err != nil {
		return err
	}
	tip, tree := m.progress.main()
	base, baseTree := m.progress.remote()
	if base == objects.Zero {
		var err error
		base = m.reader.id
		if baseTree, err = m.store.TreeOf(base); err != nil {
			return err
		}
	}
	changes := map[string]objects.Change{}
	for _, file := range files {
		if _, ok, err := m.store.Lookup(tree, file); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		before, _, err := m.store.Lookup(baseTree, file)
		if err != nil {
			return err
		}
		changes[file] = objects.Change{Hash: before.Hash, Mode: before.Mode}
	}
	if len(changes) == 0 {
		return nil
	}
	var b objects.Builder
	next, err := m.store.Update(tree, changes, &b)
	if err != nil {
		return err
	}
	commit := base
	if next != baseTree {
		commit, err = m.writeCommit(&b, next, "add files that main lacked", tip, base)
	} else {
		err = m.refs.moveMain(tip, base)
	}
	if err != nil {
		return err
	}
	m.progress.mainIs(commit, next)
	if err := m.progress.unrecord(next); err != nil {
		return err
	}
	m.changed()
	return m.progress.settle()
}

// leaveOutWithheld is leaveOut for withheld messages that have come into main all the same: before
// a crash, or by an operator. The caller holds work.
func (m *mainline) leaveOutWithheld() error {
	_, tree := m.progress.main()
	_, remote := m.progress.remote()
	var files []string
	for _, p := range m.progress.withheld.all() {
		_, here, err := m.store.Lookup(tree, p.RepoPath())
		if err != nil || !here {
			continue // a damaged main is told elsewhere
		}
		if _, there, err := m.store.Lookup(remote, p.RepoPath()); err == nil && !there {
			files = append(files, p.RepoPath())
		}
	}
	if len(files) == 0 {
		return nil
	}
	return m.leaveOut(files...)
}

// mostNamedFiles bounds how many files of a refusal are told.
const mostNamedFiles = 8

// lacking are the files of main that a text names and that the remote lacks, in the form that
// people use.
func (s *sharer) lacking(said string) (files []string) {
	_, tree := s.progress.main()
	_, remote := s.progress.remote()
	words := strings.FieldsFunc(said, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(":;,'\"<>()", r) })
	for _, file := range words {
		e, here, err := s.store.Lookup(tree, file)
		if err != nil || !here || !e.Mode.IsFile() {
			continue
		}
		there, _, err := s.store.Lookup(remote, file)
		if shown := strings.TrimPrefix(file, channelsPrefix); err == nil && there.Hash != e.Hash && !slices.Contains(files, shown) {
			if files = append(files, shown); len(files) == mostNamedFiles {
				break
			}
		}
	}
	return files
}
