package record

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// audit is one look at the whole record.
type audit struct {
	record *gitsync.Record
	folded folded.State
	state  *fleet.State // for what needs no lock
	now    func() time.Time
	far    *progress

	mu    sync.Mutex // guards what follows, because several goroutines look at messages
	found control.Verification
}

func (a *audit) run(ctx context.Context) error {
	damaged, err := a.disk(ctx)
	if err != nil {
		return err
	}
	if err := a.messages(ctx); err != nil && !damaged {
		return err
	}
	a.lost()
	inState, err := a.chains(ctx)
	if err != nil {
		return err
	}
	for _, f := range inState {
		a.add(control.Finding{Path: f.Path, Kind: control.FindingKind(f.Kind), Wrong: f.Wrong, Text: f.Text})
	}
	slices.SortStableFunc(a.found.Findings, func(a, b control.Finding) int {
		return cmp.Or(strings.Compare(a.Path.Channel().String(), b.Path.Channel().String()), a.Path.Compare(b.Path))
	})
	if err := a.files(ctx); err != nil && !damaged {
		return err
	}
	a.found.Wrong += each.Count(a.found.Findings, func(f control.Finding) bool { return f.Wrong })
	return nil
}

func (a *audit) add(f control.Finding) { a.found.Findings = append(a.found.Findings, f) }

// messages looks at all files that are messages, on all processors at once, because checking
// signatures takes most of the time.
func (a *audit) messages(ctx context.Context) error {
	note := func(f control.Finding, found bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.found.Messages++; found {
			a.add(f)
		}
		a.far.step(1)
	}
	return a.record.Scan(ctx, func(l gitsync.MessageFile) error {
		note(a.message(l))
		return nil
	}, func(p protocol.Path, err error) error {
		note(damage(control.Finding{Path: p}, err), true)
		return nil
	})
}

// chains looks at the messages of the state, and keeps nobody waiting. A hole in a chain may be a
// message that came after the look had passed its place. Then it looks again, at everything at
// once.
func (a *audit) chains(ctx context.Context) ([]fleet.Finding, error) {
	v := a.state.Verification(a.now())
	if err := a.folded.Each(ctx, v.Look); err != nil {
		return nil, err
	}
	a.folded(func(*fleet.State) { v.LookAside() })
	found := v.Findings()
	if slices.ContainsFunc(found, func(f fleet.Finding) bool { return f.Kind == fleet.FindingChain }) {
		a.folded(func(s *fleet.State) { found = s.Verify(a.now()) })
	}
	return found, nil
}

// damage is what to say about a part of the repository that is there but cannot be read.
func damage(f control.Finding, err error) control.Finding {
	f.Kind, f.Wrong, f.Text = control.FindingDamaged, true, "record.git is damaged: "+err.Error()
	return f
}

// disk has the record read all its files, and mend what it can. `damaged` says that there is no
// good copy of something, so that the following steps cannot read everything.
func (a *audit) disk(ctx context.Context) (damaged bool, err error) {
	found, err := a.record.Check(ctx, a.far.step)
	for _, d := range found {
		f := control.Finding{File: path.Join("record.git", d.File), Kind: control.FindingMended, Text: d.Text}
		if !d.Mended {
			damaged = true
			f.Kind, f.Wrong = control.FindingDamaged, true
		}
		a.add(f)
	}
	return damaged, err
}

func (a *audit) message(l gitsync.MessageFile) (f control.Finding, found bool) {
	examined, hash := a.state.Examine(l.Path, l.Data), protocol.Hash(l.Data)
	a.folded(func(s *fleet.State) { f, found = said(s, l, examined, hash) })
	return f, found
}

func said(s *fleet.State, l gitsync.MessageFile, examined fleet.Examined, hash string) (f control.Finding, found bool) {
	err := s.Check(examined)
	it, there := s.Ledger.Item(l.Path)
	refusal := new(keys.RefusedError)
	f = control.Finding{Path: l.Path, Wrong: true}
	switch {
	case errors.As(err, &refusal):
		f.Kind, f.Text = control.FindingRefused, "it is refused: "+refusal.Err.Error()
		if from, copied := s.Ledger.Original(hash); copied {
			f.Text += "; it is a copy of " + from.String() + ", and a signature holds at its own path only"
		}
	case err != nil && !errors.Is(err, fleet.ErrKnown):
		f.Kind, f.Text = control.FindingUnreadable, "it is no message: "+err.Error()
	case there && it.Hash != hash:
		f.Kind, f.Wrong = control.FindingConflict, false
		f.Text = "another file has won its path; this one is kept below data/conflicts"
	case !there:
		return f, false
	default:
		lines := books.UnreadLines(it, l.Data)
		f.Kind, f.Wrong = control.FindingUnreadable, false
		f.Text = "lines of it cannot be read by this version of parley, and the rest counts: " + books.UnreadText(lines)
		return f, len(lines) > 0
	}
	return f, true
}

// files looks at the files of the record that are no messages. Those that the rules know must be
// readable. In the folders for messages and memories there should be nothing else.
func (a *audit) files(ctx context.Context) error {
	return a.record.EachFile(ctx, func(path string, plain bool) error {
		if plain && isMessagePath(path) {
			return nil
		}
		parse := books.Parser(path)
		switch {
		case parse == nil && !isKeptFor(path):
			return nil
		case !plain:
			a.add(control.Finding{File: path, Kind: control.FindingStray, Text: "it is a link, which nobody follows"})
			return nil
		case parse == nil:
			a.add(control.Finding{File: path, Kind: control.FindingStray, Text: "it is no message, and nobody reads it"})
			return nil
		}
		data, there, err := a.record.ReadFile(path)
		if err != nil {
			a.add(damage(control.Finding{File: path}, err))
			return nil
		}
		if err = books.TooLarge(data); err == nil {
			err = parse(data)
		}
		switch problem := a.scopeProblem(path); {
		case there && err != nil:
			a.add(control.Finding{File: path, Kind: control.FindingUnreadable, Wrong: true, Text: "it cannot be read: " + err.Error()})
		case there && problem != "":
			a.add(control.Finding{File: path, Kind: control.FindingUnreadable, Wrong: true, Text: problem})
		}
		return nil
	})
}

// scopeProblem says what is wrong with the scope of the memory at a path; "" if nothing is, or if
// no memory is there.
func (a *audit) scopeProblem(path string) (problem string) {
	if file, is := protocol.ParseMemoryPath(path); is {
		a.folded(func(s *fleet.State) { problem = s.Memories.ScopeProblem(file) })
	}
	return problem
}

func isMessagePath(path string) bool {
	p, err := protocol.ParsePath(path)
	return err == nil && p.RepoPath() == path
}

// isKeptFor reports whether `path` is in a folder that should have only messages, what belongs to
// them, and memories.
func isKeptFor(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name != ".gitkeep" && (strings.HasPrefix(path, protocol.ChannelsDir+"/") || strings.HasPrefix(path, protocol.MemoriesDir+"/"))
}

// lost names what is lost and about which the record itself no longer says anything.
func (a *audit) lost() {
	known := map[string]bool{}
	for _, f := range a.found.Findings {
		if f.File == "" {
			known[f.Path.RepoPath()] = true
		}
	}
	for _, entry := range a.record.LostEntries() {
		a.add(control.Finding{File: "journal", Kind: control.FindingDamaged, Wrong: true, Text: "stored messages are lost: " + entry})
	}
	for _, path := range a.record.Lost() {
		if known[path] {
			continue
		}
		f := control.Finding{File: path, Kind: control.FindingDamaged, Wrong: true, Text: "the disk has lost it, and there is no copy"}
		if path == "/" {
			f.File, f.Text = "record.git", "the disk has lost the newest commit of main: there may have been messages that nobody can name"
		} else if strings.HasSuffix(path, "/") {
			f.Text = "the disk has lost the newest list of what was in this folder: there may have been messages that nobody can name"
		} else if p, err := protocol.ParsePath(path); err == nil && p.RepoPath() == path {
			f.File, f.Path = "", p
		}
		a.add(f)
	}
}

// progress is how far a long task has come.
type progress struct {
	done  atomic.Int64
	total int
}

func (p *progress) step(n int) { p.done.Add(int64(n)) }

// Audits are the audits of the whole record that are under way.
type Audits struct {
	Record *gitsync.Record
	Folded folded.State
	Now    func() time.Time

	last atomic.Pointer[progress] // of the audit that began last; nil if it has ended
}

// Verify answers control.Verify.
func (as *Audits) Verify(ctx context.Context) (control.Verification, error) {
	a := &audit{record: as.Record, folded: as.Folded, now: as.Now, far: &progress{total: as.Record.Objects()}}
	as.Folded(func(s *fleet.State) {
		a.state = s
		a.far.total += s.Ledger.Len()
	})
	as.last.Store(a.far)
	defer as.last.CompareAndSwap(a.far, nil)
	err := a.run(ctx)
	return a.found, err
}

// VerifyProgress answers control.VerifyProgress.
func (as *Audits) VerifyProgress(context.Context) (control.Progress, error) {
	p := as.last.Load()
	if p == nil {
		return control.Progress{}, nil
	}
	return control.Progress{Done: min(int(p.done.Load()), p.total), Total: p.total}, nil
}
