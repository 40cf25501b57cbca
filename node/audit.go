package node

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Verify implements control.Service.
func (n *Node) Verify(ctx context.Context) (control.Verification, error) {
	var v control.Verification
	far := n.verifying.begin(n.record.Objects() + n.folded.size())
	defer n.verifying.end(far)
	damaged, err := n.auditDisk(ctx, &v, far)
	if err != nil {
		return v, asError(err)
	}
	err = n.auditMessages(ctx, &v, far)
	if err != nil && !damaged {
		return v, asError(err)
	}
	n.auditLost(&v)
	inState, err := n.auditState(ctx)
	if err != nil {
		return v, asError(err)
	}
	for _, f := range inState {
		v.Findings = append(v.Findings, control.Finding{Path: f.Path, Kind: control.FindingKind(f.Kind), Wrong: f.Wrong, Text: f.Text})
	}
	slices.SortStableFunc(v.Findings, func(a, b control.Finding) int {
		return cmp.Or(strings.Compare(a.Path.Channel().String(), b.Path.Channel().String()), a.Path.Compare(b.Path))
	})
	files, err := n.auditFiles(ctx)
	if err != nil && !damaged {
		return v, asError(err)
	}
	v.Findings = append(v.Findings, files...)
	for _, f := range v.Findings {
		if f.Wrong {
			v.Wrong++
		}
	}
	return v, nil
}

// auditMessages looks at all files that are messages, by all processors at once, because
// checking signatures takes most of the time.
func (n *Node) auditMessages(ctx context.Context, v *control.Verification, far *progress) error {
	var mu sync.Mutex // guards v
	note := func(f control.Finding, found bool) {
		mu.Lock()
		defer mu.Unlock()
		if v.Messages++; found {
			v.Findings = append(v.Findings, f)
		}
		far.step(1)
	}
	return n.record.Scan(ctx, func(l gitsync.Letter) error {
		note(n.audit(l))
		return nil
	}, func(p protocol.Path, err error) error {
		note(damage(control.Finding{Path: p}, err), true)
		return nil
	})
}

// auditState looks at the messages of the state, and holds nobody up for it. A hole in
// a chain may be a message that came meanwhile, behind the look: then it looks again,
// at all at once.
func (n *Node) auditState(ctx context.Context) ([]fleet.Finding, error) {
	v := n.state.Verification(n.now())
	if err := n.folded.each(ctx, v.Look); err != nil {
		return nil, err
	}
	n.mu.Lock()
	v.LookAside()
	n.mu.Unlock()
	found := v.Findings()
	if slices.ContainsFunc(found, func(f fleet.Finding) bool { return f.Kind == fleet.FindingChain }) {
		n.mu.Lock()
		defer n.mu.Unlock()
		found = n.state.Verify(n.now())
	}
	return found, nil
}

// damage is what is to be said of what the repository holds but cannot give.
func damage(f control.Finding, err error) control.Finding {
	f.Kind, f.Wrong, f.Text = control.FindingDamaged, true, "record.git is damaged: "+err.Error()
	return f
}

// auditDisk has the record read all its files, and mend what it can. damaged says
// that something is nowhere whole, so that what follows cannot read everything.
func (n *Node) auditDisk(ctx context.Context, v *control.Verification, far *progress) (damaged bool, err error) {
	found, err := n.record.Check(ctx, far.step)
	for _, d := range found {
		f := control.Finding{File: d.File, Kind: control.FindingMended, Text: d.Text}
		if !d.Mended {
			damaged = true
			f.Kind, f.Wrong = control.FindingDamaged, true
		}
		if f.File == "" {
			f.File = "record.git"
		} else {
			f.File = "record.git/" + f.File
		}
		v.Findings = append(v.Findings, f)
	}
	return damaged, err
}

// audit says what is to be said of a file that is not part of the state.
func (n *Node) audit(l gitsync.Letter) (f control.Finding, found bool) {
	examined, hash := n.state.Examine(l.Path, l.Data), protocol.Hash(l.Data)
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.state.Check(examined)
	it, there := n.state.Item(l.Path)
	refusal := new(fleet.RefusedError)
	f = control.Finding{Path: l.Path, Wrong: true}
	switch {
	case errors.As(err, &refusal):
		f.Kind, f.Text = control.FindingRefused, "it is refused: "+refusal.Err.Error()
		if from, copied := n.state.Original(hash); copied {
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
		lines := unreadLines(it, l.Data)
		f.Kind, f.Wrong = control.FindingUnreadable, false
		f.Text = "lines of it cannot be read by this version of parley, and the rest counts: " + unreadText(lines)
		return f, len(lines) > 0
	}
	return f, true
}

// auditFiles looks at the files of the record that are no messages: those that
// the rules know must be readable, and where messages and memories are nothing
// else should be.
func (n *Node) auditFiles(ctx context.Context) ([]control.Finding, error) {
	var found []control.Finding
	err := n.record.EachFile(ctx, func(path string, plain bool) error {
		if plain && isMessagePath(path) {
			return nil
		}
		parse := bookParser(path)
		switch {
		case parse == nil && !isKeptFor(path):
			return nil
		case !plain:
			found = append(found, control.Finding{File: path, Kind: control.FindingStray, Text: "it is a link, which nobody follows"})
			return nil
		case parse == nil:
			found = append(found, control.Finding{File: path, Kind: control.FindingStray, Text: "it is no message, and nobody reads it"})
			return nil
		}
		data, there, err := n.record.ReadFile(path)
		if err != nil {
			found = append(found, damage(control.Finding{File: path}, err))
			return nil
		}
		if err = tooLarge(data); err == nil {
			err = parse(data)
		}
		switch problem := n.scopeProblem(path); {
		case there && err != nil:
			found = append(found, control.Finding{File: path, Kind: control.FindingUnreadable, Wrong: true, Text: "it cannot be read: " + err.Error()})
		case there && problem != "":
			found = append(found, control.Finding{File: path, Kind: control.FindingUnreadable, Wrong: true, Text: problem})
		}
		return nil
	})
	return found, err
}

// scopeProblem is what is wrong with the scope of the memory at a path, if that is one.
func (n *Node) scopeProblem(path string) string {
	file, is := protocol.ParseMemoryPath(path)
	if !is {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.ScopeProblem(file)
}

// isMessagePath reports whether a message can lie at path.
func isMessagePath(path string) bool {
	p, err := protocol.ParsePath(path)
	return err == nil && p.RepoPath() == path
}

// isKeptFor reports whether path is where only messages, what belongs to them and
// memories should be.
func isKeptFor(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name != ".gitkeep" && (strings.HasPrefix(path, protocol.ChannelsDir+"/") || strings.HasPrefix(path, protocol.MemoriesDir+"/"))
}
