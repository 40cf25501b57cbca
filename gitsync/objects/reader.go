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

// BlobUpTo returns the content of a blob, as Store.BlobUpTo does.
func (r *Reader) BlobUpTo(h Hash, most int64) ([]byte, error) {
	for _, p := range r.store.packs.all() {
		offset, ok, err := p.Find(h)
		if err != nil || !ok {
			continue
		}
		typ, data, err := r.object(p, offset, most)
		if pack.IsLarge(err) {
			return nil, err
		}
		if err == nil && typ == plumbing.BlobObject && hashOf(typ, data) == h {
			return data, nil
		}
		break
	}
	return r.store.BlobUpTo(h, most) // this looks everywhere, and brings a damaged blob back
}

func (r *Reader) object(p *pack.Pack, offset, most int64) (plumbing.ObjectType, []byte, error) {
	f := r.files[p]
	if f == nil {
		var err error
		if f, err = os.Open(p.Base + ".pack"); err != nil {
			return 0, nil, err
		}
		r.files[p] = f
	}
	in := pack.Reader{In: f, End: p.Size() - pack.HashBytes, Find: p.Find, Other: r.store.readOnce, Inflater: r.inflater, Most: most}
	return in.Object(offset)
}
