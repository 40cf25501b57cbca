package statecache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// The cache is written anew when so many messages lie in memory: one in shareLoose of all
	// messages, but at least leastLoose and at most mostLoose.
	leastLoose = 2000
	shareLoose = 50
	mostLoose  = 20_000

	freezeLook  = time.Second     // between two looks at how many there are
	freezeApart = 5 * time.Second // least time between two writings
	freezeRest  = 10              // and at least so many times as long as the last writing took

	// When the node stops, the cache is written if at least stopLoose messages lie in memory, so
	// that it is worth it, and if there are at most stopLarge in all, so that it is quick.
	stopLoose = 500
	stopLarge = 300_000
)

// errUnsettled says that the state holds something that its commit does not have yet, and that an
// archive could not show. This state passes.
var errUnsettled = errors.New("files that claim one path are not all recorded")

// Freezer brings the state into its cache.
type Freezer struct{ o FreezerOptions }

// FreezerOptions are what a Freezer works with. All are required.
type FreezerOptions struct {
	Cache   *Cache
	Record  *gitsync.Record
	Folded  folded.State
	Storing *sync.RWMutex // held for reading from the storing of messages until they are folded
	Flaws   *books.Flaws
	Holed   func() bool // reports whether a part of the record is not on the disk
	Notices *notices.Notices
	Log     zerolog.Logger
}

// NewFreezer makes a Freezer that writes nothing by itself before Start.
func NewFreezer(o FreezerOptions) *Freezer { return &Freezer{o} }

// Start writes the cache whenever enough messages have come, until `stop` is called. stop writes it
// once more, if that is quick and worth it.
func (f *Freezer) Start() (stop func()) {
	end := wait.Background(f.always)
	return func() {
		end()
		if loose, all := f.Sizes(); loose >= stopLoose && all <= stopLarge {
			f.FreezeOrSay()
		}
	}
}

func (f *Freezer) always(ctx context.Context) {
	tick := time.NewTicker(freezeLook)
	defer tick.Stop()
	next := time.Now()
	for {
		loose, all := f.Sizes()
		if began := time.Now(); !began.Before(next) && loose >= max(leastLoose, min(all/shareLoose, mostLoose)) {
			f.FreezeOrSay()
			next = time.Now().Add(max(freezeApart, freezeRest*time.Since(began)))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sizes returns how many messages the next start would not find in the cache, and how many there
// are in all.
func (f *Freezer) Sizes() (loose, all int) {
	f.o.Folded(func(s *fleet.State) {
		loose, all = s.Ledger.Loose(), s.Ledger.Len()
		if f.o.Cache.passing() {
			loose = all
		}
	})
	return loose, all
}

// FreezeOrSay writes the cache. If that fails, it warns: everything works without the cache, but a
// start takes longer.
func (f *Freezer) FreezeOrSay() {
	began := time.Now()
	err := f.Freeze()
	const about = "the cache of the state"
	switch {
	case err == nil:
		f.o.Notices.Mended(about)
		f.o.Log.Debug().Int("messages", f.o.Folded.Size()).Dur("took", time.Since(began)).Msg("the cache of the state was written")
	case !errors.Is(err, errUnsettled):
		f.o.Notices.Wrong(about, "cannot write the cache of the state, starts will take longer: %v", err)
	}
}

// FreezeLong writes the cache if a start without it would take long, and reports whether it would.
func (f *Freezer) FreezeLong() bool {
	long := f.o.Folded.Size() >= leastLoose
	if long {
		f.FreezeOrSay()
	}
	return long
}

// Freeze brings what lies in memory into the cache, as far as it is in main. What main holds is
// also folded. Its messages have all been told by the record, and a writer that has stored others
// has taken them in.
func (f *Freezer) Freeze() error {
	tip, err := f.o.Record.Told()
	if err != nil {
		return err
	}
	files, err := f.o.Record.FilesOf(tip)
	if err != nil {
		return err
	}
	var sn *fleet.Snapshot
	var flaws []books.Flaw
	var holed bool
	f.o.Storing.Lock()
	f.o.Folded(func(s *fleet.State) { sn, flaws, holed = s.Snapshot(), f.o.Flaws.List(), f.o.Holed() })
	f.o.Storing.Unlock()
	if holed {
		return errUnsettled // what is missing would be missing in the cache once it is back
	}
	whole := sn.Only(func(p protocol.Path, hash string, contested bool) (kept bool) {
		if err == nil {
			kept, err = isIn(files, p, hash, contested)
		}
		return kept
	})
	if err == nil && !whole {
		err = errUnsettled
	}
	if err != nil {
		return err
	}
	made, err := f.o.Cache.write(f.o.Record.ID(), sn, stamp{Tip: tip, Flaws: flaws}, true)
	if err != nil {
		return err
	}
	return f.adopt(made, sn)
}

// isIn reports whether a file of the state is one of the files of a commit. If no other file claims
// its path, the file at that path is this one.
func isIn(files *gitsync.Files, p protocol.Path, hash string, contested bool) (bool, error) {
	if contested {
		return files.Keep(p, hash)
	}
	return files.Have(p)
}

// adopt has the state use an archive instead of what the archive was made of.
func (f *Freezer) adopt(made archived, sn *fleet.Snapshot) (err error) {
	f.o.Folded(func(s *fleet.State) {
		s.Adopt(made.archive, sn)
		err = f.o.Cache.use(made)
	})
	return err
}

// thin brings what lies in memory into an archive that lasts as long as the process. If that fails,
// it stays in memory, and thin returns false.
func (f *Freezer) thin() bool {
	var sn *fleet.Snapshot
	f.o.Folded(func(s *fleet.State) { sn = s.Snapshot() })
	made, err := f.o.Cache.write(f.o.Record.ID(), sn, stamp{}, false)
	if err != nil {
		f.o.Log.Warn().Err(err).Msg("cannot write the cache of the state; the record takes memory instead")
		return false
	}
	if err := f.adopt(made, sn); err != nil {
		f.o.Log.Warn().Err(err).Msg("an old cache of the state is not removed")
	}
	return true
}
