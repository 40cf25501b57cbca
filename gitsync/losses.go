package gitsync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// lostName is the file beside the journal that says what the disk has lost and nobody could give
// back, one thing on each line. It exists as long as something is missing. So no later start takes
// what is left for everything that there was.
const lostName = "lost"

// losses are what main had and this disk can no longer give.
type losses struct {
	tips    map[objects.Hash]bool // commits that main has named
	files   map[string]bool       // files whose content is lost, or that were in a lost folder
	folders map[string]bool       // folders of which no version can be read; what was in them may be unknown
	entries map[string]bool       // parts of the journal, as journal.Loss describes them
}

func newLosses() losses {
	return losses{tips: map[objects.Hash]bool{}, files: map[string]bool{}, folders: map[string]bool{}, entries: map[string]bool{}}
}

func (l losses) isEmpty() bool { return len(l.tips)+len(l.files)+len(l.folders)+len(l.entries) == 0 }

// areNamed reports whether there are lost files or folders, as Lost names them.
func (l losses) areNamed() bool { return len(l.files)+len(l.folders) > 0 }

// The words that begin the lines of the file.
const (
	lostTip    = "commit "
	lostFile   = "file "
	lostFolder = "folder "
	lostEntry  = "journal "
)

func readLosses(path string) (losses, error) {
	l := newLosses()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("cannot read what was lost: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if hex, ok := strings.CutPrefix(line, lostTip); ok && plumbing.IsHash(hex) {
			l.tips[plumbing.NewHash(hex)] = true
		} else if file, ok := strings.CutPrefix(line, lostFile); ok {
			l.files[file] = true
		} else if folder, ok := strings.CutPrefix(line, lostFolder); ok {
			l.folders[folder] = true
		} else if entry, ok := strings.CutPrefix(line, lostEntry); ok {
			l.entries[entry] = true
		}
	}
	return l, nil
}

// write notes what is lost, or that nothing is.
func (l losses) write(path string) error {
	if l.isEmpty() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot note that nothing is lost: %w", err)
		}
		return nil
	}
	var text strings.Builder
	for tip := range l.tips {
		text.WriteString(lostTip + tip.String() + "\n")
	}
	for _, folder := range slices.Sorted(maps.Keys(l.folders)) {
		text.WriteString(lostFolder + folder + "\n")
	}
	for _, file := range slices.Sorted(maps.Keys(l.files)) {
		text.WriteString(lostFile + file + "\n")
	}
	for _, entry := range slices.Sorted(maps.Keys(l.entries)) {
		text.WriteString(lostEntry + entry + "\n")
	}
	if err := objects.WriteFile(path, []byte(text.String())); err != nil {
		return fmt.Errorf("cannot note what was lost: %w", err)
	}
	return nil
}

// Lost is what main had and this disk can no longer give: paths of files, and paths of folders
// whose content nobody knows completely. The latter end in a slash. An agent that answers by what
// is left may repeat what it has already done.
func (r *Record) Lost() []string {
	lost := r.losses.now()
	all := slices.Collect(maps.Keys(lost.files))
	for folder := range lost.folders {
		all = append(all, folder+"/")
	}
	slices.Sort(all)
	return all
}

// NoteLost notes files of main as lost that were found damaged when they were read, and of which
// there is no copy.
func (r *Record) NoteLost(paths []string) error {
	more := newLosses()
	for _, path := range paths {
		more.files[path] = true
	}
	return r.losses.set(r.losses.now().and(more))
}

// LostEntries is what was stored in the journal and can no longer be read there: which bytes of
// which segment, and the paths of messages in them that are not in main, as far as they can be
// read. It is told until AcceptLoss, because nobody can tell what else was in these bytes.
func (r *Record) LostEntries() []string { return slices.Sorted(maps.Keys(r.losses.now().entries)) }

// noteLostEntries notes what the journal has lost, and lets the journal forget it.
func (r *Record) noteLostEntries() error {
	lost := newLosses()
	for _, l := range r.journal.Losses() {
		l.Paths = slices.DeleteFunc(l.Paths, func(path string) bool {
			p, err := protocol.ParsePath(path)
			return err == nil && r.Place(p) != Absent
		})
		lost.entries[l.String()] = true
	}
	if len(lost.entries) > 0 {
		if err := r.losses.set(r.losses.now().and(lost)); err != nil {
			return err
		}
	}
	if err := r.journal.Settle(); err != nil { // it is found again at the next start
		r.log.Warn().Err(err).Msg("the journal is not wholly mended")
	}
	return nil
}

// HoldsNoMessage reports whether something that Lost names is a file that is no message, or a
// folder in which no message can have been.
func HoldsNoMessage(lost string) bool {
	if !strings.HasSuffix(lost, "/") {
		_, isMessage := messagePath(lost)
		return !isMessage && !strings.HasPrefix(lost, conflictsPrefix)
	}
	return lost != "/" && lost != "data/" && !strings.HasPrefix(lost, channelsPrefix) && !strings.HasPrefix(lost, conflictsPrefix)
}

// IsLost reports whether a file is lost, or was in a folder that is lost and is not there.
func (r *Record) IsLost(path string) bool {
	lost := r.losses.now()
	_, there, err := r.store.Lookup(r.progress.mainTree(), path)
	return lost.files[path] || lost.covers(path) && (err != nil || !there)
}

// Recover does what Open does if it finds that something was removed. Call it before Run, if
// reading shows that the disk has damaged a folder of main.
func (r *Record) Recover(ctx context.Context) error {
	r.main.work.Lock()
	defer r.main.work.Unlock()
	err := r.salvor.recover(ctx)
	if err == nil {
		err = r.openMain()
	}
	if err == nil {
		err = r.progress.recordPresent()
	}
	if err != nil {
		return fmt.Errorf("cannot recover the record: %w", err)
	}
	return nil
}

// AcceptLoss has main go on without what is lost, for good, and forgets the loss.
func (r *Record) AcceptLoss(ctx context.Context) error {
	r.main.work.Lock()
	defer r.main.work.Unlock()
	return r.salvor.accept(ctx, newLosses())
}

// NameLost is given the messages that the record has had, as the fold remembers them. It notes as
// lost those that were in a lost folder and are nowhere else.
func (r *Record) NameLost(known []protocol.Path) error {
	tree := r.progress.mainTree()
	lost := r.losses.now()
	for _, p := range known {
		path := p.RepoPath()
		if !lost.covers(path) || r.progress.isHeld(p) {
			continue
		}
		if e, ok, err := r.store.Lookup(tree, path); err != nil || !ok || !r.store.Has(e.Hash) {
			lost.files[path] = true
		}
	}
	return r.losses.set(lost)
}

// covers reports whether a file was in a folder that is lost.
func (l losses) covers(path string) bool {
	for folder := range l.folders {
		if folder == "" || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

func (l losses) and(more losses) losses {
	all := losses{tips: maps.Clone(l.tips), files: maps.Clone(l.files), folders: maps.Clone(l.folders), entries: maps.Clone(l.entries)}
	maps.Copy(all.tips, more.tips)
	maps.Copy(all.files, more.files)
	maps.Copy(all.folders, more.folders)
	maps.Copy(all.entries, more.entries)
	return all
}

// lossBook keeps what is lost, in memory and in its file.
type lossBook struct {
	path string

	mu   sync.Mutex // guards lost
	lost losses
}

// now is a copy of what is lost. The caller may change it.
func (b *lossBook) now() losses {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost.and(losses{})
}

// assume sets what is lost, without writing it down.
func (b *lossBook) assume(l losses) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = l
}

// set sets what is lost, and writes it down.
func (b *lossBook) set(l losses) error {
	b.assume(l)
	return l.write(b.path)
}

// read reads what an earlier run has written.
func (b *lossBook) read() error {
	l, err := readLosses(b.path)
	b.assume(l)
	return err
}
