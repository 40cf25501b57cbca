package gitsync

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// What a commit stands on, the commits before it and the folders and files that it
// did not touch, lies in files that somebody may remove while the node runs. Letters
// leave the journal only when these files are known to be there.

const (
	// lookApart is the least time between two long looks at a record that is known to
	// be damaged, and how many times as long as the last one took.
	lookApart = 2 * time.Second
	lookRest  = 20
)

// ErrDamaged says that record.git has lost a part of main.
var ErrDamaged = errors.New("record.git is damaged")

// standing is what is known of whether main lies on this disk; work guards it but for
// what state has of it.
type standing struct {
	looked time.Time // when that took long, last
	took   time.Duration
}

// stands returns an error if main cannot be read from the disk, or commit, which main
// stands on or is. As long as nobody touched the files it costs some looks at their
// names, and the reading of that commit and its tree. The caller holds work.
func (r *Record) stands(commit objects.Hash) error {
	why, err := r.store.Shaken()
	if err == nil {
		err = r.store.Fresh(commit)
	}
	switch {
	case err != nil && why == "":
		why = err.Error()
	case err == nil && why == "" && r.broken() == "":
		return nil
	}
	return r.lookAgain(why)
}

// suspect has all of main looked at, where an error says that this disk lacks what
// main needs.
func (r *Record) suspect(failure error) {
	if !objects.IsDamage(failure) && !containsAny(carrier.Output(failure), damageSigns) {
		return
	}
	if time.Since(r.standing.looked) < max(refillApart, lookRest*r.standing.took) {
		return
	}
	if err := r.lookAgain(failure.Error()); err != nil {
		r.log.Debug().Err(err).Msg("everything is to be fetched anew")
	}
}

// damageSigns are what the git program says of a repository that lacks something.
var damageSigns = []string{
	"bad object", "bad tree object", "missing blob", "missing tree", "unable to read", "could not parse", "unable to parse",
	"did not send all necessary objects", "is corrupt", "unresolved delta", "Could not read ",
}

// lookAgain looks at all that main needs. why is what was seen so far; "" where main is
// known to be broken. The caller holds work.
func (r *Record) lookAgain(why string) error {
	tip, _ := r.progress.main()
	if known := r.broken(); known != "" && time.Since(r.standing.looked) < max(lookApart, lookRest*r.standing.took) {
		return fmt.Errorf("%w: %s", ErrDamaged, known)
	}
	began := time.Now()
	did, err := r.store.RepairPacks()
	for _, what := range did {
		r.log.Warn().Msg("record mended: " + what)
	}
	if err != nil {
		r.log.Warn().Err(err).Msg("the record is not wholly mended")
	}
	lost, err := r.lookSteadily(func() objects.Hash { return tip })
	if err != nil {
		return err
	}
	r.standing.looked, r.standing.took = time.Now(), time.Since(began)
	if r.isKnown(lost) {
		r.store.Settle()
		if err := r.reunite(); err != nil {
			return err
		}
		r.noteBroken("")
		return nil
	}
	if why == "" {
		why = r.broken()
	}
	if r.opts.Remote == "" {
		if err := r.losses.set(r.losses.now().and(lost)); err != nil {
			r.log.Error().Err(err).Msg("the next start does not know what was lost")
		}
	}
	r.noteBroken(why)
	return fmt.Errorf("%w: %s", ErrDamaged, why)
}

// lookAt looks at all that a commit needs and names what the disk does not have of it.
// What the journal has is not lost.
func (r *Record) lookAt(v *objects.Survey, tip objects.Hash) losses {
	lost := newLosses()
	tree, ok := v.TreeOf(tip)
	if _, unbroken := v.Unbroken(tip); !ok || !unbroken {
		lost.tips[tip] = true
	}
	if !ok {
		lost.folders[""] = true
		return lost
	}
	held := r.progress.heldBlobs()
	v.Lost(tree, func(path string, h objects.Hash, isFolder bool) {
		switch {
		case isFolder:
			lost.folders[path], lost.tips[tip] = true, true
		case !held[h] && !strings.ContainsRune(path, '\n'):
			lost.files[path] = true
		}
	})
	return lost
}

// isKnown reports whether all that is lost was so when the record was opened.
func (r *Record) isKnown(now losses) bool {
	if len(now.folders)+len(now.tips) > 0 {
		return false
	}
	known := r.losses.now()
	for file := range now.files {
		if !known.files[file] {
			return false
		}
	}
	return true
}

// broken says why main cannot be read from the disk, "" where it can.
func (r *Record) broken() string {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	return r.state.broken
}

// notePacks notes which packs are there, while all of main is.
func (r *Record) notePacks() {
	if r.broken() == "" {
		r.packs.write()
	}
}

// noteBroken keeps whether main can be read, and tells of it when that changes.
func (r *Record) noteBroken(why string) {
	r.state.mu.Lock()
	before := r.state.broken
	r.state.broken = why
	r.state.mu.Unlock()
	if (before == "") == (why == "") {
		return
	}
	if why == "" {
		r.log.Info().Msg("main can be read from the disk again")
	} else {
		r.log.Error().Msg("a part of main is not on the disk any more: " + why)
	}
	if r.opts.Remote != "" {
		ring(r.fetchBell)
	}
	r.tell.damaged(why)
}
