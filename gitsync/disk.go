package gitsync

import (
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

// What a commit stands on, the commits before it and the folders and files that it
// did not touch, lies in files that somebody may remove while the node runs. Messages
// leave the journal only when these files are known to be there.

const (
	// lookApart is the least time between two long looks at a record that is known to
	// be damaged, and how many times as long as the last one took.
	lookApart = 2 * time.Second
	lookRest  = 20
)

// ErrDamaged says that record.git has lost a part of main.
var ErrDamaged = errors.New("record.git is damaged")

// disk is what is known of whether main lies on this disk.
type disk struct {
	store     *objects.Store
	progress  *progress
	survey    surveyor
	losses    *lossBook
	shared    bool         // there is a remote
	reunite   func() error // brings back what was lost and is there again
	fetchAnew func()       // asks the remote for what is lost
	tell      *teller
	log       zerolog.Logger

	looked time.Time // when that took long, last; who moves main guards both
	took   time.Duration

	mu  sync.Mutex // guards why
	why string     // main cannot be read, or ""
}

// check returns an error if main cannot be read from the disk, or commit, which main
// stands on or is. As long as nobody touched the files it costs some looks at their
// names, and the reading of that commit and its tree. The caller holds work.
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

// suspect has all of main looked at, where an error says that this disk lacks what
// main needs.
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

// lookAgain looks at all that main needs. why is what was seen so far; "" where main is
// known to be broken. The caller holds work.
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
	lost, err := d.survey.steadily(func() objects.Hash { return tip })
	if err != nil {
		return err
	}
	d.looked, d.took = time.Now(), time.Since(began)
	if d.isKnown(lost) {
		d.store.Settle()
		if err := d.reunite(); err != nil {
			return err
		}
		d.noteBroken("")
		return nil
	}
	if why == "" {
		why = d.broken()
	}
	if !d.shared {
		if err := d.losses.set(d.losses.now().and(lost)); err != nil {
			d.log.Error().Err(err).Msg("the next start does not know what was lost")
		}
	}
	d.noteBroken(why)
	return fmt.Errorf("%w: %s", ErrDamaged, why)
}

// isKnown reports whether all that is lost was so when the record was opened.
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

// broken says why main cannot be read from the disk, "" where it can.
func (d *disk) broken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why
}

// noteBroken keeps whether main can be read, and tells of it when that changes.
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
	if d.shared {
		d.fetchAnew()
	}
	d.tell.damaged(why)
}

// packsName is the file in record.git that lists the packs that were there when that
// was last noted. Where one of them is missing at a start, all of main is looked at.
const packsName = "parley-packs"

// packNotes keeps that file. One goroutine uses it at a time.
type packNotes struct {
	store *objects.Store
	path  string
	log   zerolog.Logger
	noted string // what stands in the file, if this run has written it
}

// hold reports whether the packs that were noted are there.
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
	return len(data) > 0 // a power cut may have left nothing of it
}

// write notes which packs are there, where that has changed. It need not survive a
// crash: what is missing then makes the next start look.
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
