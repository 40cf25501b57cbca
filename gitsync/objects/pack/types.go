package pack

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// OfType calls visit with each object of a pack that has the type typ. It leaves out objects for
// which the heads of entries cannot be read.
func (p *Pack) OfType(typ plumbing.ObjectType, visit func(Hash)) error {
	f, err := os.Open(p.Base + ".pack")
	if err != nil {
		return fmt.Errorf("cannot open a pack: %w", err)
	}
	defer func() { _ = f.Close() }()
	var names []Hash
	if err := p.Names(func(h Hash) { names = append(names, h) }); err != nil {
		return err
	}
	for _, h := range names {
		offset, ok, err := p.Find(h)
		if err == nil && ok && p.typeAt(f, offset) == typ {
			visit(h)
		}
	}
	return nil
}

// typeAt returns the type of the object at offset. It reads only the head of the entry and, for a
// delta, the heads of the entries of its bases.
func (p *Pack) typeAt(f io.ReaderAt, offset int64) plumbing.ObjectType {
	for range maxDeltaDepth {
		head := make([]byte, 48)
		n, _ := f.ReadAt(head, offset) // reads less if the pack ends before, or is cut short
		in := bytes.NewReader(head[:n])
		typ, _, err := ReadHeader(in)
		if err != nil {
			return plumbing.InvalidObject
		}
		switch typ {
		case plumbing.OFSDeltaObject:
			back, err := ReadBack(in)
			if err != nil || back <= 0 || back >= offset {
				return plumbing.InvalidObject
			}
			offset -= back
		case plumbing.REFDeltaObject:
			var base Hash
			_, err := io.ReadFull(in, base[:])
			at, ok, findErr := p.Find(base)
			if err != nil || findErr != nil || !ok {
				return plumbing.InvalidObject
			}
			offset = at
		default:
			return typ
		}
	}
	return plumbing.InvalidObject
}
