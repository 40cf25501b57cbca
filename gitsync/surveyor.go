package gitsync

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// A git program that works in the record moves objects between files. So a look at one moment may
// miss an object that is there, and take it for lost. A look counts if it finds everything, or if
// nothing was moved during the look.

// steadyWithin is how long looks go on until one is not disturbed. A repack of a large record may
// take longer, but it does not move files all that time. If no look succeeds, there is an error:
// what would be put together from a wrong look would lose messages.
const steadyWithin = 10 * time.Second

// surveyor looks for what a commit needs and this disk lacks.
type surveyor struct {
	store    *objects.Store
	progress *progress
	looking  func(done, total int) // Options.Looking
}

// survey begins a look at what is on the disk now.
func (s surveyor) survey(ctx context.Context) *objects.Survey {
	if s.looking == nil {
		return s.store.Survey(ctx, nil)
	}
	total := s.store.Objects()
	return s.store.Survey(ctx, func(looks int) { s.looking(min(looks, total), total) })
}

// steadily is look, except that a working git program does not mislead it. Before each look, it
// asks `tip` what to look at.
func (s surveyor) steadily(ctx context.Context, tip func() objects.Hash) (losses, error) {
	for began := time.Now(); ; {
		before := s.store.Inventory()
		if err := s.store.Rescan(); err != nil {
			return losses{}, err
		}
		v := s.survey(ctx)
		lost := s.look(v, tip())
		switch {
		case v.Err() != nil:
			return losses{}, v.Err()
		case lost.isEmpty() || s.store.Inventory() == before:
			return lost, nil
		case time.Since(began) > steadyWithin:
			return losses{}, errors.New("another program moves the files of record.git all the time, so that nobody can tell what is missing: end it and try again")
		}
	}
}

// look looks at everything that a commit needs, and names what the disk does not have. What the
// journal has is not lost.
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
