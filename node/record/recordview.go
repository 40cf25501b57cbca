package record

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// View shows the record as a whole: its numbers, and its files in a folder.
type View struct {
	Dir    string // of the repository
	Record *gitsync.Record
	Folded folded.State
}

// RecordStats answers control.CountRecord.
func (rv *View) RecordStats(ctx context.Context) (control.RecordStats, error) {
	r := rv.Record.Status()
	s := control.RecordStats{ID: rv.Record.ID(), Tip: r.Tip, Packs: r.Packs, Journal: r.JournalBytes}
	var err error
	if s.Disk, err = diskUse(rv.Dir); err != nil {
		return s, err
	}
	var state *fleet.State
	var t fleet.Totals
	rv.Folded(func(now *fleet.State) {
		state = now
		s.Channels = state.Channels.Count()
		s.Memories = len(state.Memories.List(shelf.MemoryFilter{}))
		t = state.Totals()
		s.Messages, s.Receipts, s.HostWords, s.Unverified, s.First, s.Last = t.Messages, t.Receipts, t.HostWords, t.Unverified, t.First, t.Last
		for _, h := range state.Keys().Hosts() {
			wrote := control.HostStats{Alias: h.Alias, Messages: t.Hosts[h.Alias].Messages, Receipts: t.Hosts[h.Alias].Receipts}
			if last, ok := state.Chains.LastOf(h.Alias); ok {
				wrote.Last = last.Timestamp
			}
			s.Hosts = append(s.Hosts, wrote)
		}
	})
	if t.Unsure {
		s.Unverified, err = rv.countUnverified(ctx, state)
	}
	return s, err
}

// countUnverified looks at every single message: only that shows whether a revocation still lets it
// count.
func (rv *View) countUnverified(ctx context.Context, s *fleet.State) (count int, err error) {
	err = rv.Folded.Each(ctx, func(it *fleet.Item) {
		if !it.Act.HostWord() && it.Type != protocol.TypeRead && s.Signature(it) != protocol.SignatureValid {
			count++
		}
	})
	return count, err
}

// diskUse is the size of all files below a folder, in bytes. It ignores files that are removed in
// the meantime.
func diskUse(dir string) (int64, error) {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// Export answers control.Export.
func (rv *View) Export(ctx context.Context, r control.ExportRequest) (control.Exported, error) {
	done := control.Exported{Dir: r.Dir, Lost: []control.LostFile{}}
	if !filepath.IsAbs(r.Dir) {
		return done, control.Errorf(control.KindUsage, "", "cannot export: %q is not an absolute path", r.Dir)
	}
	if made, err := os.ReadDir(r.Dir); err == nil && len(made) > 0 {
		return done, control.Errorf(control.KindConflict, "name a folder that is empty or not there", "cannot export: %s is not empty", r.Dir)
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return done, err
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return done, err
	}
	defer root.Close()
	done.Tip, err = rv.Record.Export(ctx, func(path string, data []byte) error {
		if !exportable(path) {
			done.LeftOut++
			return nil
		}
		done.Files++
		rv.Folded(func(s *fleet.State) { data = s.Redactions.Shown(path, data) })
		name := filepath.FromSlash(path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return root.WriteFile(name, data, 0o644)
	}, func(path string, err error) {
		done.Lost = append(done.Lost, control.LostFile{Path: path, Why: err.Error()})
	})
	return done, err
}

// exportable reports whether a file of the record may be written below a folder. Its path was
// chosen by somebody who may push. As in git itself, a path must not lie outside of the folder, and
// not in anything that some system takes for .git: git runs what a config there says.
func exportable(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(part, ":") // on Windows, what follows the colon belongs to the same file
		name = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) { // which macOS ignores
				return -1
			}
			return unicode.ToLower(r)
		}, strings.TrimRight(name, " ."))
		if name == "" || name == ".git" || strings.HasPrefix(name, "git~") {
			return false
		}
	}
	return filepath.IsLocal(filepath.FromSlash(path))
}

// Admit answers control.Admit.
func (rv *View) Admit(ctx context.Context, r control.AdmitRequest) (control.None, error) {
	if err := rv.Record.Admit(r.Commit); err != nil {
		return control.None{}, control.Errorf(control.KindUsage, "parley status", "%v", err)
	}
	if err := rv.Record.Fetch(ctx); err != nil {
		return control.None{}, err
	}
	return control.None{}, nil
}
