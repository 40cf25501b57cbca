package objects

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Hash names an object.
type Hash = plumbing.Hash

// Zero is the hash that names nothing.
var Zero = plumbing.ZeroHash

func hashOf(typ plumbing.ObjectType, data []byte) Hash {
	sum := sha1.New()
	sum.Write(append(strconv.AppendInt(append(typ.Bytes(), ' '), int64(len(data)), 10), 0))
	sum.Write(data)
	return Hash(sum.Sum(nil))
}

// ErrNotFound says that an object or ref is not in the repository.
var ErrNotFound = errors.New("not in the repository")

// LargeError says that an object is too large to be held in memory.
type LargeError = pack.LargeError

// IsDamage reports whether an error says that a repository lacks an object or holds a
// damaged one.
func IsDamage(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, pack.ErrCorrupt) }

// Store is one bare repository. Its own methods read objects: they look in all packs and among the
// loose objects, and have damaged objects brought back. The parts of a Store know nothing of it.
type Store struct {
	*Refs
	*Writer
	*Trees

	dir   string
	log   zerolog.Logger
	packs *packSet
	loose *looseObjects
	joins *joins

	heal func(Hash) error // see HealBy
}

// Open reads the list of packs of the bare repository at dir.
func Open(dir string, log zerolog.Logger) (*Store, error) {
	objects := filepath.Join(dir, "objects")
	folder := packFolder(filepath.Join(objects, "pack"))
	s := &Store{
		Refs: &Refs{dir: dir, log: log}, dir: dir, log: log,
		packs: newPackSet(folder, log), loose: &looseObjects{dir: objects},
	}
	s.Trees = &Trees{cache: newTreeCache(treeCacheBytes), read: func(h Hash) ([]byte, error) { return s.typed(h, plumbing.TreeObject) }}
	s.Writer = &Writer{folder: folder, packs: s.packs, kept: map[string]bool{}}
	s.joins = &joins{packs: s.Writer, loose: s.loose, trees: s.Trees.cache, log: log}
	if err := s.packs.rescan(); err != nil {
		return nil, err
	}
	return s, nil
}

// Logger returns the store's logger, for another store that is opened beside it.
func (s *Store) Logger() zerolog.Logger { return s.log }

// Dir returns the folder of the repository.
func (s *Store) Dir() string { return s.dir }

// HealBy sets the function that brings a damaged object back. heal calls PutLoose, and then the
// object is read once more. Call HealBy before anybody else uses the store.
func (s *Store) HealBy(heal func(Hash) error) { s.heal = heal }

// Read returns the type and content of an object. They are what its name says: it never returns a
// damaged object. The content must not be changed.
func (s *Store) Read(h Hash) (plumbing.ObjectType, []byte, error) {
	return s.read(h, pack.MaxObject, false)
}

// read reads an object. needed says that the repository must have the object, because of what was
// read before. The absence of such an object is damage.
func (s *Store) read(h Hash, most int64, needed bool) (plumbing.ObjectType, []byte, error) {
	typ, data, err := s.readOnceUpTo(h, most)
	if err == nil {
		return typ, data, nil
	}
	if pack.IsLarge(err) {
		return 0, nil, fmt.Errorf("cannot read object %s: %w", h, err)
	}
	// A gc, a repack or a push may have moved the object meanwhile.
	if scanErr := s.packs.rescan(); scanErr != nil {
		return 0, nil, scanErr
	}
	typ, data, err = s.readOnceUpTo(h, most)
	if s.heal != nil && (errors.Is(err, pack.ErrCorrupt) || needed && errors.Is(err, ErrNotFound)) {
		if healErr := s.heal(h); healErr != nil {
			return 0, nil, fmt.Errorf("cannot read object %s: %w; %w", h, err, healErr)
		}
		typ, data, err = s.readOnceUpTo(h, most)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read object %s: %w", h, err)
	}
	return typ, data, nil
}

// Restore makes sure that an object can be read. It is for an object that this repository must
// have. One that is too large to be read counts as readable.
func (s *Store) Restore(h Hash) error {
	_, _, err := s.read(h, pack.MaxObject, true)
	if pack.IsLarge(err) {
		return nil
	}
	return err
}

// Blob returns the content of a blob. The error is a *LargeError if the blob is too large.
func (s *Store) Blob(h Hash) ([]byte, error) { return s.BlobUpTo(h, pack.MaxObject) }

// BlobUpTo is Blob for a blob with at most so many bytes. A larger one is not held, and not read to
// its end: the error is a *LargeError.
func (s *Store) BlobUpTo(h Hash, most int64) ([]byte, error) {
	return s.typedUpTo(h, plumbing.BlobObject, most)
}

// typed reads an object of the type want. A caller may ask for a commit that this repository never
// had. Trees and blobs are known from objects that name them, so the repository must have them.
func (s *Store) typed(h Hash, want plumbing.ObjectType) ([]byte, error) {
	return s.typedUpTo(h, want, pack.MaxObject)
}

func (s *Store) typedUpTo(h Hash, want plumbing.ObjectType, most int64) ([]byte, error) {
	typ, data, err := s.read(h, most, want != plumbing.CommitObject && h != emptyTree)
	if err != nil {
		return nil, err
	}
	if typ != want {
		return nil, fmt.Errorf("object %s is a %s, not a %s", h, typ, want)
	}
	return data, nil
}

func (s *Store) readOnce(h Hash) (plumbing.ObjectType, []byte, error) {
	return s.readOnceUpTo(h, pack.MaxObject)
}

func (s *Store) readOnceUpTo(h Hash, most int64) (plumbing.ObjectType, []byte, error) {
	typ, data, broken := s.packs.read(h, most, s.readOnce)
	if broken == nil || pack.IsLarge(broken) {
		return typ, data, broken
	}
	typ, data, err := s.loose.readUpTo(h, most)
	if errors.Is(err, ErrNotFound) {
		return 0, nil, broken
	}
	return typ, data, err
}

// PutLoose makes an object durable as a file of its own, in place of a damaged one.
func (s *Store) PutLoose(typ plumbing.ObjectType, data []byte) error { return s.loose.put(typ, data) }

// Rescan makes packs known that another program has installed.
func (s *Store) Rescan() error { return s.packs.rescan() }

// Packs returns how many packs are known.
func (s *Store) Packs() int { return len(s.packs.all()) }

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
