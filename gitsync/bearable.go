package gitsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// Somebody who may push can make a few objects stand for any number of files, because folders and
// files may repeat. A message with a signature cannot repeat: the signature holds for one path. So
// what is signed has cost its sender as many bytes, and is taken in however much it is.
const (
	mostFetched       = 5_000_000 // how many files may differ between a tip of the remote and the one before it
	mostUnsigned      = 5_000     // how many files without a signature one fetch may add
	mostUnsignedBytes = 32 << 20  // how many bytes they may have
	mostFetches       = 10        // how many times as much, of new files, may come within a day
)

// tooMuch says which commit of the remote brings more than can be taken in.
type tooMuch struct {
	commit objects.Hash
	author string // "" if nobody knows
	why    error
}

func (e *tooMuch) Error() string {
	by := ""
	if e.author != "" {
		by = " of " + e.author
	}
	return fmt.Sprintf("commit %s%s: %v", brief(e.commit), by, e.why)
}
func (e *tooMuch) Unwrap() error { return e.why }

// Admit has the next fetches take in a commit of the remote, however much it brings. It holds until
// the record is closed.
func (r *Record) Admit(commit string) error {
	if !plumbing.IsHash(commit) {
		return fmt.Errorf("cannot admit %q: give all 40 digits of a commit", commit)
	}
	r.share.admit(plumbing.NewHash(commit))
	return nil
}

func (s *sharer) admit(commit objects.Hash) {
	s.admitted.Store(&commit)
	s.git.Unbound()
	ring(s.retryBell)
}

// intake is what came without a signature, in files that are new here. It begins anew a day after it
// began, and with each Admit.
type intake struct {
	admitted     *objects.Hash // what was admitted last when it began
	since        time.Time
	files, bytes int
}

// bearable returns a *tooMuch for a tip of the remote that brings more than sending messages can
// have brought. It compares the tip with what this host has, or with a commit that the operator has
// admitted. `day` is the intake once the tip is taken in.
func (s *sharer) bearable(ctx context.Context, tip objects.Hash) (day intake, err error) {
	known, before := s.progress.remote()
	day = s.day
	if tip == known || tip == objects.Zero {
		return day, nil
	}
	mine, commit := s.progress.mainTree(), s.admitted.Load()
	if now := s.opts.Now(); day.admitted != commit || now.Sub(day.since) >= 24*time.Hour {
		day = intake{admitted: commit, since: now}
	}
	if commit != nil {
		if within, err := s.store.IsAncestor(*commit, tip); err == nil && within {
			if before, err = s.store.TreeOf(*commit); err != nil {
				return day, err
			}
			mine = before
		}
	}
	tree, err := s.store.TreeOf(tip)
	if err != nil {
		return day, err
	}
	if err = s.store.Weigh(before, tree, mostFetched); err == nil && s.opts.Signed != nil {
		err = s.weighUnsigned(ctx, mine, tree, &day)
	}
	if errors.Is(err, objects.ErrHuge) {
		err = s.blame(tip, err)
	}
	return day, err
}

// weighUnsigned returns ErrHuge if a tree adds more than it may to what is here, without the
// signatures of hosts. It adds to `day` what is new. A file that is too large for parley is not read,
// and counts as the largest that is.
func (s *sharer) weighUnsigned(ctx context.Context, mine, tree objects.Hash, day *intake) error {
	reader := s.store.Reader()
	defer reader.Close()
	sizes := map[objects.Hash]int{} // of all contents that were looked at
	files, bytes := 0, 0
	return s.store.Diff(mine, tree, func(d objects.Difference) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, isMessage := messagePath(d.Path)
		if !d.New.Mode.IsFile() || isMessage && s.progress.holds(p, d.New.Hash) {
			return nil
		}
		size, again := sizes[d.New.Hash]
		if !again {
			data, err := messageData(reader, d.New.Hash)
			if err != nil {
				return err
			}
			size = len(data)
			sizes[d.New.Hash] = size
			if isMessage && s.opts.Signed(p, data) {
				return nil
			}
		}
		files++
		bytes += size
		if d.Old.Hash == objects.Zero {
			day.files++
			day.bytes += size
		}
		switch {
		case files > mostUnsigned || bytes > mostUnsignedBytes:
			return fmt.Errorf("%w: it adds more than %d files or %d MiB without the signature of a host", objects.ErrHuge, mostUnsigned, mostUnsignedBytes>>20)
		case day.files > mostFetches*mostUnsigned || day.bytes > mostFetches*mostUnsignedBytes:
			return fmt.Errorf("%w: with it, more than %d new files or %d MiB without the signature of a host came within a day",
				objects.ErrHuge, mostFetches*mostUnsigned, mostFetches*mostUnsignedBytes>>20)
		}
		return nil
	})
}

// mostBlamed bounds how many commits are looked at to find the one to blame.
const mostBlamed = 1000

// blame says which commit has brought what is too much: of those that the remote had not at the last
// fetch, the newest that changes more than half of mostUnsigned files, or else few and large ones; else
// the tip.
func (s *sharer) blame(tip objects.Hash, why error) error {
	blamed := &tooMuch{commit: tip, why: why}
	chain := s.since(tip, mostBlamed)
	for _, files := range []int{mostUnsignedBytes / protocol.MaxFile / 2, mostUnsigned / 2} {
		for i := len(chain) - 1; i > 0; i-- {
			if errors.Is(s.store.Weigh(chain[i].tree, chain[i-1].tree, files), objects.ErrHuge) {
				blamed.commit = chain[i-1].commit
			}
		}
	}
	if c, err := s.store.CommitAt(blamed.commit); err == nil {
		blamed.author = carrier.OneLine(fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email))
	}
	return blamed
}

type version struct{ commit, tree objects.Hash }

// since are a commit of the remote and its first parents, as many as asked for, down to the one that
// the remote had at the last fetch or to the empty version before all.
func (s *sharer) since(tip objects.Hash, most int) (chain []version) {
	known, _ := s.progress.remote()
	for at := tip; len(chain) <= most; {
		c, err := s.store.CommitAt(at)
		if err != nil {
			break
		}
		chain = append(chain, version{at, c.Tree})
		if at == known {
			break
		}
		if len(c.Parents) == 0 {
			return append(chain, version{})
		}
		at = c.Parents[0]
	}
	return chain
}

// unpackable names the commit of the remote of which git could not unpack what it needs.
func (s *sharer) unpackable(ctx context.Context, err error) error {
	if !errors.Is(err, objects.ErrHuge) {
		return err
	}
	heads, headsErr := s.git.Heads(ctx)
	if headsErr != nil {
		return err
	}
	return &tooMuch{commit: heads[carrier.MainBranch], why: err}
}
