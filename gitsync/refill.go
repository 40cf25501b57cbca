package gitsync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/journal"
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
	if r.broken() == "" {
		apart = max(apart, refillRest*r.refillTook)
	}
	if r.broken() == "" && len(r.Lost()) == 0 || time.Since(r.refilledAt) < apart {
		return nil
	}
	began := time.Now()
	if err := r.completeRepository(); err != nil {
		return err
	}
	r.store.Hold()
	err := r.mender.takeAll(ctx)
	if err == nil {
		r.refilledAt, r.refillTook = time.Now(), time.Since(began)
		r.work.Lock()
		err = r.takeInRefilled()
		r.work.Unlock()
	}
	if err = errors.Join(err, r.store.Release()); err != nil {
		return fmt.Errorf("cannot bring back what this disk has lost: %w", err)
	}
	return nil
}

// takeInRefilled makes main anew and tells what the remote had besides. The caller
// holds work.
func (r *Record) takeInRefilled() error {
	tip, _ := r.mainTip()
	r.state.mu.Lock()
	lost := r.state.lost.clone()
	r.state.mu.Unlock()
	lacking, err := r.refilled(tip)
	if err != nil {
		return err
	}
	next, ok, err := r.store.Ref(carrier.MainRef)
	if err == nil && !ok {
		next, err = tip, r.moveMain(objects.Zero, tip)
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
	r.state.mu.Lock()
	known := r.state.remoteTree
	r.state.mu.Unlock()
	if err := r.unrecord(tree); err != nil {
		return err
	}
	if err := r.movedFrom(known, next, tree); err != nil {
		return err
	}
	r.tell.arrived(r.returned(lost, tree))
	r.remains = &lacking
	return r.settle()
}

// endLoss says that what the disk had lost is in main again, once the remote's main is
// taken in after everything was fetched anew: not before, because what is missing until
// then may say what agents have done. Messages that are not there stay lost. The caller
// holds share and work.
func (r *Record) endLoss() error {
	if r.remains == nil {
		return nil
	}
	tree := r.mainTree()
	for file := range r.lostAnd(newLosses()).files {
		p, isMessage := messagePath(file)
		if !isMessage || r.isHeld(p) {
			continue
		}
		if _, ok, err := r.store.Lookup(tree, file); err != nil || !ok {
			r.remains.files[file] = true
		}
	}
	if err := r.setLost(*r.remains); err != nil {
		return err
	}
	r.remains = nil
	r.noteBroken("")
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

// unrecord has letters that were in main, and are not in its new tree, committed again.
func (r *Record) unrecord(tree objects.Hash) error {
	r.state.mu.Lock()
	var ids []journal.ID
	var recorded []*heldLetter
	for _, letters := range r.state.held {
		for _, h := range letters {
			if h.recorded {
				recorded = append(recorded, h)
				ids = append(ids, h.id)
			}
		}
	}
	r.state.mu.Unlock()
	entries, err := r.journal.Read(ids...)
	if err != nil {
		return err
	}
	var lost []*heldLetter
	for _, h := range recorded {
		data := entries[h.id].Data
		there, err := r.inTree(tree, &heldLetter{path: h.path, blob: h.blob, data: data})
		if err != nil {
			return err
		}
		if !there {
			lost = append(lost, h)
		}
	}
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	for _, h := range lost {
		h.recorded, h.data = false, entries[h.id].Data
	}
	r.state.pending = append(r.state.pending, lost...)
	slices.SortFunc(r.state.pending, func(a, b *heldLetter) int { return cmp.Compare(a.id, b.id) })
	return nil
}
