package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/carrier"
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
	return r.store.MoveRef(carrier.MainRef, current, next)
}

// healMain puts main back where its ref does not hold the name of a commit that is
// there: to the commit that it was moved to last. Where that cannot be read either,
// restoreMain goes on.
func (r *Record) healMain() error {
	trouble := r.brokenMain()
	if trouble == "" {
		return r.healForeign()
	}
	noted := r.notedTip()
	if !r.isTip(noted) {
		r.log.Error().Msg("main was broken (" + trouble + "), and so is the commit that it was moved to last")
		return nil
	}
	if err := r.store.ResetRef(carrier.MainRef, noted); err != nil {
		return fmt.Errorf("cannot put main back: %w", err)
	}
	r.log.Warn().Stringer("commit", noted).Msg("main was broken (" + trouble + "); it is put back")
	return nil
}

// notedTip is the commit that main was moved to last, or was about to be; Zero where
// nobody knows.
func (r *Record) notedTip() objects.Hash {
	data, err := os.ReadFile(filepath.Join(r.dir, tipName))
	if text := strings.TrimSpace(string(data)); err == nil && plumbing.IsHash(text) {
		return plumbing.NewHash(text)
	}
	return objects.Zero
}

// healForeign puts main back where it shares no commit with what this program moved
// it to last: somebody rewrote it from its beginning while the node was down.
func (r *Record) healForeign() error {
	main, _, err := r.store.Ref(carrier.MainRef)
	if err != nil {
		return err
	}
	tip := r.notedTip()
	if tip == main || !r.isTip(tip) {
		return nil
	}
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
	r.tell.notice("main of record.git was moved to %s, another history than that of the record: it is put back, and that is kept as %s",
		brief(foreign), kept)
	return r.moveMain(foreign, tip)
}

// healRemote forgets what is remembered of the remote where that is broken: the
// next fetch brings it again.
func (r *Record) healRemote() error {
	for _, ref := range []string{carrier.RemoteRef, carrier.FetchedRef} {
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
	tip, ok, err := r.store.Ref(carrier.MainRef)
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

// isTip reports whether a commit and its tree can be read.
func (r *Record) isTip(h objects.Hash) bool {
	if h == objects.Zero {
		return false
	}
	tree, err := r.store.TreeOf(h)
	if err != nil {
		return false
	}
	_, err = r.store.Tree(tree)
	return err == nil
}

// clearWay puts right what may keep a fetch from succeeding: locks that a killed git
// left, files that git takes no folder for a repository without, and a note of the last fetch that cannot be read. The caller holds share,
// and nobody else moves carrier.FetchedRef.
func (r *Record) clearWay() {
	removed, err := r.store.RemoveStaleLock(carrier.FetchedRef)
	if err == nil && removed {
		r.log.Warn().Msg("removed the stale lock of " + carrier.FetchedRef)
	}
	did, otherErr := r.store.RemoveForgottenLocks()
	for _, what := range did {
		r.log.Warn().Msg("record tidied: " + what)
	}
	if err := errors.Join(err, otherErr, completeRepository(r.dir, r.log), r.healRemote()); err != nil {
		r.log.Warn().Err(err).Msg("cannot clear the way for the next fetch")
	}
}
