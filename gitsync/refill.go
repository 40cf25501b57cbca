package gitsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	// refillApart is the least time between two times that everything is fetched anew.
	refillApart = time.Minute
	// refillRest is how long to wait before the remote is asked again, if it did not have
	// everything that is lost: that many times what the last time took. It is asked again until
	// somebody accepts the loss.
	refillRest = 60
)

// refiller brings back from the remote what this disk has lost while the node runs. Only one
// goroutine uses it at a time.
type refiller struct {
	store    *objects.Store
	refs     *refs
	progress *progress
	main     *mainline
	disk     *disk
	losses   *lossBook
	salvor   *salvor
	mender   *mender
	tell     *teller
	log      zerolog.Logger

	at      time.Time // when everything was last fetched anew
	took    time.Duration
	remains *losses // what main lacked after that, until the remote is taken in
}

// refill brings back, while the node runs, what this disk has lost. It fetches everything that the
// remote has, whatever git believes to have already. It makes main of that and of what can be read
// here. What the remote lacks is in the journal, and is committed again.
func (f *refiller) refill(ctx context.Context) error {
	apart := refillApart
	if f.disk.broken() == "" {
		apart = max(apart, refillRest*f.took)
	}
	if f.disk.broken() == "" && !f.losses.now().areNamed() || time.Since(f.at) < apart {
		return nil
	}
	began := time.Now()
	if err := completeRepository(f.store.Dir(), f.log); err != nil {
		return err
	}
	f.store.Hold()
	err := f.mender.takeAll(ctx)
	if err == nil {
		f.at, f.took = time.Now(), time.Since(began)
		f.main.work.Lock()
		err = f.takeInRefilled(ctx)
		f.main.work.Unlock()
	}
	if err = errors.Join(err, f.store.Release()); err != nil {
		return fmt.Errorf("cannot bring back what this disk has lost: %w", err)
	}
	return nil
}

// takeInRefilled makes main anew, and reports what else the remote had. The caller holds work.
func (f *refiller) takeInRefilled(ctx context.Context) error {
	tip, _ := f.progress.main()
	lost := f.losses.now()
	lacking, err := f.salvor.refilled(ctx, tip)
	if err != nil {
		return err
	}
	next, ok, err := f.store.Ref(carrier.MainRef)
	if err == nil && !ok {
		next, err = tip, f.refs.moveMain(objects.Zero, tip)
	}
	if err != nil {
		return err
	}
	tree, err := f.store.TreeOf(next)
	if err != nil {
		return err
	}
	// The old main is no basis for a comparison: everything that the remote did not have at the
	// last look may be new. Reporting a message that is known already does no harm.
	_, known := f.progress.remote()
	if err := f.progress.unrecord(tree); err != nil {
		return err
	}
	if err := f.main.movedFrom(known, next, tree); err != nil {
		return err
	}
	f.tell.arrived(f.returned(lost, tree))
	f.remains = &lacking
	return f.progress.settle()
}

// endLoss says that what the disk had lost is in main again. That is so when everything was fetched
// anew and the remote's main is taken in. Before that, something that is still missing may say what
// agents have done. Messages that are not there then stay lost. The caller holds sharer.mu and
// work.
func (f *refiller) endLoss(ctx context.Context) error {
	if f.remains == nil {
		return nil
	}
	tree := f.progress.mainTree()
	for file := range f.losses.now().files {
		p, isMessage := messagePath(file)
		if !isMessage || f.progress.isHeld(p) {
			continue
		}
		if _, ok, err := f.store.Lookup(tree, file); err != nil || !ok {
			f.remains.files[file] = true
		}
	}
	f.remains.entries = f.losses.now().entries
	if err := f.losses.set(*f.remains); err != nil {
		return err
	}
	if err := f.salvor.acceptBooks(ctx); err != nil {
		return err
	}
	f.remains = nil
	f.disk.noteBroken("")
	f.tell.damaged("") // even if main was not broken, because what was lost is there
	return nil
}

// returned are the messages among the lost files that are there again.
func (f *refiller) returned(lost losses, tree objects.Hash) (all []arrival) {
	for file := range lost.files {
		p, isMessage := messagePath(file)
		if e, ok, err := f.store.Lookup(tree, file); isMessage && err == nil && ok && f.store.Has(e.Hash) {
			all = append(all, arrival{path: p, blob: e.Hash})
		}
	}
	return all
}
