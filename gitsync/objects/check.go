package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Damage is something that is wrong with the files of a repository.
type Damage struct {
	File   string // path below the repository
	Object Hash   // Zero if the damage is not in one object
	Text   string
}

// Checked is what a check found to be undamaged.
type Checked struct {
	packs []*pack.Pack // every object in them is what its name says. Their indexes are in memory
	loose map[Hash]bool
}

// Has reports whether an object was read and found to be what its name says. The name of an object
// that is too large to be held is not checked.
func (c *Checked) Has(h Hash) bool {
	for _, p := range c.packs {
		if _, ok, err := p.Find(h); err == nil && ok {
			return true
		}
	}
	return c.loose[h]
}

// Objects returns about how many objects Check reads.
func (s *Store) Objects() int {
	all := 0
	for _, p := range s.packs.all() {
		all += int(p.Count)
	}
	return all
}

// checkStep is how many objects one goroutine reads in one go, in the order of their pack.
const checkStep = 512

// Check reads every pack, index and loose object, and calls found for each damage. It heals
// nothing. All processors read the objects of a pack. So several goroutines call step at the same
// time, each with the number of objects that it has read since its last call.
func (s *Store) Check(ctx context.Context, step func(objects int), found func(Damage)) (*Checked, error) {
	if err := s.packs.rescan(); err != nil {
		return nil, err
	}
	checked := &Checked{loose: map[Hash]bool{}}
	c := checking{dir: s.dir, packs: s.packs, read: s.readOnce, step: step, found: found}
	for _, p := range s.packs.all() {
		clean, err := c.pack(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("cannot check the packs: %w", err)
		}
		if clean != nil {
			checked.packs = append(checked.packs, clean)
		}
	}
	err := s.loose.each(func(h Hash, _ fs.DirEntry) error {
		if _, _, err := s.loose.read(h); err == nil || pack.IsLarge(err) {
			checked.loose[h] = true
		} else if !errors.Is(err, ErrNotFound) {
			name := h.String()
			found(Damage{File: "objects/" + name[:2] + "/" + name[2:], Object: h, Text: "the loose object is damaged"})
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("cannot check the loose objects: %w", err)
	}
	return checked, nil
}

// checking is a check of packs that is under way.
type checking struct {
	dir   string // of the repository
	packs *packSet
	read  pack.ReadFunc // reads the objects of other packs that a pack's deltas need
	step  func(objects int)
	found func(Damage)
}

// pack checks one pack. If the check sum of the pack and all its objects are right, it returns the
// pack with its index in memory. Otherwise it returns nil.
func (c *checking) pack(ctx context.Context, p *pack.Pack) (*pack.Pack, error) {
	if err := pack.CheckIndex(p.Base); errors.Is(err, pack.ErrCorrupt) {
		c.found(Damage{File: below(c.dir, p.Base+".idx"), Text: err.Error()})
	}
	sum, err := pack.WrongSum(p.Base + ".pack")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the pack was replaced meanwhile
	}
	if err != nil {
		return nil, err
	}
	if sum != nil {
		c.found(Damage{File: below(c.dir, p.Base+".pack"), Text: "its check sum is wrong"})
		c.packs.noteDamaged(p)
	}
	inMemory, err := p.InMemory()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	damaged, err := c.objects(ctx, inMemory)
	if err != nil {
		return nil, err
	}
	for _, h := range damaged {
		c.found(Damage{File: below(c.dir, p.Base+".pack"), Object: h, Text: fmt.Sprintf("object %s in it is damaged", h)})
	}
	if sum != nil || len(damaged) > 0 {
		return nil, nil
	}
	return inMemory, nil
}

func (c *checking) objects(ctx context.Context, p *pack.Pack) ([]Hash, error) {
	all, damaged, err := p.InOrder()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // guards damaged and failed
	var failed error
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(all)/checkStep) {
		working.Go(func() {
			bad, err := c.some(ctx, p, all, &next)
			mu.Lock()
			defer mu.Unlock()
			damaged = append(damaged, bad...)
			failed = errors.Join(failed, err)
		})
	}
	working.Wait()
	slices.SortFunc(damaged, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return damaged, failed
}

// some takes objects from all, checkStep at a time, and reads them until there are no more. It
// returns the damaged ones.
func (c *checking) some(ctx context.Context, p *pack.Pack, all []pack.Located, next *atomic.Int64) (damaged []Hash, err error) {
	f, err := os.Open(p.Base + ".pack")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the pack was replaced meanwhile
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot open a pack: %w", err)
	}
	r := pack.Reader{
		In: f, End: info.Size() - pack.HashBytes, Find: p.Find, Other: c.read,
		Inflater: pack.NewInflater(), Bases: pack.NewBases(),
	}
	for {
		from := int(next.Add(checkStep)) - checkStep
		if from >= len(all) {
			return damaged, nil
		}
		some := all[from:min(from+checkStep, len(all))]
		for _, l := range some {
			typ, data, err := r.Object(l.Offset)
			switch {
			case err == nil && hashOf(typ, data) == l.Hash:
				if typ == plumbing.TreeObject {
					r.Bases.Put(l.Offset, typ, data)
				}
			case !pack.IsLarge(err):
				damaged = append(damaged, l.Hash)
			}
		}
		if c.step(len(some)); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}
