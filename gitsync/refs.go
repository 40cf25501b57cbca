package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// tipName is the file in record.git with the last commit to which main was moved, or was about to
// be. A crash of the system can leave a ref empty; this file says what the ref named.
const tipName = "parley-tip"

// refs are the refs of record.git. They say where main and the remote's main are, even after a
// crash or after somebody has broken them.
type refs struct {
	store *objects.Store
	tell  *teller
	log   zerolog.Logger
}

func (f *refs) moveMain(current, next objects.Hash) error {
	if err := f.noteTip(next); err != nil {
		return err
	}
	failpoint.Hit(failpoint.TipNoted)
	return f.store.MoveRef(carrier.MainRef, current, next)
}

func (f *refs) noteTip(tip objects.Hash) error {
	if err := objects.WriteFile(filepath.Join(f.store.Dir(), tipName), []byte(tip.String()+"\n")); err != nil {
		return fmt.Errorf("cannot note where main goes: %w", err)
	}
	return nil
}

func (f *refs) resetMain(tip objects.Hash) error {
	if err := f.noteTip(tip); err != nil {
		return err
	}
	if err := f.store.ResetRef(carrier.MainRef, tip); err != nil {
		return fmt.Errorf("cannot put main together: %w", err)
	}
	return nil
}

// healMain puts main back if its ref does not name a commit that is there: to the commit to which
// it was last moved. If that cannot be read either, restoreMain goes on.
func (f *refs) healMain() error {
	trouble := f.brokenMain()
	if trouble == "" {
		main, _, err := f.store.Ref(carrier.MainRef)
		if err != nil {
			return err
		}
		tip := f.notedTip()
		if tip == main || !f.isTip(tip) {
			return nil
		}
		if _, shared, err := f.store.MergeBase(main, tip); err != nil || shared {
			return nil
		}
		return f.putForeignAside(main, tip)
	}
	noted := f.notedTip()
	if !f.isTip(noted) {
		f.log.Error().Msg("main was broken (" + trouble + "), and so is the commit that it was moved to last")
		return nil
	}
	if err := f.store.ResetRef(carrier.MainRef, noted); err != nil {
		return fmt.Errorf("cannot put main back: %w", err)
	}
	f.log.Warn().Stringer("commit", noted).Msg("main was broken (" + trouble + "); it is put back")
	return nil
}

// notedTip is the commit to which main was last moved, or was about to be. It is Zero if nobody
// knows.
func (f *refs) notedTip() objects.Hash {
	data, err := os.ReadFile(filepath.Join(f.store.Dir(), tipName))
	if text := strings.TrimSpace(string(data)); err == nil && plumbing.IsHash(text) {
		return plumbing.NewHash(text)
	}
	return objects.Zero
}

// foreignPrefix begins the refs that keep histories which somebody put in the place of main and
// which are not this record's.
const foreignPrefix = "refs/parley/foreign-"

// putForeignAside moves main back to `tip` from `foreign`, a commit of another history. That commit
// stays in the repository.
func (f *refs) putForeignAside(foreign, tip objects.Hash) error {
	kept := foreignPrefix + brief(foreign)
	if _, there, err := f.store.Ref(kept); err != nil {
		return err
	} else if !there {
		if err := f.store.MoveRef(kept, objects.Zero, foreign); err != nil {
			return err
		}
	}
	f.tell.notice("main of record.git was moved to %s, another history than that of the record: it is put back, and that is kept as %s",
		brief(foreign), kept)
	return f.moveMain(foreign, tip)
}

// healRemote forgets what is remembered of the remote if that is broken. The next fetch brings it
// again.
func (f *refs) healRemote() error {
	for _, ref := range []string{carrier.RemoteRef, carrier.FetchedRef} {
		tip, ok, err := f.store.Ref(ref)
		if err == nil && (!ok || f.isTip(tip)) {
			continue
		}
		if err := f.store.DropRef(ref); err != nil {
			return err
		}
		f.log.Warn().Msg(ref + " was broken; the next fetch brings it again")
	}
	return nil
}

// brokenMain says what is wrong with main. It is "" if main is whole.
func (f *refs) brokenMain() string {
	tip, ok, err := f.store.Ref(carrier.MainRef)
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return "it does not exist"
	case !f.isTip(tip):
		return "it names " + tip.String() + ", which cannot be read"
	}
	return ""
}

// isTip reports whether a commit and its tree can be read.
func (f *refs) isTip(h objects.Hash) bool {
	if h == objects.Zero {
		return false
	}
	tree, err := f.store.TreeOf(h)
	if err != nil {
		return false
	}
	_, err = f.store.Tree(tree)
	return err == nil
}

// clearWay removes what may keep a fetch from succeeding: locks that a killed git has left, and a
// note of the last fetch that cannot be read. It also makes the files without which git does not
// take a folder for a repository. Nobody else may move carrier.FetchedRef during that time.
func (f *refs) clearWay() {
	removed, err := f.store.RemoveStaleLock(carrier.FetchedRef)
	if err == nil && removed {
		f.log.Warn().Msg("removed the stale lock of " + carrier.FetchedRef)
	}
	did, otherErr := f.store.RemoveForgottenLocks()
	for _, what := range did {
		f.log.Warn().Msg("record tidied: " + what)
	}
	if err := errors.Join(err, otherErr, completeRepository(f.store.Dir(), f.log), f.healRemote()); err != nil {
		f.log.Warn().Err(err).Msg("cannot clear the way for the next fetch")
	}
}
