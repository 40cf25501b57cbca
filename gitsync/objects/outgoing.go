package objects

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Outgoing is a pack on its way to another repository. It is read once and must
// be closed.
type Outgoing struct {
	file *os.File // the entries
	all  io.Reader
	sum  hash.Hash
}

// MissingPack returns what Missing collects, as one pack. The pack lies in a temporary file, so
// that it may be larger than the memory. check is called after each part, and its error ends
// MissingPack.
func (s *Store) MissingPack(tip, have Hash, check func() error) (*Outgoing, error) {
	f, err := os.CreateTemp(string(s.folder), tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot write a pack: %w", err)
	}
	o := &Outgoing{file: f, sum: sha1.New()}
	count, err := o.collect(s, tip, have, check)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write a pack: %w", err), o.Close())
	}
	o.all = io.MultiReader(io.TeeReader(io.MultiReader(bytes.NewReader(pack.Header(count)), f), o.sum), &trailer{sum: o.sum})
	return o, nil
}

// collect writes the entries and counts them. Each delta gives the name of its base: every git
// takes such deltas, whatever it announces.
func (o *Outgoing) collect(s *Store, tip, have Hash, check func() error) (count int, err error) {
	depths := map[Hash]int{} // how many deltas each written object is made of
	w := pack.NewWriter(nil)
	err = s.Missing(tip, have, func(b *Builder) error {
		for _, object := range b.objects {
			if _, written := depths[object.hash]; written {
				continue
			}
			w.Reset()
			depth, ok := depths[object.base]
			if ok && object.delta != nil && depth < deltaDepth {
				depths[object.hash] = depth + 1
				err = w.NamedDelta(object.base, object.delta)
			} else {
				depths[object.hash] = 0
				err = w.Whole(object.typ, object.data)
			}
			if err != nil {
				return err
			}
			if _, err := o.file.Write(w.Bytes()); err != nil {
				return err
			}
		}
		return check()
	})
	return len(depths), err
}

// Read implements io.Reader.
func (o *Outgoing) Read(p []byte) (int, error) { return o.all.Read(p) }

// Close removes the temporary file.
func (o *Outgoing) Close() error {
	return errors.Join(o.file.Close(), removeFile(o.file.Name()))
}

// trailer reads as the check sum of what was read before it.
type trailer struct {
	sum  hash.Hash
	rest *bytes.Reader // nil before the first Read
}

func (t *trailer) Read(p []byte) (int, error) {
	if t.rest == nil {
		t.rest = bytes.NewReader(t.sum.Sum(nil))
	}
	return t.rest.Read(p)
}
