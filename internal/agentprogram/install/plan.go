package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/splice"
)

// Plan is what is to be done to the files of a program.
type Plan struct {
	Changes []Change
	Notes   []string // what a person should know, one sentence each
	program Program
	at      Places
	record  record // what is to be known afterwards; nothing of it after an undo
	undo    bool
}

// Change is what is to be done to one file.
type Change struct {
	Path   string
	Before []byte   // nil: there is no file
	After  []byte   // nil: the file goes
	Added  []string // the texts that are put into a file of somebody else
	Skill  string   // the folder of the skill of which the file is a part; "" for other files
	target string   // the file that a link at the path leads to
}

// Blocked is an error of a file that parley does not change by itself.
type Blocked struct {
	Path  string
	Why   error
	Paste string // what a person can write there instead; "" if there is nothing
}

// Error names the file and the reason.
func (e *Blocked) Error() string { return fmt.Sprintf("cannot change %s: %v", e.Path, e.Why) }

// Unwrap is the reason.
func (e *Blocked) Unwrap() error { return e.Why }

// Install plans what it takes to put parley into the program that is here.
func (p Program) Install(at Places, here Here) (Plan, error) {
	old, err := p.readRecord(at)
	if err != nil {
		return Plan{}, err
	}
	parts, err := p.parts(at, here.Version)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{program: p, at: at, record: record{Program: here.Path, Config: p.folder(at), Project: at.Project}}
	left := slices.DeleteFunc(slices.Clone(old.Files), func(k kept) bool { // what was written, and is wanted, goes
		return slices.ContainsFunc(parts, func(one part) bool { return one.path() == k.Path })
	})
	if err := plan.takeOut(left); err != nil {
		return Plan{}, err
	}
	foreign := plan.foreign(parts, old)
	for _, one := range parts {
		if w, ok := one.(whole); ok && slices.Contains(foreign, w.Folder) {
			if k := old.find(w.Path); k.Path != "" {
				plan.record.Files = append(plan.record.Files, k)
			}
			continue
		}
		if err := plan.putIn(one, old.find(one.path())); err != nil {
			return Plan{}, err
		}
	}
	for _, k := range left {
		if slices.ContainsFunc(plan.Changes, func(c Change) bool { return c.Path == k.Path }) {
			plan.record.Files = append(plan.record.Files, k)
		}
	}
	plan.record.Folders = slices.Clone(old.Folders)
	for _, c := range plan.Changes {
		plan.record.Folders = appendMissing(plan.record.Folders, filepath.Dir(c.Path))
	}
	return plan, nil
}

// foreign are the skills of which somebody else has written a file.
func (plan *Plan) foreign(parts []part, old record) (names []string) {
	for _, one := range parts {
		w, ok := one.(whole)
		if !ok || !w.Optional || slices.Contains(names, w.Folder) {
			continue
		}
		if err := plan.putInto(one, old.find(w.Path), new(Change), new(kept)); err != nil {
			names = append(names, w.Folder)
			plan.Notes = append(plan.Notes, fmt.Sprintf("the skill %s is not as parley wrote it, and stays.", w.Folder))
		}
	}
	return names
}

// Undo plans what it takes to take parley out of the program.
func (p Program) Undo(at Places, here Here) (Plan, error) {
	old, err := p.readRecord(at)
	if err != nil {
		return Plan{}, err
	}
	parts, err := p.parts(at, here.Version)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{program: p, at: at, record: old, undo: true}
	files := slices.Clone(old.Files)
	for _, one := range parts { // of these the record may be lost; skills may be there without it
		if w, ok := one.(whole); old.find(one.path()).Path == "" && (!ok || w.Folder == "") {
			files = append(files, kept{Path: one.path(), Kind: one.kind()})
		}
	}
	return plan, plan.takeOut(files)
}

// putIn plans one part.
func (plan *Plan) putIn(one part, old kept) error {
	var c Change
	var k kept
	if err := plan.putInto(one, old, &c, &k); err != nil {
		paste := ""
		if one.kind() != kindFile {
			paste = one.paste()
		}
		return &Blocked{Path: one.path(), Why: err, Paste: paste}
	}
	if !same(c.Before, c.After) {
		plan.Changes = append(plan.Changes, c)
	}
	plan.record.Files = append(plan.record.Files, k)
	return nil
}

// putInto says how a file is to be changed, and what is to be known of it then.
func (plan *Plan) putInto(one part, old kept, c *Change, k *kept) (err error) {
	if *c, err = look(one.path()); err != nil {
		return err
	}
	base, err := without(one, c.Before, old)
	if err != nil {
		return err
	}
	if w, ok := one.(whole); ok {
		c.Skill = w.Folder
	}
	if w, ok := one.(whole); ok && old.Path == "" && w.Ours != nil {
		base = c.Before // another command of parley's wrote it, and takes it out
	}
	if one.has(c.Before) {
		c.After = c.Before
		if _, ok := splice.Cut(c.Before, old.Added); ok {
			c.Added = old.Added
		}
	} else if c.After, c.Added, err = one.add(base); err != nil {
		return err
	}
	*k = kept{Path: one.path(), Kind: one.kind(), Before: base, Sums: []string{sum(c.After)}, Added: c.Added}
	for _, s := range old.Sums { // by these an earlier version of parley's own file is known, if this is cut short
		if one.kind() == kindFile && !slices.Contains(k.Sums, s) {
			k.Sums = append(k.Sums, s)
		}
	}
	if same(c.Before, c.After) {
		return nil
	}
	return c.writable()
}

// takeOut plans to take out what was written into files.
func (plan *Plan) takeOut(files []kept) error {
	parts, err := plan.program.parts(plan.at, nil)
	if err != nil {
		return err
	}
	for _, k := range files {
		one := partOf(k.Kind, k.Path, plan.program.Name)
		for _, current := range parts {
			if current.path() == k.Path && current.kind() == k.Kind {
				one = current
			}
		}
		c, err := look(k.Path)
		if err != nil {
			return &Blocked{Path: k.Path, Why: err}
		}
		if c.Before == nil {
			continue
		}
		if w, ok := one.(whole); ok {
			c.Skill = w.Folder
		}
		if c.After, err = without(one, c.Before, k); err != nil {
			return &Blocked{Path: k.Path, Why: err}
		}
		if same(c.Before, c.After) {
			if len(k.Sums) > 0 && k.Kind == kindFile && !same(c.Before, k.Before) {
				plan.Notes = append(plan.Notes, fmt.Sprintf("%s was changed by somebody and stays.", k.Path))
			}
			continue
		}
		if err := c.writable(); err != nil {
			return &Blocked{Path: k.Path, Why: err}
		}
		plan.Changes = append(plan.Changes, c)
	}
	return nil
}

// same reports whether two files are the same. No file is not an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// without is a file without parley's part. Whoever else has changed the file since keeps that. If
// nobody has, it is the file as it was before, byte for byte.
func without(one part, now []byte, k kept) ([]byte, error) {
	switch {
	case now == nil:
		return nil, nil
	case k.wrote(now):
		return k.Before, nil
	}
	clean, err := one.clean(now, k.Before)
	if err != nil || clean == nil {
		return clean, err
	}
	if cut, ok := splice.Cut(now, k.Added); ok && one.tokens(cut) == one.tokens(clean) {
		return cut, nil
	}
	if k.Before != nil && !same(clean, now) && one.tokens(clean) == one.tokens(k.Before) {
		return k.Before, nil
	}
	return clean, nil
}

// look reads a file, through links.
func look(path string) (Change, error) {
	c := Change{Path: path, target: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, errors.New("it is a link that leads nowhere")
	}
	if err != nil {
		return c, err
	}
	c.target = target
	if c.Before, err = readPlain(target); c.Before == nil && err == nil {
		c.Before = []byte{}
	}
	return c, err
}

// writable returns why a file is not to be written.
func (c Change) writable() error {
	info, err := os.Stat(c.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no plain file")
	case info.Mode().Perm()&0o200 == 0:
		return errors.New("it may only be read: somebody has locked it, or another program makes it")
	}
	return nil
}

// appendMissing appends the folders that are missing, from a folder that is there down to `dir`.
func appendMissing(all []string, dir string) []string {
	var missing []string
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || slices.Contains(all, dir) || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return append(all, missing...)
}

// errMeanwhile is the error of a file that somebody changed between the plan and its writing.
var errMeanwhile = errors.New("somebody changed it in this moment; do it again")

// Apply does what is planned. If it fails or is cut short, what it leaves is known to the next one.
func (plan Plan) Apply() error {
	for _, c := range plan.Changes {
		if now, err := look(c.Path); err != nil || !same(now.Before, c.Before) {
			return &Blocked{Path: c.Path, Why: errors.Join(err, errMeanwhile)}
		}
	}
	if !plan.undo {
		if err := plan.program.writeRecord(plan.at, plan.record); err != nil {
			return fmt.Errorf("cannot note what is written: %w", err)
		}
	}
	for _, c := range plan.Changes {
		if err := c.apply(); err != nil {
			return fmt.Errorf("cannot write %s: %w", c.Path, err)
		}
	}
	if !plan.undo {
		return nil
	}
	for _, dir := range slices.Backward(plan.record.Folders) {
		_ = os.Remove(dir) // if something else is in it, it stays
	}
	if err := os.Remove(plan.program.recordFile(plan.at)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot forget what was written: %w", err)
	}
	_ = os.Remove(plan.at.Data) // the same
	return nil
}

func (c Change) apply() error {
	if c.After == nil {
		return os.Remove(c.target)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(c.target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(c.target, c.After, mode)
}

// readPlain reads a file, and not what one would wait at, such as a named pipe.
func readPlain(file string) ([]byte, error) {
	f, err := agentprogram.OpenPlain(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
