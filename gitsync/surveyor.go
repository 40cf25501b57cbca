package gitsync

import (
	"errors"
	"strings"
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

// surveyor looks for what this disk lacks of what a commit needs.
type surveyor struct {
	store    *objects.Store
	progress *progress
}

// steadily is look that no git program at work misleads. tip is asked before
// each look what to look at.
func (s surveyor) steadily(tip func() objects.Hash) (losses, error) {
	for began := time.Now(); ; {
		before := s.store.Inventory()
		if err := s.store.Rescan(); err != nil {
			return losses{}, err
		}
		lost := s.look(s.store.Survey(), tip())
		switch {
		case lost.isEmpty() || s.store.Inventory() == before:
			return lost, nil
		case time.Since(began) > steadyWithin:
			return losses{}, errors.New("another program moves the files of record.git all the time, so that nobody can tell what is missing: end it and try again")
		}
	}
}

// look looks at all that a commit needs and names what the disk does not have of it.
// What the journal has is not lost.
func (s surveyor) look(v *objects.Survey, tip objects.Hash) losses {
	lost := newLosses()
	tree, ok := v.TreeOf(tip)
	if _, unbroken := v.Unbroken(tip); !ok || !unbroken {
		lost.tips[tip] = true
	}
	if !ok {
		lost.folders[""] = true
		return lost
	}
	held := s.progress.heldBlobs()
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
