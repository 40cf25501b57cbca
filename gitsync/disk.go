package gitsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// A commit depends on the commits before it, and on the folders and files that it did not touch.
// All these lie in files that somebody may remove while the node runs. Messages leave the journal
// only if these files are known to be there.

const (
	// Two long looks at a record that is known to be damaged are at least lookApart apart, and
	// lookRest times as long as the last one took.
	lookApart = 2 * time.Second
	lookRest  = 20
)

// ErrDamaged says that record.git has lost a part of main.
var ErrDamaged = errors.New("record.git is damaged")

// disk is what is known about whether main is complete on this disk.
type disk struct {
	store     *objects.Store
	progress  *progress
	survey    surveyor
	losses    *lossBook
	shared    func() bool                 // there is a remote
	reunite   func(context.Context) error // brings back what was lost, if it is there again
	fetchAnew func()                      // asks the remote for what is lost
	tell      *teller
	log       zerolog.Logger

	looked time.Time // time of the last long look, and how long it took; whoever moves main guards both
	took   time.Duration

	mu  sync.Mutex // guards why
	why string     // why main cannot be read, or ""
}

// check returns an error if main, or the commit `commit`, cannot be read from the disk. That commit
// is main, or main depends on it. As long as nobody has touched the files, this only looks at some
// names, and reads that commit and its tree. The caller holds work.
func (d *disk) check(commit objects.Hash) error {
	why, err := d.store.Shaken()
	if err == nil {
		err = d.store.Fresh(commit)
	}
	switch {
	case err != nil && why == "":
		why = err.Error()
	case err == nil && why == "" && d.broken() == "":
		return nil
	}
	return d.lookAgain(why)
}

// suspect has all of main looked at if `failure` says that this disk lacks something that main
// needs.
func (d *disk) suspect(failure error) {
	if !objects.IsDamage(failure) && !containsAny(carrier.Output(failure), damageSigns) {
		return
	}
	if time.Since(d.looked) < max(refillApart, lookRest*d.took) {
		return
	}
	if err := d.lookAgain(failure.Error()); err != nil {
		d.log.Debug().Err(err).Msg("everything is to be fetched anew")
	}
}

// damageSigns are what the git program says of a repository that lacks something.
var damageSigns = []string{
	"bad object", "bad tree object", "missing blob", "missing tree", "unable to read", "could not parse", "unable to parse",
	"did not send all necessary objects", "is corrupt", "unresolved delta", "Could not read ",
}

// lookAgain looks at everything that main needs. `why` is what was seen so far; it is "" if main is
// already known to be broken. The caller holds work.
func (d *disk) lookAgain(why string) error {
	tip, _ := d.progress.main()
	if known := d.broken(); known != "" && time.Since(d.looked) < max(lookApart, lookRest*d.took) {
		return fmt.Errorf("%w: %s", ErrDamaged, known)
	}
	began := time.Now()
	did, err := d.store.RepairPacks()
	for _, what := range did {
		d.log.Warn().Msg("record mended: " + what)
	}
	if err != nil {
		d.log.Warn().Err(err).Msg("the record is not wholly mended")
	}
	lost, err := d.survey.steadily(context.Background(), func() objects.Hash { return tip })
	if err != nil {
		return err
	}
	d.looked, d.took = time.Now(), time.Since(began)
	if d.isKnown(lost) {
		d.store.Settle()
		if err := d.reunite(context.Background()); err != nil {
			return err
		}
		d.noteBroken("")
		return nil
	}
	if why == "" {
		why = d.broken()
	}
	if !d.shared() {
		if err := d.losses.set(d.losses.now().and(lost)); err != nil {
			d.log.Error().Err(err).Msg("the next start does not know what was lost")
		}
	}
	d.noteBroken(why)
	return fmt.Errorf("%w: %s", ErrDamaged, why)
}

// isKnown reports whether everything that is lost is already noted as lost.
func (d *disk) isKnown(now losses) bool {
	if len(now.folders)+len(now.tips) > 0 {
		return false
	}
	known := d.losses.now()
	for file := range now.files {
		if !known.files[file] {
			return false
		}
	}
	return true
}

// lost reports whether a file of main is lost.
func (d *disk) lost(file string) bool { return d.losses.now().files[file] }

func (d *disk) madeAnew(files map[string][]byte) {
	lost := d.losses.now()
	before := len(lost.files)
	for file := range files {
		delete(lost.files, file)
	}
	if len(lost.files) == before {
		return
	}
	if err := d.losses.set(lost); err != nil {
		d.log.Error().Err(err).Msg("the next start takes what was made anew for lost")
	}
	d.tell.damaged(d.broken())
}

// broken says why main cannot be read from the disk. It is "" if main can be read.
func (d *disk) broken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why
}

// noteBroken notes whether main can be read. If that has changed, it logs it, tells
// Events.Damaged, and asks the remote for what is lost.
func (d *disk) noteBroken(why string) {
	d.mu.Lock()
	before := d.why
	d.why = why
	d.mu.Unlock()
	if (before == "") == (why == "") {
		return
	}
	if why == "" {
		d.log.Info().Msg("main can be read from the disk again")
	} else {
		d.log.Error().Msg("a part of main is not on the disk any more: " + why)
	}
	if d.shared() {
		d.fetchAnew()
	}
	d.tell.damaged(why)
}

// packsName is the file in record.git that lists the packs that were there at the last note. If one
// of them is missing at a start, all of main is looked at.
const packsName = "parley-packs"

// packNotes writes and reads that file. Only one goroutine uses it at a time.
type packNotes struct {
	store *objects.Store
	path  string
	log   zerolog.Logger
	noted string // what the file says, if this run has written it
}

// hold reports whether all noted packs are there.
func (n *packNotes) hold() bool {
	data, err := os.ReadFile(n.path)
	if err != nil {
		return false
	}
	there := n.store.WholePacks()
	for line := range strings.Lines(string(data)) {
		var name string
		var size int64
		if _, err := fmt.Sscanf(line, "%s %d", &name, &size); err != nil {
			return false
		}
		if now, ok := there[name]; !ok || now != size {
			return false
		}
	}
	return len(data) > 0 // after a power cut the file may be empty
}

// write notes which packs are there, if that has changed. The file need not survive a crash: if it
// is missing, the next start looks at everything.
func (n *packNotes) write() {
	packs := n.store.SealedPacks()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		fmt.Fprintf(&text, "%s %d\n", name, packs[name])
	}
	if text.String() == n.noted {
		return
	}
	n.noted = text.String()
	if err := os.WriteFile(n.path, []byte(n.noted), 0o644); err != nil {
		n.log.Info().Err(err).Msg("the packs are not noted: the next start looks at all of main")
	}
}
