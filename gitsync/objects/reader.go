package objects

import (
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Reader reads many objects. It leaves packs open, so it is faster than Store.Read for each object.
// One goroutine uses it, and closes it.
type Reader struct {
	store    *Store
	inflater *pack.Inflater
	files    map[*pack.Pack]*os.File
}

// Reader returns a Reader, with which many objects are read.
func (s *Store) Reader() *Reader {
	return &Reader{store: s, inflater: pack.NewInflater(), files: map[*pack.Pack]*os.File{}}
}

// Close closes the packs.
func (r *Reader) Close() {
	for _, f := range r.files {
		_ = f.Close()
	}
	clear(r.files)
}

// Blob returns the content of a blob, as Store.Blob does.
func (r *Reader) Blob(h Hash) ([]byte, error) {
	for _, p := range r.store.packs.all() {
		offset, ok, err := p.Find(h)
		if err != nil || !ok {
			continue
		}
		typ, data, err := r.object(p, offset)
		if err == nil && typ == plumbing.BlobObject && hashOf(typ, data) == h {
			return data, nil
		}
		break
	}
	return r.store.Blob(h) // this looks everywhere, and brings a damaged blob back
}

func (r *Reader) object(p *pack.Pack, offset int64) (plumbing.ObjectType, []byte, error) {
	f := r.files[p]
	if f == nil {
		var err error
		if f, err = os.Open(p.Base + ".pack"); err != nil {
			return 0, nil, err
		}
		r.files[p] = f
	}
	in := pack.Reader{In: f, End: p.Size() - pack.HashBytes, Find: p.Find, Other: r.store.readOnce, Inflater: r.inflater}
	return in.Object(offset)
}
