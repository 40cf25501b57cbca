package gitsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	// refillApart is the least time between two times that everything is fetched anew.
	refillApart = time.Minute
	// refillRest is how many times as long as the last time took it is where the remote
	// had not all that is lost: it is asked as long as nobody gives that up.
	refillRest = 60
)

// refill brings back what this disk has lost while the node runs: it fetches all that
// the remote has, whatever git believes to have of it, and makes main of that and of
// what can be read here. What the remote lacks is in the journal and goes in again. The
// caller holds share.
func (r *Record) refill(ctx context.Context) error {
	apart := refillApart
	if r.disk.broken() == "" {
		apart = max(apart, refillRest*r.refillTook)
	}
	if r.disk.broken() == "" && len(r.Lost()) == 0 || time.Since(r.refilledAt) < apart {
		return nil
	}
	began := time.Now()
	if err := completeRepository(r.dir, r.log); err != nil {
		return err
	}
	r.store.Hold()
	err := r.mender.takeAll(ctx)
	if err == nil {
		r.refilledAt, r.refillTook = time.Now(), time.Since(began)
		r.main.work.Lock()
		err = r.takeInRefilled()
		r.main.work.Unlock()
	}
	if err = errors.Join(err, r.store.Release()); err != nil {
		return fmt.Errorf("cannot bring back what this disk has lost: %w", err)
	}
	return nil
}

// takeInRefilled makes main anew and tells what the remote had besides. The caller
// holds work.
func (r *Record) takeInRefilled() error {
	tip, _ := r.progress.main()
	lost := r.losses.now()
	lacking, err := r.salvor.refilled(tip)
	if err != nil {
		return err
	}
	next, ok, err := r.store.Ref(carrier.MainRef)
	if err == nil && !ok {
		next, err = tip, r.refs.moveMain(objects.Zero, tip)
	}
	if err != nil {
		return err
	}
	tree, err := r.store.TreeOf(next)
	if err != nil {
		return err
	}
	// What main was cannot be compared with: all that the remote did not have when it
	// was last looked at may be new. What is known already is nothing.
	_, known := r.progress.remote()
	if err := r.progress.unrecord(tree); err != nil {
		return err
	}
	if err := r.main.movedFrom(known, next, tree); err != nil {
		return err
	}
	r.tell.arrived(r.returned(lost, tree))
	r.remains = &lacking
	return r.progress.settle()
}

// endLoss says that what the disk had lost is in main again, once the remote's main is
// taken in after everything was fetched anew: not before, because what is missing until
// then may say what agents have done. Messages that are not there stay lost. The caller
// holds share and work.
func (r *Record) endLoss() error {
	if r.remains == nil {
		return nil
	}
	tree := r.progress.mainTree()
	for file := range r.losses.now().files {
		p, isMessage := messagePath(file)
		if !isMessage || r.progress.isHeld(p) {
			continue
		}
		if _, ok, err := r.store.Lookup(tree, file); err != nil || !ok {
			r.remains.files[file] = true
		}
	}
	if err := r.losses.set(*r.remains); err != nil {
		return err
	}
	r.remains = nil
	r.disk.noteBroken("")
	r.tell.damaged("") // even where it was not broken: what was lost is there
	return nil
}

// returned are the messages among files that were lost and are there again.
func (r *Record) returned(lost losses, tree objects.Hash) (all []arrival) {
	for file := range lost.files {
		p, isMessage := messagePath(file)
		if e, ok, err := r.store.Lookup(tree, file); isMessage && err == nil && ok && r.store.Has(e.Hash) {
			all = append(all, arrival{path: p, blob: e.Hash})
		}
	}
	return all
}
