package gitsync

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// ErrNoRemote says that something needs a remote, and there is none.
var ErrNoRemote = errors.New("the record has no remote")

// Claimed is a claim of this node.
type Claimed struct {
	Name string
	Text string    // what was said with it
	Time time.Time // time of the first try, in full seconds
}

// Claim claims a name for this node and reports whether it is this node's: of all hosts that claim
// a name at one remote, one gets it (R7). `text` says what it is for. Claim may be called again,
// also after a crash. The claim stays this node's until Unclaim. An error means that nobody knows:
// there is no remote (ErrNoRemote), or the remote does not answer clearly.
func (r *Record) Claim(ctx context.Context, name, text string) (mine bool, err error) {
	err = r.withClaims(ctx, name, func(ctx context.Context, ref string) (err error) {
		mine, err = r.share.claim(ctx, ref, text)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("cannot claim %s: %w", name, err)
	}
	return mine, nil
}

// Unclaim gives up a claim of this node. The next host that claims the name gets it.
func (r *Record) Unclaim(ctx context.Context, name string) error {
	err := r.withClaims(ctx, name, r.share.unclaim)
	if err != nil {
		return fmt.Errorf("cannot give up the claim %s: %w", name, err)
	}
	return nil
}

// withClaims calls `do` with the ref of a claim. Nothing else is fetched or pushed during that
// time.
func (r *Record) withClaims(ctx context.Context, name string, do func(ctx context.Context, ref string) error) error {
	switch {
	case r.isClosed():
		return ErrClosed
	case !carrier.IsClaim(carrier.ClaimPrefix + name):
		return fmt.Errorf("%q is no name of a claim", name)
	case !r.opts.isShared():
		return ErrNoRemote
	}
	ctx, done := r.online.during(ctx)
	defer done()
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	return do(ctx, carrier.ClaimPrefix+name)
}

// Claims are the claims of this node, and those that may be this node's without its knowing yet.
func (r *Record) Claims() ([]Claimed, error) {
	refs, err := r.store.RefsBelow(carrier.ClaimPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot read the claims: %w", err)
	}
	var all []Claimed
	for ref, h := range refs {
		c, err := r.store.CommitAt(h)
		if err != nil {
			continue // after a crash only its ref is left; it is made anew when it is claimed again
		}
		text, _, _ := strings.Cut(c.Message, claimantLine)
		all = append(all, Claimed{Name: strings.TrimPrefix(ref, carrier.ClaimPrefix), Text: strings.TrimSuffix(text, "\n"), Time: c.When})
	}
	return all, nil
}

// claim is Claim for a ref. Before it asks the remote, it keeps the commit of the claim under the
// same name in record.git. So a node that dies before the answer recognizes its own claim when it
// asks again. The caller holds mu.
func (s *sharer) claim(ctx context.Context, ref, text string) (mine bool, err error) {
	commit, ours, err := s.store.Ref(ref)
	if err != nil {
		return false, err
	}
	if ours {
		_, err = s.store.CommitAt(commit)
	}
	if !ours || err != nil {
		old := commit
		if commit, err = s.newClaim(text); err != nil {
			return false, err
		}
		if err := s.store.MoveRef(ref, old, commit); err != nil {
			return false, err
		}
	}
	holder, err := s.git.Claim(ctx, ref, commit)
	if err != nil || holder == commit {
		return err == nil, err
	}
	return false, s.store.RemoveRef(ref, commit)
}

// unclaim is Unclaim for a ref. The caller holds mu.
func (s *sharer) unclaim(ctx context.Context, ref string) error {
	commit, ours, err := s.store.Ref(ref)
	if err != nil || !ours {
		return err
	}
	if err := s.git.Unclaim(ctx, ref, commit); err != nil {
		return err
	}
	return s.store.RemoveRef(ref, commit)
}

// claimantLine begins the part of a claim's commit that makes it different from the commit of
// anybody else who claims the same name with the same text.
const claimantLine = "\n\nclaimant: "

// newClaim makes a commit that nobody else can make. It has no files and no parent.
func (s *sharer) newClaim(text string) (objects.Hash, error) {
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // it never fails
	return s.store.PutEmpty(objects.Commit{
		Author: s.main.author, Committer: s.main.author, When: s.opts.Now().UTC(),
		Message: text + claimantLine + hex.EncodeToString(nonce),
	})
}
