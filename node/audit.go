package node

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Verify implements control.Service.
func (n *Node) Verify(ctx context.Context) (control.Verification, error) {
	var v control.Verification
	damaged, err := n.auditDisk(ctx, &v)
	if err != nil {
		return v, asError(err)
	}
	err = n.record.WalkDamaged(ctx, func(l gitsync.Letter) error {
		v.Messages++
		if f, found := n.audit(l); found {
			v.Findings = append(v.Findings, f)
		}
		return nil
	}, func(p protocol.Path, err error) error {
		v.Messages++
		v.Findings = append(v.Findings, damage(control.Finding{Path: p}, err))
		return nil
	})
	if err != nil && !damaged {
		return v, asError(err)
	}
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

// auditState looks at the messages of the state, and holds nobody up for it. A hole in
// a chain may be a message that came meanwhile, behind the look: then it looks again,
// at all at once.
func (n *Node) auditState(ctx context.Context) ([]fleet.Finding, error) {
	v := n.state.Verification(n.now())
	if err := n.each(ctx, v.Look); err != nil {
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
func (n *Node) auditDisk(ctx context.Context, v *control.Verification) (damaged bool, err error) {
	found, err := n.record.Check(ctx)
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
	examined := n.state.Examine(l.Path, l.Data)
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.state.Check(examined)
	it, there := n.state.Item(l.Path)
	refusal := new(fleet.RefusedError)
	f = control.Finding{Path: l.Path, Wrong: true}
	switch {
	case errors.As(err, &refusal):
		f.Kind, f.Text = control.FindingRefused, "it is refused: "+refusal.Err.Error()
		if from, copied := n.state.Original(protocol.Hash(l.Data)); copied {
			f.Text += "; it is a copy of " + from.String() + ", and a signature holds at its own path only"
		}
	case err != nil && !errors.Is(err, fleet.ErrKnown):
		f.Kind, f.Text = control.FindingUnreadable, "it is no message: "+err.Error()
	case there && it.Hash != protocol.Hash(l.Data):
		f.Kind, f.Wrong = control.FindingConflict, false
		f.Text = "another file has won its path; this one is kept below data/conflicts"
	default:
		return f, false
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
		if there && err != nil {
			found = append(found, control.Finding{File: path, Kind: control.FindingUnreadable, Wrong: true, Text: "it cannot be read: " + err.Error()})
		}
		return nil
	})
	return found, err
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
