package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// InstallPack takes in a whole pack from elsewhere. It reads the pack to its end, checks it, writes
// its index and makes both durable. Only after that may a ref name the objects of the pack. A pack
// without objects is taken in like any other. No gc removes the pack before Release.
func (w *Writer) InstallPack(in io.Reader) error {
	r, err := w.folder.receive(in)
	if err != nil {
		return fmt.Errorf("cannot take in a pack: %w", err)
	}
	defer r.discard()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.takePack(r)
}

// installMade is InstallPack for a pack that was made here, with its index. It is not read again, which
// would take many times its memory.
func (w *Writer) installMade(data, idx []byte) error {
	temp, err := w.folder.receivePack(bytes.NewReader(data))
	r := receivedPack{temp: temp, idx: idx}
	defer r.discard()
	if err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.takePack(r)
}

// takePack gives a pack its place. The caller holds mu.
func (w *Writer) takePack(r receivedPack) error {
	base := filepath.Join(string(w.folder), "pack-"+pack.NameOf(r.idx).String())
	if err := writeAtomically(base+".keep", []byte(keepText)); err != nil {
		return err
	}
	w.received = append(w.received, base)
	w.kept[base] = true
	failpoint.Hit(failpoint.PackReceived)
	if err := os.Rename(r.temp, base+".pack"); err != nil {
		return fmt.Errorf("cannot take in a pack: %w", err)
	}
	failpoint.Hit(failpoint.PackTaken)
	if err := writeAtomically(base+".idx", r.idx); err != nil {
		return err
	}
	if err := durable.Folder(string(w.folder)); err != nil {
		return err
	}
	return w.packs.rescan()
}

// Hold keeps all that is installed from the operator's gc until Release, however long it takes
// until a ref names it. Each Hold needs its Release.
func (w *Writer) Hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding++
}

// Release gives the packs that Hold kept, and the packs that InstallPack brought, to the operator's
// gc. Call it once a ref names their objects, or once it is clear that none will.
func (w *Writer) Release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding = max(0, w.holding-1); w.holding > 0 {
		return nil
	}
	for len(w.received) > 0 {
		if err := w.unkeep(w.received[0]); err != nil {
			return err
		}
		w.received = w.received[1:]
	}
	return nil
}

// TakePacks moves all packs of another repository into this one. The other repository is on the
// same disk, and nobody uses it. If a pack of the same name is here, the other one takes its place.
// It has the same content, and the one that is here may be damaged.
func (w *Writer) TakePacks(other *Store) error {
	if err := errors.Join(other.Seal(), other.packs.rescan()); err != nil {
		return fmt.Errorf("cannot take over packs: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range other.packs.all() {
		base := filepath.Join(string(w.folder), filepath.Base(p.Base))
		if err := writeAtomically(base+".keep", []byte(keepText)); err != nil {
			return fmt.Errorf("cannot take over a pack: %w", err)
		}
		w.received = append(w.received, base)
		w.kept[base] = true
		for _, ending := range []string{".pack", ".idx"} {
			if err := os.Rename(p.Base+ending, base+ending); err != nil {
				return fmt.Errorf("cannot take over a pack: %w", err)
			}
		}
	}
	if err := durable.Folder(string(w.folder)); err != nil {
		return fmt.Errorf("cannot take over packs: %w", err)
	}
	return w.packs.rescan()
}

// SealedPacks returns the names and sizes of the packs that stay as they are. These are all but the
// rolling pack, the packs that are about to be removed and the damaged ones.
func (w *Writer) SealedPacks() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	passing := w.passing()
	all := map[string]int64{}
	for _, p := range w.packs.all() {
		if !passing[p.Base] && !w.packs.isDamaged(p.Base) {
			all[filepath.Base(p.Base)] = p.Size()
		}
	}
	return all
}
