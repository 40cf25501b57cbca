package gitsync

import (
	"errors"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// A git program that works in the record moves objects between files, so a look at one
// moment may miss what is there: before, it was taken for lost. A look counts once it
// finds all, or once nothing was moved while it lasted.

// steadyWithin is how long looks go on until one is not disturbed. A repack of a large
// record may take longer, but does not move files all that time. Where none succeeds
// there is an error: what would be put together from a wrong look loses messages.
const steadyWithin = 10 * time.Second

// lookSteadily is lookAt that no git program at work misleads. tip is asked before
// each look what to look at.
func (r *Record) lookSteadily(tip func() objects.Hash) (losses, error) {
	for began := time.Now(); ; {
		before := r.store.Inventory()
		if err := r.store.Rescan(); err != nil {
			return losses{}, err
		}
		lost := r.lookAt(r.store.Survey(), tip())
		switch {
		case lost.isEmpty() || r.store.Inventory() == before:
			return lost, nil
		case time.Since(began) > steadyWithin:
			return losses{}, errors.New("another program moves the files of record.git all the time, so that nobody can tell what is missing: end it and try again")
		}
	}
}
