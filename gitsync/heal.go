package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// tipName is the file in record.git that holds the last commit that main was
// moved to, or was about to be. A crash of the system can leave a ref empty; this
// file says what it named.
const tipName = "parley-tip"

// moveMain moves main from current to next.
func (r *Record) moveMain(current, next objects.Hash) error {
	if err := objects.WriteFile(filepath.Join(r.dir, tipName), []byte(next.String()+"\n")); err != nil {
		return fmt.Errorf("cannot note where main goes: %w", err)
	}
	failpoint.Hit(failpoint.TipNoted)
	return r.store.MoveRef(mainRef, current, next)
}

// healMain puts main back where its ref does not hold the name of a commit that
// is there: to the latest of the commits that are known to have been its tip.
// Where there is none it leaves the ref alone, and opening the record says why.
func (r *Record) healMain() error {
	trouble := r.brokenMain()
	if trouble == "" {
		return r.healForeign()
	}
	best := objects.Zero
	for _, candidate := range r.knownTips() {
		if r.isTip(candidate) && (best == objects.Zero || r.isBehind(best, candidate)) {
			best = candidate
		}
	}
	if best == objects.Zero {
		r.log.Error().Msg("main is broken (" + trouble + ") and nothing says what it was")
		return nil
	}
	if err := r.store.ResetRef(mainRef, best); err != nil {
		return fmt.Errorf("cannot put main back: %w", err)
	}
	r.log.Warn().Stringer("commit", best).Msg("main was broken (" + trouble + "); it is put back")
	return nil
}

// healForeign puts main back where it shares no commit with what this program moved
// it to last: somebody rewrote it from its beginning while the node was down.
func (r *Record) healForeign() error {
	main, _, err := r.store.Ref(mainRef)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(r.dir, tipName))
	noted := strings.TrimSpace(string(data))
	if err != nil || noted == main.String() || !plumbing.IsHash(noted) || !r.isTip(plumbing.NewHash(noted)) {
		return nil
	}
	tip := plumbing.NewHash(noted)
	if _, shared, err := r.store.MergeBase(main, tip); err != nil || shared {
		return nil
	}
	return r.putForeignAside(main, tip)
}

// foreignPrefix begins the refs under which histories are kept that somebody put in
// the place of main and that are not this record's.
const foreignPrefix = "refs/parley/foreign-"

// putForeignAside moves main back to tip from a commit of another history, which
// stays in the repository.
func (r *Record) putForeignAside(foreign, tip objects.Hash) error {
	kept := foreignPrefix + brief(foreign)
	if _, there, err := r.store.Ref(kept); err != nil {
		return err
	} else if !there {
		if err := r.store.MoveRef(kept, objects.Zero, foreign); err != nil {
			return err
		}
	}
	r.notice("main of record.git was moved to %s, another history than that of the record: it is put back, and that is kept as %s",
		brief(foreign), kept)
	return r.moveMain(foreign, tip)
}

// healRemote forgets what is remembered of the remote where that is broken: the
// next fetch brings it again.
func (r *Record) healRemote() error {
	for _, ref := range []string{remoteRef, fetchedRef} {
		tip, ok, err := r.store.Ref(ref)
		if err == nil && (!ok || r.isTip(tip)) {
			continue
		}
		if err := r.store.DropRef(ref); err != nil {
			return err
		}
		r.log.Warn().Msg(ref + " was broken; the next fetch brings it again")
	}
	return nil
}

// brokenMain says what is wrong with main, "" where it is whole.
func (r *Record) brokenMain() string {
	tip, ok, err := r.store.Ref(mainRef)
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return "it does not exist"
	case !r.isTip(tip):
		return "it names " + tip.String() + ", which cannot be read"
	}
	return ""
}

// knownTips are the commits that main may have named last.
func (r *Record) knownTips() []objects.Hash {
	var tips []objects.Hash
	if data, err := os.ReadFile(filepath.Join(r.dir, tipName)); err == nil {
		if text := strings.TrimSpace(string(data)); plumbing.IsHash(text) {
			tips = append(tips, plumbing.NewHash(text))
		}
	}
	for _, ref := range []string{remoteRef, fetchedRef} {
		if tip, ok, err := r.store.Ref(ref); err == nil && ok {
			tips = append(tips, tip)
		}
	}
	return tips
}

// isTip reports whether a commit and its tree can be read.
func (r *Record) isTip(h objects.Hash) bool {
	tree, err := r.store.TreeOf(h)
	if err != nil {
		return false
	}
	_, err = r.store.Tree(tree)
	return err == nil
}

func (r *Record) isBehind(old, new objects.Hash) bool {
	yes, err := r.store.IsAncestor(old, new)
	return err == nil && yes
}

// clearWay removes what may keep a fetch from succeeding: locks that a killed git
// left, and a note of the last fetch that cannot be read. The caller holds share,
// and nobody else moves fetchedRef.
func (r *Record) clearWay() {
	removed, err := r.store.RemoveStaleLock(fetchedRef)
	if err == nil && removed {
		r.log.Warn().Msg("removed the stale lock of " + fetchedRef)
	}
	did, otherErr := r.store.RemoveForgottenLocks()
	for _, what := range did {
		r.log.Warn().Msg("record tidied: " + what)
	}
	if err := errors.Join(err, otherErr, r.healRemote()); err != nil {
		r.log.Warn().Err(err).Msg("cannot clear the way for the next fetch")
	}
}
